// SPDX-License-Identifier: Apache-2.0
#include "plant/actuation.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"

namespace pitwall::plant {
namespace {

constexpr double kBangBangDeadZone_rad = 1e-4;
constexpr double kStallOverLimit = 4.0;  // a stalled motor would give four times what the controller's current limit lets through

}  // namespace

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

double SteeringServo::rate(double target_rad, double angle_rad) const {
  const double error = target_rad - angle_rad;
  if (kind == Servo::kBangBang) {
    if (std::abs(error) <= kBangBangDeadZone_rad) return 0.0;
    return error > 0.0 ? rate_max_radps : -rate_max_radps;
  }
  const double beyond = std::abs(error) - dead_band_rad;
  if (beyond <= 0.0) return 0.0;
  return std::copysign(std::min(servo_gain_per_s * beyond, rate_max_radps), error);
}

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

SpeedLoop::Demand SpeedLoop::demand(double target, double speed, double body_speed, double integral) const {
  const double error = target - body_speed;
  // Accelerating means |v| grows: from rest in either direction, and in reverse as forwards.
  const bool accelerating = body_speed == 0.0 || (error > 0.0) == (body_speed > 0.0);
  const double wanted = (accelerating ? accel_gain_per_s : brake_gain_per_s) * error + integral;
  const double fast = std::abs(speed);
  double drive = drive_max_mps2;
  if (drive * fast > power_per_mass) drive = power_per_mass / fast;
  drive = std::clamp(kStallOverLimit * drive_max_mps2 * (1.0 - fast / free_speed_mps), 0.0, drive);
  if (speed > stock_switch_mps) drive = std::min(drive, drive_max_mps2 * stock_switch_mps / speed);
  // From rest both ways drive.
  const double up = body_speed >= 0.0 ? drive : brake_max_mps2;
  const double down = body_speed <= 0.0 ? drive : brake_max_mps2;
  const double given = std::clamp(wanted, -down, up);
  const bool limited = given != wanted && (wanted > 0.0) == (error > 0.0);
  return {given, limited ? 0.0 : integral_gain_per_s2 * error};
}

}  // namespace pitwall::plant
