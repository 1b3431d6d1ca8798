// SPDX-License-Identifier: Apache-2.0
// Where the car will be when a command given now reaches its wheels: the commands that are still on their way have decided it.
#pragma once

#include "controllers/lateral_model.hpp"
#include "controllers/steering_law.hpp"

namespace pitwall::controllers {

/// The car a little later.
struct Predicted {
  Pose2 T_map_base;
  double wheel_rad = 0.0;
  double yaw_rate_radps = 0.0;
};

/// The state of `in` brought forward by `ahead_s` at its speed: each queued command reaches the first-order servo at its time, and
/// the car turns as in a steady turn (understeer, no transient slip).
Predicted predict(const LawInput& in, const CarParameters& car, double ahead_s);

/// From a command given now to the servo having mostly followed it, s: what a law that predicts looks ahead.
inline double actuation_s(const CarParameters& car) { return steering_delay_s(car, 0.0); }

/// The car against the line, then.
struct RolledOn {
  double s_m = 0.0;          ///< along the line
  double lateral_m = 0.0;    ///< of base_link, positive to the left of the line (as it is shifted)
  double heading_rad = 0.0;  ///< of the car against the line
  double speed_mps = 0.0;    ///< as much over the line's speed as now
  double wheel_rad = 0.0;
};

/// The state of `in` brought forward by the transport delay of commands through those that are under way, by the nonlinear single track
/// with slip. `side` is its sideways motion now, and then.
RolledOn roll_on(const LawInput& in, const LawSetup& setup, LateralKind kind, SideMotion& side);

/// Curvature of the line at s_m, shifted if it is.
inline double curvature_at(const LawLine& line, const LineShift& shift, double s_m) {
  return shift.none() ? line.curvature_at(s_m) : line.at(s_m, shift).curvature_per_m;
}

}  // namespace pitwall::controllers
