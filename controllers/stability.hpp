// SPDX-License-Identifier: Apache-2.0
// How much delay a steering law bears: its sampled loop with the linear model of the car (lateral_model.hpp) on a straight, cut
// open at the command. Where the loop's gain is one, at the frequency w, the phase that is left over -180 degrees bears a
// further delay of phase / w; the least of all such frequencies is what the loop bears.
#pragma once

#include <span>

#include "core/car.hpp"

namespace pitwall::controllers {

/// What a law does about small errors, per tick: command = -(gains . errors) - sum of sent[i] u_{k-1-i}.
struct FeedbackGains {
  double lateral = 0.0;               ///< rad/m, of base_link beside the line; a law on the front axle: d_f = d + L e
  double heading = 0.0;               ///< rad/rad
  double yaw_rate = 0.0;              ///< rad/(rad/s)
  double lateral_velocity = 0.0;      ///< rad/(m/s), of the centre of gravity
  double wheel = 0.0;                 ///< rad/rad, of the believed wheel angle
  std::span<const double> sent = {};  ///< rad/rad, of the commands given 1, 2, ... periods ago
};

/// The longest total delay in s (transport, servo lag, half a period: what steering_delay_s() adds up) at which the loop at this
/// speed (at least 0.5 m/s) is stable, the law as it is; over the car's own total delay it is the stability margin. 0 where the
/// loop is unstable whatever the transport delay.
///
/// `predicted_s` > 0: the law acts on the state that it predicts, by the same model, so far ahead from the commands under way.
/// It is then the car's own delay that is compensated, and more of it is an error of the prediction. The same goes for a law that
/// uses what it believes or what it sent: its margin counts from the car's own delay on, and is 0 if it is unstable with that.
double delay_margin_s(const FeedbackGains& gains, const CarParameters& car, double speed_mps, double control_period_s,
                      double predicted_s = 0.0);

}  // namespace pitwall::controllers
