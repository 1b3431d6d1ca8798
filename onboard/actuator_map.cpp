// SPDX-License-Identifier: Apache-2.0
#include "onboard/actuator_map.hpp"

#include <algorithm>
#include <cmath>

namespace pitwall::onboard {

double ActuatorMap::erpm_of(double speed_mps) const {
  return std::clamp(h_.speed_to_erpm_gain * speed_mps + h_.speed_to_erpm_offset, -h_.erpm_max, h_.erpm_max);
}

double ActuatorMap::servo_of(double steering_rad) const {
  return std::clamp(h_.servo_gain_per_rad * steering_rad + h_.servo_offset, h_.servo_min, h_.servo_max);
}

double ActuatorMap::speed_max_mps() const { return std::min(std::abs(speed_of(h_.erpm_max)), std::abs(speed_of(-h_.erpm_max))); }

double ActuatorMap::left_rad() const { return std::max(h_.steering_of_servo(h_.servo_min), h_.steering_of_servo(h_.servo_max)); }

double ActuatorMap::right_rad() const { return std::min(h_.steering_of_servo(h_.servo_min), h_.steering_of_servo(h_.servo_max)); }

}  // namespace pitwall::onboard
