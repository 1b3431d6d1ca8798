// SPDX-License-Identifier: Apache-2.0
#include "onboard/supervisor.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "onboard/test_operator.hpp"
#include "tests/support/allocation_guard.hpp"

using namespace pitwall;
using namespace pitwall::onboard;

TEST_CASE("from no device to driving and back: every transition with its cause") {
  TestCar car;
  car.facts.motor_present = false;
  car.no_telemetry = true;
  CHECK(car.tick().state == State::kNoDevice);
  CHECK(car.out.motor == Motor::kNothing);
  car.facts.motor_present = true;
  car.facts.motor_identified = false;
  CHECK(car.run(50).state == State::kNoDevice);
  car.facts.motor_identified = true;
  CHECK(car.run(50).state == State::kIdentified);
  CHECK(car.out.motor == Motor::kNothing);
  car.no_telemetry = false;
  CHECK(car.run(10).state == State::kDisarmed);
  CHECK(car.out.motor == Motor::kRelease);
  CHECK(*car.out.steering_rad == 0.0);
  car.facts.deadman = true;
  CHECK(car.run(2000).state == State::kArmed);
  CHECK(car.out.motor == Motor::kSpeed);
  CHECK(car.out.speed_mps == doctest::Approx(2.0));
  CHECK(*car.out.steering_rad == doctest::Approx(0.1));
  car.facts.deadman = false;
  CHECK(car.run(3000).state == State::kDisarmed);
  REQUIRE(car.log.size() == 5);
  const Cause causes[] = {Cause::kFound, Cause::kTelemetryFresh, Cause::kDeadmanPressed, Cause::kDeadmanReleased, Cause::kStands};
  for (std::size_t k = 0; k < 5; ++k) CHECK(car.log[k].cause == causes[k]);
}

TEST_CASE("row 1: a joystick that is gone is a stop in the same tick, a silent one after its deadline only if it streams at rest") {
  TestCar gone;
  gone.driving().facts.joystick_present = false;
  gone.run(10);
  CHECK(gone.out.state == State::kStopping);
  CHECK(gone.out.cause == Cause::kJoystickGone);
  CHECK(gone.out.motor == Motor::kBrake);

  TestCar silent;
  silent.driving().no_events = true;
  CHECK(silent.ms_to_stop(2000) == 760);
  CHECK(silent.out.cause == Cause::kJoystickSilent);

  TestCar quiet_pad;
  quiet_pad.facts.joystick_streams = false;
  quiet_pad.driving().no_events = true;
  CHECK(quiet_pad.run(5000).state == State::kArmed);
  CHECK(quiet_pad.out.warns(Warning::kPadLossInvisible));

  TestCar slow;  // at rest a pad may be silent
  slow.wanted_mps = 0.0;
  slow.driving().no_events = true;
  CHECK(slow.run(5000).state == State::kArmed);
}

TEST_CASE("row 1: a joystick replugged between two ticks is a stop, and must be seen released again") {
  TestCar car;
  car.driving().facts.joystick_connection = 2;
  CHECK(car.run(10).cause == Cause::kJoystickGone);
  CHECK(car.run(3000).state == State::kDisarmed);
  CHECK(car.out.refused == Cause::kDeadmanNotSeenReleased);
}

TEST_CASE("rows 2 and 3: losing the operator is a stop whatever still commands, by level and not by edge") {
  TestCar car;
  car.driving().facts.deadman = false;
  car.run(10);
  CHECK(car.out.cause == Cause::kDeadmanReleased);
  int frames = 0;
  while (car.out.state == State::kStopping && frames < 1000) {
    CHECK(car.brakes());  // repeated, in every tick
    car.run(10);
    ++frames;
  }
  CHECK(frames > 50);
  CHECK(car.out.state == State::kDisarmed);
  for (int k = 0; k < 100; ++k) CHECK(car.run(10).motor != Motor::kSpeed);
}

TEST_CASE("rows 4 and 5: a command is sent once, and a controller that hangs is a stop after 0.15 s") {
  TestCar car;
  car.driving().no_command = true;
  std::int64_t ms = 0;
  while (car.out.state == State::kArmed) {
    car.run(10);
    ms += 10;
    CHECK(car.out.motor != Motor::kSpeed);
  }
  CHECK(ms == 160);
  CHECK(car.out.cause == Cause::kCommandStale);
}

