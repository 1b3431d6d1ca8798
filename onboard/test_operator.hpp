// SPDX-License-Identifier: Apache-2.0
// A car as the supervisor's tests see it: everything is well unless a test says otherwise, and the wheels do what they are told.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "onboard/supervisor.hpp"

namespace pitwall::onboard {

struct TestCar {
  static constexpr std::int64_t kTick_ms = 10;

  Supervisor supervisor;
  Facts facts;
  Output out;
  std::vector<Transition> log;
  double speed_mps = 0.0;
  double wanted_mps = 2.0;
  double steering_rad = 0.1;
  // What no longer comes.
  bool no_scan = false;
  bool no_odometry = false;
  bool no_telemetry = false;
  bool no_pose = false;
  bool no_command = false;
  bool no_events = false;
  bool no_estop = false;
  EstopSays estop_says = EstopSays::kGo;
  bool wheels_free = true;  ///< they follow what is sent
  double wheel_gain = 1.0;
  Telemetry telemetry;

  static SupervisorParameters parameters() {
    SupervisorParameters p;
    p.steering_left_rad = 0.31;
    p.steering_right_rad = -0.26;
    return p;
  }
  explicit TestCar(const SupervisorParameters& p = parameters(), bool bench = false) : supervisor(p, bench) {
    telemetry.voltage_v = 11.8;
    telemetry.fet_degc = 40.0;
    telemetry.motor_degc = 40.0;
    facts.now = Time{} + from_milliseconds(1000);
    facts.motor_present = true;
    facts.motor_identified = true;
    facts.motor_connection = 1;
    facts.motor_identity = 7;
    facts.joystick_present = true;
    facts.joystick_connection = 1;
    facts.needs_pose = true;
    facts.joystick_streams = true;
  }

  void advance(std::int64_t ms = kTick_ms) { facts.now = facts.now + from_milliseconds(ms); }
  const Output& tick() {
    if (!no_scan) facts.scan = facts.now;
    if (!no_odometry) facts.odometry = facts.now;
    if (!no_pose) facts.pose = facts.now;
    if (!no_estop) {
      facts.estop_says = estop_says;
      facts.estop_report = facts.now;
    }
    if (!no_events) facts.joystick_event = facts.now;
    if (!no_telemetry) {
      telemetry.arrival = facts.now;
      telemetry.speed_mps = wheel_gain * speed_mps;
      facts.telemetry = telemetry;
    }
    if (!no_command) {
      const std::uint64_t sequence = facts.command ? facts.command->sequence + 1 : 1;
      facts.command = MotionCommand{sequence, facts.now, wanted_mps, steering_rad};
    }
    out = supervisor.tick(facts);
    if (out.transition) log.push_back(*out.transition);
    move();
    return out;
  }
  /// Ticks for that time.
  const Output& run(std::int64_t ms) {
    for (std::int64_t t = 0; t < ms; t += kTick_ms) {
      advance();
      tick();
    }
    return out;
  }
  /// Ticks until the motor gets something else than speed; how long that took.
  std::int64_t ms_to_stop(std::int64_t longest_ms) {
    for (std::int64_t t = kTick_ms; t <= longest_ms; t += kTick_ms) {
      run(kTick_ms);
      if (out.state != State::kArmed) return t;
    }
    return longest_ms + kTick_ms;
  }
  TestCar& disarmed() {
    facts.deadman = false;
    run(100);
    return *this;
  }
  TestCar& armed() {
    disarmed();
    facts.deadman = true;
    run(kTick_ms);
    return *this;
  }
  /// At `wanted_mps`.
  TestCar& driving() {
    armed();
    run(1500);
    return *this;
  }
  [[nodiscard]] bool brakes() const { return out.motor == Motor::kBrake || out.motor == Motor::kHold; }

 private:
  void move() {
    const double dt = 0.001 * kTick_ms;
    if (!wheels_free) return;
    if (out.motor == Motor::kSpeed) speed_mps += std::clamp(out.speed_mps - speed_mps, -5.0 * dt, 5.0 * dt);
    if (out.motor == Motor::kBrake) speed_mps -= std::clamp(speed_mps, -0.16 * out.current_a * dt, 0.16 * out.current_a * dt);
  }
};

}  // namespace pitwall::onboard
