// SPDX-License-Identifier: Apache-2.0
// How much delay the loop of a steering law bears. Near a straight line every law is a feedback of the lateral error d, the
// heading error e and the yaw rate r,
//
//   delta = -(lateral d + heading e + yaw_rate r),
//
// sampled at the control period, held, delayed, and followed by a first-order servo; the car answers as the linear single-track
// model (R. Rajamani, "Vehicle Dynamics and Control", 2nd ed., 2.3), or kinematically where its tyres are not known. The loop is
// stepped in time and the transport delay is lengthened until it no longer settles.
#pragma once

#include "core/car.hpp"

namespace pitwall::controllers {

/// A steering law near a straight line.
struct LinearFeedback {
  double lateral_per_m = 0.0;  ///< rad per m of lateral error of base_link
  double heading = 0.0;        ///< rad per rad of heading error
  double yaw_rate_s = 0.0;     ///< rad per rad/s
  double predicted_s = 0.0;    ///< the law looks at the state this much ahead, as its commands on the way will make it
};

/// The longest delay in s, from command to wheel as steering_delay_s() counts it (transport, servo lag, half a period), with
/// which the loop settles at this speed; at most 2 s. 0 where not even a servo without transport delay does.
double longest_delay_s(const LinearFeedback& law, const CarParameters& car, double speed_mps, double control_period_s);

}  // namespace pitwall::controllers
