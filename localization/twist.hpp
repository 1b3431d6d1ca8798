// SPDX-License-Identifier: Apache-2.0
// Motion at a constant velocity in the plane: the arc that a body drives whose velocity, seen from itself, stays the same
// (exponential and logarithm of SE(2); Lynch and Park, "Modern Robotics", section 3.3).
#pragma once

#include <cmath>

#include "core/geometry.hpp"

namespace pitwall::localization {

/// Velocity of a body in its own axes.
struct Twist {
  double x_mps = 0.0;  ///< forward
  double y_mps = 0.0;  ///< to the left
  double yaw_radps = 0.0;
  friend constexpr bool operator==(Twist, Twist) = default;
};

constexpr Twist operator*(double k, Twist t) { return {k * t.x_mps, k * t.y_mps, k * t.yaw_radps}; }
constexpr Twist operator+(Twist a, Twist b) { return {a.x_mps + b.x_mps, a.y_mps + b.y_mps, a.yaw_radps + b.yaw_radps}; }

inline bool is_finite(Twist t) { return std::isfinite(t.x_mps) && std::isfinite(t.y_mps) && std::isfinite(t.yaw_radps); }

/// T_start_end of `dt_s` seconds of that velocity; yaw wrapped.
Pose2 travelled(Twist velocity, double dt_s);

/// The constant velocity that drives T_start_end in `dt_s` seconds, turning by less than half a turn. dt_s is not 0.
Twist velocity_of(const Pose2& T_start_end, double dt_s);

/// The velocity of a frame b, in its axes, that is fixed to a body at T_ab from the frame a, whose velocity is given.
Twist at_frame(Twist velocity_a, const Pose2& T_ab);

}  // namespace pitwall::localization
