// SPDX-License-Identifier: Apache-2.0
// Where the car will be when a command given now reaches its wheels: the commands that are still on their way have decided it.
#pragma once

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

}  // namespace pitwall::controllers
