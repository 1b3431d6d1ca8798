// SPDX-License-Identifier: Apache-2.0
#include "drivers/emulators/bench_motor.hpp"

#include <algorithm>
#include <cmath>

namespace pitwall::emulators {
namespace {

// A 1:10 car of 3.7 kg with 4614 ERPM per m/s: 1 A is 0.57 N at the wheels, so 700 ERPM/s.
constexpr double kErpmPerSecondPerA = 700.0;
constexpr double kFriction_erpmps = 1500.0;
constexpr double kSpeedGain_per_s = 10.0;
constexpr double kSpeedLimit_a = 40.0;
constexpr double kErpmPerV = 7000.0;

double towards_zero(double value, double by) { return value > 0.0 ? std::max(0.0, value - by) : std::min(0.0, value + by); }

}  // namespace

MotorState BenchMotor::step(Duration dt, const MotorDemand& demand, double battery_v) {
  const double h = std::clamp(dt.seconds(), 0.0, 1.0);
  const double free_erpm = kErpmPerV * battery_v;
  double current = 0.0;
  double brake = 0.0;
  switch (demand.mode) {
    case MotorMode::kReleased:
    case MotorMode::kPosition:
      break;
    case MotorMode::kCurrent:
      current = demand.value;
      break;
    case MotorMode::kBrake:
    case MotorMode::kHandbrake:
      brake = std::fabs(demand.value);
      break;
    case MotorMode::kSpeed:
      current = kSpeedGain_per_s * (demand.value - state_.erpm) / kErpmPerSecondPerA;
      break;
    case MotorMode::kDuty:
      current = kSpeedGain_per_s * (demand.value * free_erpm - state_.erpm) / kErpmPerSecondPerA;
      break;
  }
  if (demand.mode == MotorMode::kSpeed || demand.mode == MotorMode::kDuty) current = std::clamp(current, -kSpeedLimit_a, kSpeedLimit_a);
  const double direction = state_.erpm > 0.0 ? 1.0 : -1.0;
  const bool turns = state_.erpm != 0.0;
  double erpm = std::clamp(state_.erpm + h * kErpmPerSecondPerA * current, -free_erpm, free_erpm);
  erpm = towards_zero(erpm, h * (kFriction_erpmps * (current == 0.0 ? 1.0 : 0.0) + kErpmPerSecondPerA * brake));
  const double revolutions = 0.5 * (state_.erpm + erpm) * h / 60.0;
  state_.revolutions += revolutions;
  state_.travelled += std::fabs(revolutions);
  state_.erpm = erpm;
  state_.current_a = current - (turns ? direction * brake : 0.0);
  state_.duty = free_erpm > 0.0 ? erpm / free_erpm : 0.0;
  state_.input_a = state_.current_a * state_.duty;
  return state_;
}

}  // namespace pitwall::emulators
