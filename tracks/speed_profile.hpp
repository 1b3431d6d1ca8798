// SPDX-License-Identifier: Apache-2.0
// Speed along a line: the curvature limit, then forward and backward passes inside a friction ellipse (the reference's
// racing_math; spec: v_i <= sqrt(v_{i-1}^2 + 2 a f ds), f = sqrt(1 - (v^2 kappa / a_lat)^2) at the known neighbour).
#pragma once

#include <vector>

#include "core/fields.hpp"
#include "tracks/path.hpp"

namespace pitwall::tracks {

/// What bounds the speed along a line.
struct SpeedLimits {
  double v_max_mps = 4.0;
  double v_min_mps = 0.5;  ///< floor of the profile; never above the curvature limit
  double lateral_mps2 = 2.5;
  double accelerate_mps2 = 3.0;
  double brake_mps2 = 8.0;
  std::int64_t passes = 8;
  bool friction_ellipse = true;
  void fields(FieldVisitor& f);
};

/// Speeds in m/s at the points of `path`. On an open path the last point's speed is 0.
std::vector<double> speed_profile(const Path& path, const SpeedLimits& limits);
/// Time in s along the path: sum of ds over the mean of the two speeds.
double lap_time_s(const Path& path, const std::vector<double>& speed_mps);

}  // namespace pitwall::tracks
