// SPDX-License-Identifier: Apache-2.0
#include "plant/actuation.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"

namespace pitwall::plant {
void DelayLine::push(double value, Time due) {
  PITWALL_CHECK(!full());
  items_[(first_ + size_) % kCommandsUnderWay] = {value, due};
  ++size_;
}

double DelayLine::pop() {
  PITWALL_CHECK(!empty());
  const double value = items_[first_].value;
  first_ = (first_ + 1) % kCommandsUnderWay;
  --size_;
  return value;
}

SteeringServo::SteeringServo(const CarParameters& car, Servo servo)
    : kind(servo),
      gain(car.steering_gain),
      bias_rad(car.steering_bias_rad),
      dead_band_rad(car.steering_deadband_rad),
      right_rad(car.steering_max_right_rad),
      left_rad(car.steering_max_left_rad),
      servo_gain_per_s(car.steering_servo_gain_per_s),
      rate_max_radps(car.steering_rate_max_radps) {}

double SteeringServo::target(double commanded_rad) const { return std::clamp(gain * commanded_rad + bias_rad, right_rad, left_rad); }

double SteeringServo::limited_for_s(double target_rad, double angle_rad) const {
  if (kind == Servo::kBangBang) return 0.0;
  const double beyond = std::abs(target_rad - angle_rad) - dead_band_rad;
  return std::max(0.0, beyond / rate_max_radps - 1.0 / servo_gain_per_s);
}

SpeedLoop::SpeedLoop(const CarParameters& car)
    : accel_gain_per_s(car.speed_loop_accel_gain_per_s),
      brake_gain_per_s(car.speed_loop_brake_gain_per_s),
      integral_gain_per_s2(car.speed_loop_integral_gain_per_s2),
      drive_max_mps2(car.acceleration_max_mps2),
      brake_max_mps2(std::min(car.acceleration_max_mps2, car.braking_max_mps2)),
      power_per_mass(car.drive_power_max_w / car.mass_kg),
      free_speed_mps(car.motor_free_speed_mps) {}

}  // namespace pitwall::plant