TEST_CASE("row 5: a loop that was held up stops before it sends anything else") {
  TestCar car;
  car.driving();
  car.advance(400);
  car.tick();
  CHECK(car.out.cause == Cause::kLoopLate);
  CHECK(car.brakes());
}

TEST_CASE("row 6: the firmware's own timeout while commands go out is a stop") {
  TestCar car;
  car.telemetry.firmware_timeout = true;  // as it is after a while at rest
  CHECK(car.armed().run(200).state == State::kArmed);
  car.telemetry.firmware_timeout = false;
  CHECK(car.run(500).state == State::kArmed);
  car.telemetry.firmware_timeout = true;
  CHECK(car.run(10).cause == Cause::kFirmwareTimeout);
}

TEST_CASE("row 7: asked to end it brakes until it stands, then centres and releases; at most 1 s") {
  TestCar car;
  car.driving().facts.shutdown = true;
  car.run(10);
  CHECK(car.out.cause == Cause::kShutdown);
  CHECK(car.out.motor == Motor::kBrake);
  CHECK_FALSE(car.out.finished);
  while (!car.out.finished) car.run(10);
  CHECK(std::abs(car.speed_mps) < 0.2);
  CHECK(car.out.motor == Motor::kRelease);
  CHECK(*car.out.steering_rad == 0.0);

  TestCar sliding;
  sliding.driving().wheels_free = false;
  sliding.facts.shutdown = true;
  CHECK_FALSE(sliding.run(990).finished);
  CHECK(sliding.run(20).finished);

  TestCar idle;
  idle.disarmed().facts.shutdown = true;
  CHECK(idle.run(10).finished);

  TestCar nothing;
  nothing.facts.motor_present = false;
  nothing.facts.shutdown = true;
  CHECK(nothing.run(10).finished);
}

TEST_CASE("rows 8 and 9: unplugged is NO_DEVICE, replugged is DISARMED until the deadman is released and pressed") {
  for (const bool seen_away : {true, false}) {
    TestCar car;
    car.driving();
    if (seen_away) {
      car.facts.motor_present = false;
      CHECK(car.run(10).state == State::kNoDevice);
      CHECK(car.out.motor == Motor::kNothing);
      car.run(500);
    }
    car.facts.motor_present = true;
    car.facts.motor_connection = 2;
    car.speed_mps = 0.0;
    for (int k = 0; k < 300; ++k) CHECK(car.run(10).motor != Motor::kSpeed);
    CHECK(car.out.state == State::kDisarmed);
    CHECK(car.out.refused == Cause::kDeadmanNotSeenReleased);
    car.facts.deadman = false;
    car.run(20);
    car.facts.deadman = true;
    CHECK(car.run(10).state == State::kArmed);
  }
}

TEST_CASE("row 8: a car that still rolls after a replug is braked first") {
  TestCar car;
  car.driving().facts.motor_connection = 2;
  car.run(30);
  CHECK(car.out.state == State::kStopping);
  CHECK(car.out.cause == Cause::kRolling);
  CHECK(car.out.motor == Motor::kBrake);
}

TEST_CASE("row 8: another motor controller than before is a fault") {
  TestCar car;
  car.disarmed().facts.motor_identity = 8;
  CHECK(car.run(10).cause == Cause::kOtherMotorController);
  CHECK(car.out.state == State::kFault);
}

TEST_CASE("row 10: a port that is present and silent is a stop after 0.4 s, and the brake goes on blindly") {
  TestCar car;
  car.driving().no_telemetry = true;
  CHECK(car.ms_to_stop(1000) == 410);
  CHECK(car.out.cause == Cause::kTelemetryStale);
  CHECK(car.run(2000).state == State::kStopping);
  CHECK(car.out.motor == Motor::kBrake);
  car.no_telemetry = false;
  CHECK(car.run(1500).state == State::kDisarmed);
}

