// SPDX-License-Identifier: Apache-2.0
// Sweeping fans of RayCaster against the plain cell walk of bench/reference from each beam's own origin, to the bit.
#pragma once

#include <array>
#include <limits>
#include <vector>

#include "bench/reference/cell_walk.hpp"
#include "core/rng.hpp"
#include "tracks/raycast.hpp"

namespace pitwall {

struct SweepCheck {
  std::size_t beams = 0;
  std::size_t differing = 0;
  tracks::SweepKnot first_knot;  // of the first fan with a difference
  std::size_t first_beam = 0;

  /// Returns how many beams the caster walked.
  std::size_t compare(const tracks::RayCaster& rays, std::span<const tracks::SweepKnot> knots, const tracks::BeamFan& fan,
                      double max_range_m) {
    const tracks::OccupancyMap& map = rays.map();
    const tracks::Sweep sweep(map, fan, knots);
    const auto within = [&](Vec2 p) { return p.x >= 0.0 && p.y >= 0.0 && p.x < map.width() && p.y < map.height(); };
    ranges.resize(fan.directions.size());
    const std::size_t walks = rays.cast_sweep(knots, fan, max_range_m, ranges);
    for (std::size_t b = 0; b < fan.directions.size(); ++b) {
      const Vec2 origin = sweep.origin_cells(b);
      if (!within(origin)) continue;
      ++beams;
      const double walked = map.resolution_m() * bench::cell_walk(map, origin, sweep.direction_cells(b));
      if (ranges[b] == (walked <= max_range_m ? walked : std::numeric_limits<double>::infinity())) continue;
      if (differing++ == 0) {
        first_knot = knots.front();
        first_beam = b;
      }
    }
    return walks;
  }

  std::vector<double> ranges;
};

/// Knots of a sensor that starts at `pose` and moves at a speed along and across its heading while it turns, in as many pieces of a turn of
/// `beams` beams; the first knot lies before the first beam and the last after the last one.
struct MovingSensor {
  Vec2 velocity_mps;  // in its own frame
  double yaw_rate_radps = 0.0;
  double turn_s = 0.01875;
  std::size_t pieces = 4;

  [[nodiscard]] std::vector<tracks::SweepKnot> knots(const Pose2& pose, std::size_t beams) const {
    std::vector<tracks::SweepKnot> all;
    Pose2 at = pose;
    const double dt = turn_s / static_cast<double>(pieces);
    const double first = -0.3;
    const double step = (static_cast<double>(beams) + 0.6) / static_cast<double>(pieces);
    for (std::size_t k = 0; k <= pieces; ++k) {
      all.push_back({first + step * static_cast<double>(k), at});
      const Vec2 moved = at.position() + dt * rotate(at.yaw + 0.5 * dt * yaw_rate_radps, velocity_mps);
      at = {moved.x, moved.y, at.yaw + dt * yaw_rate_radps};
    }
    return all;
  }
};

}  // namespace pitwall
