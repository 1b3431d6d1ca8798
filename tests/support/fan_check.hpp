// SPDX-License-Identifier: Apache-2.0
// Fans of RayCaster against the plain cell walk of bench/reference, beam by beam, to the bit.
#pragma once

#include <limits>
#include <vector>

#include "bench/reference/cell_walk.hpp"
#include "core/rng.hpp"
#include "tracks/raycast.hpp"

namespace pitwall {

struct FanCheck {
  std::size_t beams = 0;
  std::size_t differing = 0;
  Pose2 first_pose;  // where the first difference is
  std::size_t first_beam = 0;

  void compare(const tracks::RayCaster& rays, const Pose2& sensor, const tracks::BeamFan& fan, double max_range_m) {
    const tracks::OccupancyMap& map = rays.map();
    const Vec2 origin = map.to_grid(sensor.position());
    if (!(origin.x >= 0.0 && origin.y >= 0.0 && origin.x < map.width() && origin.y < map.height())) return;
    ranges.resize(fan.directions.size());
    rays.cast_fan(sensor, fan, max_range_m, ranges);
    const Vec2 axis = unit_vector(map.origin().yaw);
    const Vec2 heading = unit_vector(sensor.yaw);
    const double c = axis.x * heading.x + axis.y * heading.y;
    const double s = axis.x * heading.y - axis.y * heading.x;
    for (std::size_t b = 0; b < fan.directions.size(); ++b, ++beams) {
      const Vec2 beam = fan.directions[b];
      const double walked = map.resolution_m() * bench::cell_walk(map, origin, {c * beam.x - s * beam.y, s * beam.x + c * beam.y});
      if (ranges[b] == (walked <= max_range_m ? walked : std::numeric_limits<double>::infinity())) continue;
      if (differing++ == 0) {
        first_pose = sensor;
        first_beam = b;
      }
    }
  }

  std::vector<double> ranges;
};

/// The k-th adversarial pose in a cell: its centre, a place on its left or lower line or on both, or just beside a corner,
/// at a multiple of 45 degrees and at times a hair off it.
inline Pose2 adversarial_pose(const tracks::OccupancyMap& map, int i, int j, const Rng& rng, std::uint64_t k) {
  Vec2 p{static_cast<double>(i), static_cast<double>(j)};
  switch (k % 6) {
    case 0:
    case 1:
      p = p + Vec2{0.5, 0.5};
      break;
    case 2:
      p.x += rng.uniform(k, 10);
      break;
    case 3:
      p.y += rng.uniform(k, 10);
      break;
    case 4:
      break;
    default:
      p = p + Vec2{1e-7, 1.0 - 1e-9};
      break;
  }
  const double nudge = k % 5 == 0 ? 1e-10 : k % 5 == 1 ? -1e-8 : 0.0;
  const Vec2 at = map.to_map(p);
  return {at.x, at.y, map.origin().yaw + std::floor(8.0 * rng.uniform(k, 11)) * math::kPi / 4.0 + nudge};
}

}  // namespace pitwall
