// SPDX-License-Identifier: Apache-2.0
#include "scenarios/line_setup.hpp"

#include <algorithm>
#include <utility>

namespace pitwall::scenarios {

controllers::LineToFollow line_to_follow(std::shared_ptr<const tracks::Path> line, std::vector<double> speed_mps,
                                         std::shared_ptr<const tracks::RayCaster> rays,
                                         std::shared_ptr<const tracks::DistanceField> distance) {
  constexpr double kFarthest_m = 10.0;
  controllers::LineToFollow result;
  for (std::size_t i = 0; i < line->size(); ++i) {
    const Vec2 left = perpendicular(unit_vector(line->heading_at(line->s_of(i))));
    const Vec2 p = line->points()[i];
    result.free_left_m.push_back(std::min(kFarthest_m, rays->cast(p, left, kFarthest_m)));
    result.free_right_m.push_back(std::min(kFarthest_m, rays->cast(p, -left, kFarthest_m)));
  }
  result.path = std::move(line);
  result.speed_mps = std::move(speed_mps);
  result.rays = std::move(rays);
  result.distance = std::move(distance);
  return result;
}

}  // namespace pitwall::scenarios
