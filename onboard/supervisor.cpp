// SPDX-License-Identifier: Apache-2.0
#include "onboard/supervisor.hpp"

#include <algorithm>
#include <cmath>

namespace pitwall::onboard {
namespace {

constexpr std::array<std::string_view, 5> kMotorNames{"nothing", "speed", "brake", "hold", "release"};
constexpr Duration kFutureTolerance = from_milliseconds(20);
constexpr Duration kEstopSilence = from_milliseconds(250);
constexpr Duration kIdlePeriod = from_milliseconds(100);
// Since arming, until the firmware must have taken notice of our commands.
constexpr Duration kFirmwareWakes = from_milliseconds(300);
constexpr Duration kSentSlot = from_milliseconds(100);
constexpr double kStopCommandMps = 0.01;
constexpr double kLongestSlewStep_s = 0.1;
// Where a motor has no sensor its temperature reads anything.
constexpr double kColdestMotor_degc = 0.0;
constexpr double kHottestMotor_degc = 150.0;

bool fresh(Time now, Time stamp, double deadline_s) { return now - stamp <= from_seconds(deadline_s) && stamp - now <= kFutureTolerance; }
bool fresh(Time now, const std::optional<Time>& stamp, double deadline_s) { return stamp && fresh(now, *stamp, deadline_s); }

// Whether something has held for so long, `since` being when it began to.
bool lasts(Time now, bool holds, std::optional<Time>& since, double longest_s) {
  if (!holds) since.reset();
  if (holds && !since) since = now;
  return since && now - *since >= from_seconds(longest_s);
}

bool has_sensor(double motor_degc) { return motor_degc >= kColdestMotor_degc && motor_degc <= kHottestMotor_degc; }

}  // namespace

std::string_view name(Motor motor) { return kMotorNames[static_cast<std::size_t>(motor)]; }

bool Supervisor::telemetry_fresh(const Facts& f) const {
  return f.motor_present && f.telemetry && fresh(f.now, f.telemetry->arrival, parameters_.input_deadline_s);
}

bool Supervisor::stands(const Facts& f) const { return telemetry_fresh(f) && std::abs(speed_mps_) < parameters_.standing_mps; }

void Supervisor::go(State to, Cause cause, Output& out) {
  out.transition = Transition{*last_tick_, state_, to, cause};
  state_ = to;
  cause_ = cause;
  standing_since_.reset();
  idled_at_.reset();
  if (to == State::kArmed) {
    armed_at_ = last_tick_;
    commanded_at_.reset();
    sent_speed_mps_ = 0.0;
    brake_a_ = 0.0;
    sent_.fill({});
    mismatch_since_.reset();
    against_since_.reset();
    imu_mismatch_since_.reset();
  } else if (to != State::kDisarmed) {
    released_ = false;
  }
}

void Supervisor::look(const Facts& f, Output& out) {
  dt_s_ = last_tick_ ? (f.now - *last_tick_).seconds() : 0.0;
  last_tick_ = f.now;
  if (f.telemetry) speed_mps_ = f.telemetry->speed_mps;
  joystick_changed_ = f.joystick_connection != joystick_connection_;
  joystick_connection_ = f.joystick_connection;
  if (!f.joystick_present || joystick_changed_) released_ = false;
  if (f.joystick_present && !joystick_changed_ && !f.deadman) released_ = true;
  if (!f.deadman) refused_ = Cause::kNone;
  if (f.shutdown && !shutdown_since_) shutdown_since_ = f.now;
  if (!stands(f)) standing_since_.reset();
  if (stands(f) && !standing_since_) standing_since_ = f.now;
  watch_battery(f, out);
}

void Supervisor::watch_battery(const Facts& f, Output& out) {
  capped_ = false;
  if (!telemetry_fresh(f)) return;
  const SupervisorParameters& p = parameters_;
  const Telemetry& t = *f.telemetry;
  if (std::isfinite(t.voltage_v)) {
    const double share = voltage_v_ ? dt_s_ / (p.voltage_filter_s + dt_s_) : 1.0;
    voltage_v_ = voltage_v_.value_or(0.0) + share * (t.voltage_v - voltage_v_.value_or(0.0));
  }
  const auto warn = [&](bool when, Warning warning) {
    if (when) out.warnings |= static_cast<std::uint32_t>(warning);
  };
  const double cell_v = voltage_v_.value_or(0.0) / p.battery_cells;
  const bool hot = t.fet_degc > p.fet_warn_degc || (has_sensor(t.motor_degc) && t.motor_degc > p.motor_warn_degc);
  capped_ = cell_v < p.cell_cap_v || hot;
  warn(cell_v < p.cell_warn_v, Warning::kBatteryLow);
  warn(hot, Warning::kHot);
  warn(capped_, Warning::kSpeedCapped);
  warn(state_ == State::kArmed && !f.joystick_streams, Warning::kPadLossInvisible);
}

Cause Supervisor::unfit(const Facts& f) const {
  const SupervisorParameters& p = parameters_;
  const double cell_v = voltage_v_.value_or(0.0) / p.battery_cells;
  if (cell_v < p.cell_absent_v) return Cause::kBatteryAbsent;
  if (cell_v < p.cell_stop_v) return Cause::kBatteryEmpty;
  const Telemetry& t = *f.telemetry;
  if (t.fet_degc > p.fet_stop_degc || (has_sensor(t.motor_degc) && t.motor_degc > p.motor_stop_degc)) return Cause::kTooHot;
  return Cause::kNone;
}

Cause Supervisor::stale(const Facts& f) const {
  const double deadline_s = parameters_.input_deadline_s;
  if (!telemetry_fresh(f)) return Cause::kTelemetryStale;
  if (!fresh(f.now, f.scan, deadline_s)) return Cause::kScanStale;
  if (!fresh(f.now, f.odometry, deadline_s)) return Cause::kOdometryStale;
  if (f.needs_pose && !fresh(f.now, f.pose, deadline_s)) return Cause::kPoseStale;
  // A controller that runs at each scan gives no command without one: then it is the scan that is late.
  if (!f.command) return Cause::kCommandStale;
  if (!fresh(f.now, f.command->decided, parameters_.command_deadline_s))
    return *f.scan <= f.command->decided ? Cause::kScanStale : Cause::kCommandStale;
  if (!std::isfinite(f.command->speed_mps) || !std::isfinite(f.command->steering_rad)) return Cause::kCommandNotFinite;
  return Cause::kNone;
}

Cause Supervisor::implausible(const Facts& f) {
  const SupervisorParameters& p = parameters_;
  double low = sent_.front().low;
  double high = sent_.front().high;
  for (const SentRange& sent : sent_) {
    low = std::min(low, sent.low);
    high = std::max(high, sent.high);
  }
  const double allowed = p.mismatch_mps + p.mismatch_share * std::max(std::abs(low), std::abs(high));
  const bool mismatch = !(speed_mps_ >= low - allowed && speed_mps_ <= high + allowed);
  const bool against =
      (sent_speed_mps_ > p.sign_mps && speed_mps_ < -p.sign_mps) || (sent_speed_mps_ < -p.sign_mps && speed_mps_ > p.sign_mps);
  if (lasts(f.now, against, against_since_, p.sign_time_s)) return Cause::kSpeedSign;
  if (lasts(f.now, mismatch, mismatch_since_, p.mismatch_time_s)) return Cause::kSpeedMismatch;
  return Cause::kNone;
}

bool Supervisor::disagrees_with_imu(const Facts& f) {
  const SupervisorParameters& p = parameters_;
  const double allowed = p.imu_mismatch_mps + p.imu_mismatch_share * std::abs(speed_mps_);
  const bool differs = f.imu_speed && (speed_mps_ < f.imu_speed->low_mps - allowed || speed_mps_ > f.imu_speed->high_mps + allowed);
  return lasts(f.now, differs, imu_mismatch_since_, p.mismatch_time_s);
}

Cause Supervisor::reason_to_stop(const Facts& f) const {
  const SupervisorParameters& p = parameters_;
  if (f.shutdown) return Cause::kShutdown;
  if (!f.joystick_present || joystick_changed_) return Cause::kJoystickGone;
  if (!f.deadman) return Cause::kDeadmanReleased;
  if (dt_s_ > p.loop_deadline_s) return Cause::kLoopLate;
  const bool moving = std::abs(speed_mps_) > p.moving_mps || std::abs(sent_speed_mps_) > p.moving_mps;
  if (f.joystick_streams && moving && !fresh(f.now, f.joystick_event, p.joystick_silence_s)) return Cause::kJoystickSilent;
  if (const Cause cause = stale(f); cause != Cause::kNone) return cause;
  if (f.telemetry->firmware_timeout && f.telemetry->arrival - *armed_at_ > kFirmwareWakes) return Cause::kFirmwareTimeout;
  return unfit(f);
}

Cause Supervisor::not_ready(const Facts& f) const {
  if (f.shutdown) return Cause::kShutdown;
  if (!f.joystick_present) return Cause::kJoystickGone;
  if (f.needs_estop && (!f.estop_report || f.estop_says != EstopSays::kGo)) return Cause::kEstopLost;
  if (!released_) return Cause::kDeadmanNotSeenReleased;
  if (dt_s_ > parameters_.loop_deadline_s) return Cause::kLoopLate;
  if (const Cause cause = stale(f); cause != Cause::kNone) return cause;
  if (const Cause cause = unfit(f); cause != Cause::kNone) return cause;
  return stands(f) ? Cause::kNone : Cause::kRolling;
}

void Supervisor::try_to_arm(const Facts& f, Output& out) {
  if (!f.deadman) return;
  const Cause cause = not_ready(f);
  if (cause == Cause::kNone) return go(State::kArmed, Cause::kDeadmanPressed, out);
  // The first reason is the one to tell. What becomes ready under a held button must not start the car.
  if (refused_ == Cause::kNone) refused_ = cause;
  released_ = false;
}

void Supervisor::try_to_leave_latch(const Facts& f, Output& out) {
  const bool acknowledged = f.acknowledge && !acknowledge_before_;
  if (!acknowledged || f.deadman) return;
  if (!f.motor_present) return go(State::kNoDevice, Cause::kAcknowledged, out);
  if (stands(f)) go(State::kDisarmed, Cause::kAcknowledged, out);
}

Cause Supervisor::estop(const Facts& f) const {
  if (f.estop) return Cause::kEstopButton;
  if (telemetry_fresh(f) && f.telemetry->kill_switch) return Cause::kKillSwitch;
  if (!f.needs_estop || !f.estop_report) return Cause::kNone;
  if (f.estop_says == EstopSays::kStop) return Cause::kEstopInput;
  return f.estop_says == EstopSays::kLost || f.now - *f.estop_report > kEstopSilence ? Cause::kEstopLost : Cause::kNone;
}

// Emergency stop and faults win over every state, and stay over the loss of the device.
bool Supervisor::latched(const Facts& f, Output& out) {
  if (const Cause cause = estop(f); cause != Cause::kNone) {
    if (state_ != State::kEstop) go(State::kEstop, cause, out);
    return true;
  }
  if (state_ != State::kEstop && telemetry_fresh(f) && f.telemetry->fault_code != 0) {
    if (state_ != State::kFault || cause_ != Cause::kMotorFault) {
      first_fault_ = f.telemetry;
      go(State::kFault, Cause::kMotorFault, out);
    }
    return true;
  }
  if (f.motor_identified && f.motor_identity != motor_identity_) {
    const bool other = motor_identity_ != 0;
    motor_identity_ = f.motor_identity;
    if (other && state_ != State::kEstop && state_ != State::kFault) {
      go(State::kFault, Cause::kOtherMotorController, out);
      return true;
    }
  }
  return false;
}

bool Supervisor::lost_device(const Facts& f, Output& out) {
  const bool replugged = f.motor_connection != motor_connection_;
  motor_connection_ = f.motor_connection;
  if (state_ == State::kFault || state_ == State::kEstop || state_ == State::kNoDevice) return false;
  if (f.motor_present && f.motor_identified && f.motor_supported && !replugged) return false;
  go(State::kNoDevice, replugged ? Cause::kMotorControllerReplugged : Cause::kMotorControllerGone, out);
  return true;
}

void Supervisor::change_state(const Facts& f, Output& out) {
  if (latched(f, out) || lost_device(f, out)) return;
  switch (state_) {
    case State::kNoDevice:
      if (f.motor_present && f.motor_identified && !f.motor_supported) cause_ = Cause::kFirmwareTooOld;
      if (f.motor_present && f.motor_identified && f.motor_supported) go(State::kIdentified, Cause::kFound, out);
      return;
    case State::kIdentified:
      if (!telemetry_fresh(f)) return;
      return stands(f) ? go(State::kDisarmed, Cause::kTelemetryFresh, out) : go(State::kStopping, Cause::kRolling, out);
    case State::kDisarmed:
      if (!telemetry_fresh(f)) return go(State::kIdentified, Cause::kTelemetryStale, out);
      return try_to_arm(f, out);
    case State::kArmed: {
      const Cause cause = reason_to_stop(f);
      if (cause != Cause::kNone) return go(State::kStopping, cause, out);
      if (disagrees_with_imu(f)) return go(State::kStopping, Cause::kImuMismatch, out);
      const Cause doubt = implausible(f);
      if (doubt == Cause::kNone) return;
      first_fault_ = f.telemetry;
      return go(State::kFault, doubt, out);
    }
    case State::kStopping:
      if (standing_since_ && f.now - *standing_since_ >= from_seconds(parameters_.hold_time_s)) go(State::kDisarmed, Cause::kStands, out);
      return;
    case State::kFault:
    case State::kEstop:
      return try_to_leave_latch(f, out);
  }
}

double Supervisor::speed_cap() const {
  double cap = parameters_.speed_max_mps;
  if (bench_) cap = std::min(cap, parameters_.bench_speed_mps);
  if (capped_) cap = std::min(cap, parameters_.capped_speed_mps);
  return cap;
}

void Supervisor::remember_sent(Time now, double low_mps, double high_mps) {
  const std::int64_t slot = now.ns / kSentSlot.ns;
  const auto count = static_cast<std::int64_t>(sent_.size());
  for (std::int64_t k = std::max(sent_slot_ + 1, slot - count + 1); k <= slot; ++k) {
    sent_[static_cast<std::size_t>(k % count)] = {sent_speed_mps_, sent_speed_mps_};
  }
  sent_slot_ = slot;
  SentRange& range = sent_[static_cast<std::size_t>(slot % count)];
  range = {std::min(range.low, low_mps), std::max(range.high, high_mps)};
}

void Supervisor::drive(const Facts& f, Output& out) {
  const MotionCommand& command = *f.command;
  if (command.sequence == used_command_) return;  // nothing is sent twice
  used_command_ = command.sequence;
  const double steering = std::clamp(command.steering_rad, parameters_.steering_right_rad, parameters_.steering_left_rad);
  if (steering != command.steering_rad) out.warnings |= static_cast<std::uint32_t>(Warning::kSteeringClipped);
  out.steering_rad = steering;
  const double cap = speed_cap();
  const double wanted = std::clamp(command.speed_mps, std::max(parameters_.speed_min_mps, -cap), cap);
  if (wanted != command.speed_mps) out.warnings |= static_cast<std::uint32_t>(Warning::kSpeedClamped);
  const double step_s = commanded_at_ ? std::min((f.now - *commanded_at_).seconds(), kLongestSlewStep_s) : 0.0;
  commanded_at_ = f.now;
  const double rise = parameters_.acceleration_max_mps2 * step_s;
  // From what the car does, where that is more: after a brake it goes on from there, not from 0.
  const double highest = std::max({sent_speed_mps_, std::min(speed_mps_, cap), 0.0}) + rise;
  const double lowest = std::min({sent_speed_mps_, std::max(speed_mps_, -cap), 0.0}) - rise;
  const double speed = std::clamp(wanted, lowest, highest);
  if (std::abs(speed) < kStopCommandMps) return brake(f, out);
  brake_a_ = 0.0;
  remember_sent(f.now, speed, speed);
  sent_speed_mps_ = speed;
  out.motor = Motor::kSpeed;
  out.speed_mps = speed;
}

void Supervisor::brake(const Facts& f, Output& out) {
  const SupervisorParameters& p = parameters_;
  remember_sent(f.now, std::min(0.0, speed_mps_), std::max(0.0, speed_mps_));
  sent_speed_mps_ = 0.0;
  if (stands(f)) {
    brake_a_ = 0.0;
    out.motor = Motor::kHold;
    out.current_a = p.hold_current_a;
    return;
  }
  double limit = p.brake_current_a;
  if (telemetry_fresh(f)) {
    const double cell_v = f.telemetry->voltage_v / p.battery_cells;
    const double share = std::clamp((p.cell_over_v - cell_v) / (p.cell_over_v - p.cell_full_v), 0.25, 1.0);
    if (share < 1.0) out.warnings |= static_cast<std::uint32_t>(Warning::kBrakeLimited);
    limit *= share;
  }
  const double rise = p.brake_ramp_aps * (f.now - braked_at_).seconds();
  brake_a_ = std::min(limit, brake_a_ == 0.0 ? 0.5 * p.brake_current_a : brake_a_ + rise);
  braked_at_ = f.now;
  out.motor = Motor::kBrake;
  out.current_a = brake_a_;
}

void Supervisor::idle(const Facts& f, Output& out) {
  brake_a_ = 0.0;
  sent_speed_mps_ = 0.0;
  if (idled_at_ && f.now - *idled_at_ < kIdlePeriod) return;
  idled_at_ = f.now;
  out.motor = Motor::kRelease;
  out.steering_rad = 0.0;
}

// The last frames of a program that ends: centred and released once the car stands or has had its time.
void Supervisor::finish(const Facts& f, Output& out) {
  if (!shutdown_since_) return;
  const bool over = f.now - *shutdown_since_ >= from_seconds(parameters_.shutdown_longest_s);
  if (!stands(f) && !over && f.motor_present) return;
  out.motor = Motor::kRelease;
  out.steering_rad = 0.0;
  out.finished = true;
}

void Supervisor::act(const Facts& f, Output& out) {
  switch (state_) {
    case State::kNoDevice:
    case State::kIdentified:
      break;
    case State::kDisarmed:
      idle(f, out);
      break;
    case State::kArmed:
      drive(f, out);
      break;
    case State::kStopping:
    case State::kFault:
    case State::kEstop:
      brake(f, out);
      break;
  }
  finish(f, out);
}

Output Supervisor::tick(const Facts& facts) {
  Output out;
  look(facts, out);
  change_state(facts, out);
  act(facts, out);
  acknowledge_before_ = facts.acknowledge;
  out.state = state_;
  out.cause = cause_;
  out.refused = refused_;
  return out;
}

}  // namespace pitwall::onboard
