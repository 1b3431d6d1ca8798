// SPDX-License-Identifier: Apache-2.0
// Where the front wheels are, by what the servo was told: delay, then the profile's servo. For the yaw rate of cars without a gyro.
#pragma once

#include "plant/actuation.hpp"

namespace pitwall::onboard {

class SteeringModel {
 public:
  explicit SteeringModel(const CarParameters& car)
      : servo_(car, plant::Servo::kFirstOrder), delay_(from_seconds(car.steering_delay_s)), wheelbase_m_(car.wheelbase_m) {}

  /// A position was sent.
  void command(Time now, double steering_rad) {
    if (!under_way_.full()) under_way_.push(servo_.target(steering_rad), now + delay_);
  }
  /// Brings the wheels to `now`.
  void advance(Time now);
  [[nodiscard]] double angle_rad() const { return angle_rad_; }
  /// Of base_link at that speed, no tyre slipping.
  [[nodiscard]] double yaw_rate_radps(double speed_mps) const;

 private:
  plant::SteeringServo servo_;
  plant::DelayLine under_way_;
  Duration delay_;
  double wheelbase_m_;
  double target_rad_ = 0.0;
  double angle_rad_ = 0.0;
  Time last_;
  bool started_ = false;
};

}  // namespace pitwall::onboard
