// SPDX-License-Identifier: Apache-2.0
// A motor with wheels on a stand: what a motor controller alone on the desk has to turn.
#pragma once

#include "core/time.hpp"

namespace pitwall::emulators {

/// What a motor controller wants of its motor.
enum class MotorMode { kReleased, kCurrent, kBrake, kSpeed, kDuty, kHandbrake, kPosition };
struct MotorDemand {
  MotorMode mode = MotorMode::kReleased;
  double value = 0.0;  ///< A, ERPM, duty or degrees
};

/// What a motor does. Positive ERPM is the direction in which positive current drives.
struct MotorState {
  double erpm = 0.0;
  double revolutions = 0.0;  ///< electrical, since switched on; 6 counts of the tachometer each
  double travelled = 0.0;    ///< the same without direction
  double current_a = 0.0;    ///< of the motor
  double input_a = 0.0;      ///< of the battery; negative: charging
  double duty = 0.0;
};

/// First-order answers: torque of the current against inertia and friction.
class BenchMotor {
 public:
  /// Moves on by `dt` (at most a second) and says how it is; `battery_v` limits its speed.
  MotorState step(Duration dt, const MotorDemand& demand, double battery_v);
  void reset() { state_ = {}; }

 private:
  MotorState state_;
};

}  // namespace pitwall::emulators
