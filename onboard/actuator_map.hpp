// SPDX-License-Identifier: Apache-2.0
// Between SI units and what goes over the wire to the motor controller: eRPM = gain * speed + offset, servo = gain * steering + offset.
// The wire has one sign: positive eRPM is what a positive command turns. (Hardware::vesc_speed_sign is about recordings of the
// f1tenth ROS driver, which negates what it reads; it has no part here.)
#pragma once

#include "calibration/hardware.hpp"

namespace pitwall::onboard {

class ActuatorMap {
 public:
  explicit ActuatorMap(const calibration::Hardware& hardware) : h_(hardware) {}

  /// Saturated at the car's eRPM.
  [[nodiscard]] double erpm_of(double speed_mps) const;
  [[nodiscard]] double speed_of(double erpm) const { return (erpm - h_.speed_to_erpm_offset) / h_.speed_to_erpm_gain; }
  /// Saturated at the car's servo range.
  [[nodiscard]] double servo_of(double steering_rad) const;
  /// The least of what its eRPM allow forwards and in reverse, m/s.
  [[nodiscard]] double speed_max_mps() const;
  /// What the servo's range reaches. The two differ: the offset is not the middle of the range.
  [[nodiscard]] double left_rad() const;
  [[nodiscard]] double right_rad() const;
  /// Way per count of the tachometer, which counts six per electrical revolution; negative where the gain is.
  [[nodiscard]] double metres_per_count() const { return 10.0 / h_.speed_to_erpm_gain; }

 private:
  calibration::Hardware h_;
};

}  // namespace pitwall::onboard
