// SPDX-License-Identifier: Apache-2.0
// Steady turns of the slip model: what the front wheels must be turned by for a lateral acceleration at a speed. With the axle
// loads at rest and no drive force the balance of forces and moments gives each axle's side force, the inverse tyre law its slip,
// and the slips the angle:
//
//   F_yr = m a lf / L,  F_yf cos d = m a lr / L,   vy = lr r - v tan(alpha_r),   d = atan((vy + lf r) / v) + alpha_f,   r = a / v
#pragma once

#include <optional>

#include "core/steering_table.hpp"
#include "plant/slip_model.hpp"

namespace pitwall::plant {

/// Wheel angle in rad of the steady turn to the left with lateral acceleration v r = `lateral_mps2` >= 0 at speed `speed_mps` > 0
/// along the body; nothing where the tyres do not give it, or it takes more than kSteepest_rad.
std::optional<double> steady_steering_rad(const SlipModel& car, double speed_mps, double lateral_mps2);
inline constexpr double kSteepest_rad = 0.7;

/// The table of the steering law `map`: speeds 0.5, 1, ... up to at least `speed_max_mps`, accelerations up to the grip in 48 steps.
SteeringTable steering_table(const SlipModel& car, double speed_max_mps);

}  // namespace pitwall::plant
