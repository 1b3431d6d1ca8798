// SPDX-License-Identifier: Apache-2.0
#include "tracks/footprint.hpp"

#include <algorithm>
#include <cmath>

namespace pitwall::tracks {
namespace {

// A side slides along the wall while it is swept, so that its points need not be as near to one another.
constexpr double kSweptOutline_m = 0.05;

Pose2 pose_on(const Path& path, double s_m) {
  const Vec2 p = path.point_at(s_m);
  return {p.x, p.y, path.heading_at(s_m)};
}

}  // namespace

double footprint_clearance_m(const BodyRectangle& chassis, const Pose2& T_map_base, const DistanceField& distance_field, double limit_m,
                             double outline_m) {
  const Vec2 middle{0.5 * (chassis.rear_m + chassis.front_m), 0.0};
  const double reach = norm(Vec2{chassis.front_m, chassis.half_width_m} - middle);
  if (distance_field.lower_bound_m(T_map_base * middle, limit_m + reach + 1e-3) - reach >= limit_m) return limit_m;
  const math::SinCos turn = math::sincos(T_map_base.yaw);
  const auto walk = [&](const auto& visit) {
    const Vec2 corners[4] = {{chassis.rear_m, -chassis.half_width_m},
                             {chassis.front_m, -chassis.half_width_m},
                             {chassis.front_m, chassis.half_width_m},
                             {chassis.rear_m, chassis.half_width_m}};
    for (int side = 0; side < 4; ++side) {
      const Vec2 from = corners[side];
      const Vec2 to = corners[(side + 1) % 4];
      const auto pieces = static_cast<int>(std::ceil(distance(from, to) / outline_m));
      for (int k = 0; k < pieces; ++k) {
        const double t = static_cast<double>(k) / pieces;
        const Vec2 p = from + t * (to - from);
        visit(T_map_base.position() + Vec2{turn.cos * p.x - turn.sin * p.y, turn.sin * p.x + turn.cos * p.y});
      }
    }
  };
  double smallest = limit_m;
  walk([&](Vec2 p) { smallest = std::min(smallest, distance_field.clearance_m(p, smallest)); });
  return smallest;
}

SweptClearance swept_clearance(const BodyRectangle& chassis, const Path& path, const DistanceField& distance_field, double limit_m,
                               double step_m) {
  SweptClearance nearest{limit_m, 0.0, pose_on(path, 0.0)};
  const auto steps = static_cast<std::int64_t>(std::ceil(path.length_m() / step_m));
  for (std::int64_t k = 0; k <= steps; ++k) {
    const double s = path.length_m() * static_cast<double>(k) / static_cast<double>(steps);
    const Pose2 pose = pose_on(path, s);
    const double clearance = footprint_clearance_m(chassis, pose, distance_field, nearest.clearance_m, kSweptOutline_m);
    if (clearance < nearest.clearance_m) nearest = {clearance, s, pose};
  }
  return nearest;
}

std::vector<double> clearance_along(const BodyRectangle& chassis, const Path& path, const DistanceField& distance_field, double limit_m) {
  std::vector<double> clearances;
  for (std::size_t i = 0; i < path.size(); ++i)
    clearances.push_back(footprint_clearance_m(chassis, pose_on(path, path.s_of(i)), distance_field, limit_m, 2.0 * kSweptOutline_m));
  return clearances;
}

}  // namespace pitwall::tracks
