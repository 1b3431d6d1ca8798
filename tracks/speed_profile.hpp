// SPDX-License-Identifier: Apache-2.0
// Speed along a line: the curvature limit, then forward and backward passes inside the friction limit (v_i <= sqrt(v_{i-1}^2 +
// 2 a f ds), f what cornering leaves of the grip at the known neighbour, and where asked for at the other end as well). The
// shape of the limit is the exponent p of Heilmeier et al., "Minimum curvature trajectory planning and control for an
// autonomous race car", Vehicle System Dynamics 58 (2020), section 4: f = (1 - u^p)^(1/p), p = 2 a circle, p = 1 a diamond.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "core/fields.hpp"
#include "tracks/path.hpp"

namespace pitwall::tracks {

/// What cornering leaves for braking and driving.
enum class GripShape { kCircle, kDiamond };
inline constexpr std::array<std::string_view, 2> kGripShapes{"circle", "diamond"};

/// What bounds the speed along a line.
struct SpeedLimits {
  double v_max_mps = 4.0;
  double v_min_mps = 0.5;  ///< floor of the profile; never above the curvature limit
  double lateral_mps2 = 2.5;
  double accelerate_mps2 = 3.0;
  double brake_mps2 = 8.0;
  std::int64_t passes = 8;
  bool friction_ellipse = true;
  GripShape grip_shape = GripShape::kCircle;
  /// Grip along the car, where the motor or the brake cannot use all of it; 0: accelerate and brake end the ellipse.
  double longitudinal_grip_mps2 = 0.0;
  double full_drive_to_mps = 100.0;   ///< above it the motor has constant power: accelerate * this / v
  std::int64_t curvature_window = 0;  ///< half width, in points, of the moving average over the curvature
  bool grip_at_both_ends = false;     ///< of each piece of the line, not at its known end alone
  void fields(FieldVisitor& f);
};

/// Speeds in m/s at the points of `path`. On an open path the last point's speed is 0.
std::vector<double> speed_profile(const Path& path, const SpeedLimits& limits);
/// The same with the curvature at each point given (1/m, either sign): that of the planner, where the points are too coarse for it.
std::vector<double> speed_profile(const Path& path, const std::vector<double>& curvature_per_m, const SpeedLimits& limits);
/// Time in s along the path: sum of ds over the mean of the two speeds.
double lap_time_s(const Path& path, const std::vector<double>& speed_mps);

}  // namespace pitwall::tracks