TEST_CASE("row 10: a car of which nothing is heard is not taken to stand") {
  TestCar car;
  car.wanted_mps = 0.0;
  car.driving().no_telemetry = true;
  CHECK(car.run(3000).state == State::kStopping);
  CHECK(car.out.motor == Motor::kBrake);
}

TEST_CASE("row 12: armed with 5 m/s wanted the first command is 0 and the speed rises at its ramp") {
  TestCar car;
  car.wanted_mps = 5.0;
  car.armed();
  REQUIRE(car.out.state == State::kArmed);
  CHECK(car.out.motor == Motor::kHold);
  double last = 0.0;
  for (int k = 0; k < 100; ++k) {
    car.run(10);
    CHECK(car.out.speed_mps <= last + 4.0 * 0.01 + 1e-9);
    last = car.out.speed_mps;
  }
  CHECK(last == doctest::Approx(4.0).epsilon(0.02));
}

TEST_CASE("row 12: armed again, the first command is no more than what the wheels still turn") {
  TestCar car;
  car.driving().facts.deadman = false;
  car.run(3000);
  REQUIRE(std::abs(car.speed_mps) < 0.2);
  const double rolls = car.speed_mps;
  car.facts.deadman = true;
  car.run(10);
  REQUIRE(car.out.state == State::kArmed);
  CHECK(car.out.speed_mps <= rolls);
}

TEST_CASE("row 12: no telemetry, no motion; a rolling car does not arm") {
  TestCar car;
  car.disarmed().speed_mps = 0.5;
  car.wheels_free = false;
  car.facts.deadman = true;
  CHECK(car.run(10).refused == Cause::kRolling);
  car.speed_mps = 0.0;
  CHECK(car.run(500).state == State::kDisarmed);  // still the same press
}

TEST_CASE("row 13: a stop is brake current and then a hold, also for a controller's speed 0") {
  TestCar car;
  car.driving().wanted_mps = 0.0;
  car.run(10);
  CHECK(car.out.state == State::kArmed);
  CHECK(car.out.motor == Motor::kBrake);
  CHECK(car.run(2000).motor == Motor::kHold);
  CHECK(car.out.state == State::kArmed);
  CHECK(std::abs(car.speed_mps) < 0.2);
}

TEST_CASE("row 13: after a brake at speed the command goes on from the measured speed") {
  TestCar car;
  car.driving().wanted_mps = 0.0;
  car.run(20);
  car.wanted_mps = 2.0;
  car.run(10);
  CHECK(car.out.motor == Motor::kSpeed);
  CHECK(car.out.speed_mps > 1.8);
}

TEST_CASE("row 14: brake current ramps up, is held back near full battery, and the steering is held") {
  TestCar car;
  car.driving().facts.deadman = false;
  car.run(10);
  CHECK(car.out.current_a == doctest::Approx(12.5));
  CHECK_FALSE(car.out.steering_rad.has_value());
  car.run(20);
  CHECK(car.out.current_a == doctest::Approx(17.5));
  CHECK(car.run(60).current_a == doctest::Approx(25.0));
  CHECK_FALSE(car.out.warns(Warning::kBrakeLimited));
  CHECK_FALSE(car.out.steering_rad.has_value());

  TestCar full;
  full.driving().telemetry.voltage_v = 57.0;
  full.facts.deadman = false;
  CHECK(full.run(200).current_a == doctest::Approx(0.25 * 25.0));
  CHECK(full.out.warns(Warning::kBrakeLimited));
}

TEST_CASE("row 15: the servo is centred when the car is disarmed") {
  TestCar car;
  car.driving().facts.deadman = false;
  bool centred = false;
  for (int k = 0; k < 300 && car.out.state != State::kDisarmed; ++k) centred = car.run(10).steering_rad == std::optional(0.0);
  CHECK(centred);
}

TEST_CASE("row 16: a steering command beyond the servo is clipped on its own side and said") {
  for (const double wanted : {0.5, -0.5}) {
    TestCar car;
    car.steering_rad = wanted;
    car.driving();
    CHECK(*car.out.steering_rad == (wanted > 0.0 ? 0.31 : -0.26));
    CHECK(car.out.warns(Warning::kSteeringClipped));
  }
  TestCar car;
  CHECK_FALSE(car.driving().out.warns(Warning::kSteeringClipped));
}
