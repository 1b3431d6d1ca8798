// SPDX-License-Identifier: Apache-2.0
// Rows 17 to 32 of the safety list; the others are in supervisor_test.cpp.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "onboard/supervisor.hpp"
#include "onboard/test_operator.hpp"
#include "tests/support/allocation_guard.hpp"

using namespace pitwall;
using namespace pitwall::onboard;

TEST_CASE("row 17: a fault latches with its telemetry, the brake goes on, only an acknowledge with the deadman released ends it") {
  TestCar car;
  car.driving().telemetry.fault_code = 2;
  car.telemetry.voltage_v = 9.0;
  car.run(10);
  CHECK(car.out.state == State::kFault);
  CHECK(car.out.cause == Cause::kMotorFault);
  REQUIRE(car.supervisor.first_fault().has_value());
  CHECK(car.supervisor.first_fault()->voltage_v == 9.0);
  car.telemetry.fault_code = 0;
  car.telemetry.voltage_v = 11.8;
  for (int k = 0; k < 300; ++k) CHECK((car.run(10).state == State::kFault && car.brakes()));
  car.facts.acknowledge = true;
  CHECK(car.run(10).state == State::kFault);  // deadman held
  car.facts.deadman = false;
  CHECK(car.run(10).state == State::kFault);  // no new press
  car.facts.acknowledge = false;
  car.run(10);
  car.facts.acknowledge = true;
  CHECK(car.run(10).state == State::kDisarmed);
}

TEST_CASE("row 17: a fault that lasts cannot be acknowledged") {
  TestCar car;
  car.disarmed().telemetry.fault_code = 1;
  car.run(10);
  car.facts.acknowledge = true;
  CHECK(car.run(100).state == State::kFault);
}

TEST_CASE("row 18: low battery warns, then caps the speed, then stops the car; a short sag does not") {
  TestCar car;
  car.wanted_mps = 3.0;
  car.driving().telemetry.voltage_v = 3 * 3.55;
  CHECK(car.run(3000).warns(Warning::kBatteryLow));
  CHECK(car.out.speed_mps == doctest::Approx(3.0));
  car.telemetry.voltage_v = 3 * 3.45;
  car.run(4000);
  CHECK(car.out.warns(Warning::kSpeedCapped));
  CHECK(car.out.speed_mps == doctest::Approx(1.5));
  car.telemetry.voltage_v = 3 * 3.35;
  CHECK(car.run(3000).state == State::kDisarmed);
  CHECK(car.log[car.log.size() - 2].cause == Cause::kBatteryEmpty);
  car.facts.deadman = false;
  car.run(100);
  car.facts.deadman = true;
  CHECK(car.run(10).refused == Cause::kBatteryEmpty);

  TestCar sag;
  sag.driving().telemetry.voltage_v = 8.5;
  sag.run(50);
  sag.telemetry.voltage_v = 11.8;
  CHECK(sag.run(100).state == State::kArmed);
}

TEST_CASE("row 18: without a battery, on USB alone, the car does not arm") {
  TestCar car;
  car.telemetry.voltage_v = 4.8;
  car.disarmed().facts.deadman = true;
  CHECK(car.run(10).refused == Cause::kBatteryAbsent);
}

TEST_CASE("row 18: heat warns and slows, then stops; a motor without a sensor is not believed") {
  TestCar car;
  car.driving().telemetry.fet_degc = 80.0;
  CHECK(car.run(1000).warns(Warning::kHot));
  CHECK(car.out.speed_mps == doctest::Approx(1.5));
  car.telemetry.fet_degc = 91.0;
  CHECK(car.run(10).cause == Cause::kTooHot);

  TestCar no_sensor;
  no_sensor.driving().telemetry.motor_degc = 230.0;
  CHECK_FALSE(no_sensor.run(100).warns(Warning::kHot));
  no_sensor.telemetry.motor_degc = 100.0;
  CHECK(no_sensor.run(10).cause == Cause::kTooHot);
}

TEST_CASE("rows 19, 20 and 23: scan, odometry and pose are each a stop 0.4 s after their last; so is one from the future") {
  struct Source {
    bool TestCar::*missing;
    Cause cause;
    std::optional<Time> Facts::*stamp;
  };
  for (const Source& source :
       {Source{&TestCar::no_scan, Cause::kScanStale, &Facts::scan}, Source{&TestCar::no_odometry, Cause::kOdometryStale, &Facts::odometry},
        Source{&TestCar::no_pose, Cause::kPoseStale, &Facts::pose}}) {
    TestCar car;
    car.driving().*source.missing = true;
    CHECK(car.ms_to_stop(1000) == 410);
    CHECK(car.out.cause == source.cause);
    CHECK(car.brakes());

    TestCar future;
    future.driving().*source.missing = true;
    future.facts.*source.stamp = future.facts.now + from_milliseconds(500);
    CHECK(future.run(10).cause == source.cause);
  }
  TestCar mapless;  // a law without a map needs no pose
  mapless.facts.needs_pose = false;
  mapless.no_pose = true;
  CHECK(mapless.driving().out.state == State::kArmed);
}

TEST_CASE("row 24: wheels that turn against the command are a fault within 0.4 s") {
  TestCar car;
  car.wheel_gain = -1.0;
  car.armed();
  CHECK(car.ms_to_stop(1000) <= 400);
  CHECK(car.out.state == State::kFault);
  CHECK(car.out.cause == Cause::kSpeedSign);
}

TEST_CASE("row 24: a speed that is not that of the commands is a fault after 0.5 s, a wheel that lags is not") {
  TestCar fast;
  fast.driving().wheel_gain = 2.5;
  CHECK(fast.ms_to_stop(1000) == 510);
  CHECK(fast.out.cause == Cause::kSpeedMismatch);

  TestCar blocked;
  blocked.wanted_mps = 3.0;
  blocked.driving().wheels_free = false;
  blocked.speed_mps = 0.0;
  CHECK(blocked.ms_to_stop(1000) == 510);

  TestCar well;
  well.wheel_gain = 1.2;
  well.driving();
  for (const double wanted : {4.0, 0.0, 1.0, 3.0, 0.5}) {
    well.wanted_mps = wanted;
    CHECK(well.run(2000).state == State::kArmed);
  }
}

TEST_CASE("rows 25 and 26: commands that are not finite stop the car, finite ones are clamped") {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
    TestCar speed;
    speed.driving().wanted_mps = bad;
    CHECK(speed.run(10).cause == Cause::kCommandNotFinite);
    CHECK(speed.brakes());
    TestCar steering;
    steering.driving().steering_rad = bad;
    CHECK(steering.run(10).cause == Cause::kCommandNotFinite);
  }
  TestCar huge;
  huge.wanted_mps = 1e30;
  CHECK(huge.driving().out.speed_mps == doctest::Approx(5.0));
  CHECK(huge.out.warns(Warning::kSpeedClamped));
  TestCar back;
  back.wanted_mps = -3.0;
  CHECK(back.driving().out.motor == Motor::kHold);  // reverse only where it is allowed
  SupervisorParameters p = TestCar::parameters();
  p.speed_min_mps = -2.0;
  TestCar reverse(p);
  reverse.wanted_mps = -3.0;
  CHECK(reverse.driving().out.speed_mps == doctest::Approx(-2.0));
}

TEST_CASE("row 27: the emergency stop wins in every state and stays until released and acknowledged") {
  for (int from = 0; from < 6; ++from) {
    TestCar car;
    if (from == 0) car.facts.motor_present = false;
    if (from == 1) car.no_telemetry = true;
    if (from >= 2) car.disarmed();
    if (from >= 3) car.driving();
    if (from == 4) car.facts.deadman = false;
    if (from == 5) car.telemetry.fault_code = 1;
    car.run(20);
    CHECK(static_cast<int>(car.out.state) == from);
    car.facts.estop = true;
    CHECK(car.run(10).state == State::kEstop);
    CHECK(car.brakes());
    car.telemetry.fault_code = 0;
    car.facts.estop = false;
    car.facts.motor_present = true;
    car.no_telemetry = false;
    car.facts.deadman = true;
    CHECK(car.run(3000).state == State::kEstop);
    car.facts.deadman = false;
    car.facts.acknowledge = true;
    CHECK(car.run(10).state == State::kDisarmed);
  }
}

TEST_CASE("row 27: the motor controller's kill switch is an emergency stop, and is kept over an unplugged cable") {
  TestCar car;
  car.driving().telemetry.kill_switch = true;
  CHECK(car.run(10).state == State::kEstop);
  CHECK(car.out.cause == Cause::kKillSwitch);
  car.telemetry.kill_switch = false;
  car.facts.motor_connection = 2;
  CHECK(car.run(100).state == State::kEstop);
}

TEST_CASE("row 27: an emergency stop input stops by what it says, by saying nothing, and is acknowledged when it says go again") {
  for (const EstopSays says : {EstopSays::kStop, EstopSays::kLost, EstopSays::kGo}) {
    TestCar car;
    car.facts.needs_estop = true;
    car.estop_says = EstopSays::kGo;
    REQUIRE(car.driving().out.state == State::kArmed);
    if (says == EstopSays::kGo) car.no_estop = true;  // nobody tells any more
    car.estop_says = says;
    const std::int64_t took = car.ms_to_stop(1000);
    CHECK(took <= (says == EstopSays::kGo ? 260 : 10));
    CHECK(car.out.state == State::kEstop);
    CHECK(car.out.cause == (says == EstopSays::kStop ? Cause::kEstopInput : Cause::kEstopLost));
    CHECK(car.brakes());
    car.facts.deadman = false;
    car.facts.acknowledge = true;
    CHECK(car.run(3000).state == State::kEstop);
    car.no_estop = false;
    car.estop_says = EstopSays::kGo;
    CHECK(car.run(100).state == State::kEstop);
    car.facts.acknowledge = false;
    car.run(20);
    car.facts.acknowledge = true;
    CHECK(car.run(20).state == State::kDisarmed);
  }
}

TEST_CASE("row 27: an emergency stop input that has never been heard of keeps the car from arming; one that is not wanted does not") {
  TestCar car;
  car.estop_says = EstopSays::kWaits;
  CHECK(car.armed().out.state == State::kArmed);
  TestCar other;
  other.facts.needs_estop = true;
  other.estop_says = EstopSays::kWaits;
  CHECK(other.armed().out.state == State::kDisarmed);
  CHECK(other.out.refused == Cause::kEstopLost);
  TestCar silent;
  silent.facts.needs_estop = true;
  silent.no_estop = true;
  CHECK(silent.armed().out.state == State::kDisarmed);
}

TEST_CASE("row 24: wheels that turn as told while the car, by its IMU, does not move so: a stop after 0.5 s; without an IMU nothing") {
  for (const double share : {0.0, 0.45, 2.0}) {
    TestCar car;
    car.driving();
    car.facts.imu_speed = SpeedRange{share * 2.0, share * 2.0};
    const std::int64_t took = car.ms_to_stop(2000);
    CHECK(took >= 500);
    CHECK(took <= 520);
    CHECK(car.log.back().cause == Cause::kImuMismatch);
    CHECK(car.log.back().to == State::kStopping);
  }
  TestCar car;
  car.driving();
  for (int k = 0; k < 20; ++k) {
    car.facts.imu_speed = k % 2 == 0 ? SpeedRange{} : SpeedRange{2.3, 3.0};  // a slip of 0.3 s, and an error of 15 %
    CHECK(car.run(300).state == State::kArmed);
  }
  car.facts.imu_speed.reset();
  CHECK(car.run(2000).state == State::kArmed);
}

TEST_CASE("row 29: a deadman that is held when the joystick appears does not arm") {
  TestCar car;
  car.facts.deadman = true;
  CHECK(car.run(2000).state == State::kDisarmed);
  CHECK(car.out.refused == Cause::kDeadmanNotSeenReleased);
  car.facts.deadman = false;
  car.run(10);
  car.facts.deadman = true;
  CHECK(car.run(10).state == State::kArmed);
}

TEST_CASE("row 29: what becomes ready under a held deadman does not start the car") {
  TestCar car;
  car.no_pose = true;
  car.disarmed().facts.deadman = true;
  CHECK(car.run(100).refused == Cause::kPoseStale);
  car.no_pose = false;
  CHECK(car.run(1000).state == State::kDisarmed);
  CHECK(car.out.refused == Cause::kPoseStale);
}

TEST_CASE("row 30: devices that come late are waited for") {
  TestCar car;
  car.facts.motor_present = false;
  car.facts.joystick_present = false;
  car.no_scan = true;
  CHECK(car.run(5000).state == State::kNoDevice);
  car.facts.motor_present = true;
  CHECK(car.run(100).state == State::kDisarmed);
  car.facts.joystick_present = true;
  car.no_scan = false;
  CHECK(car.armed().out.state == State::kArmed);
}

TEST_CASE("an old firmware is not driven") {
  TestCar car;
  car.facts.motor_supported = false;
  CHECK(car.run(500).state == State::kNoDevice);
  CHECK(car.out.cause == Cause::kFirmwareTooOld);
}

TEST_CASE("row 32: bench mode caps the speed") {
  TestCar car(TestCar::parameters(), true);
  car.wanted_mps = 4.0;
  CHECK(car.driving().out.speed_mps == doctest::Approx(1.0));
}

TEST_CASE("no tick allocates") {
  TestCar car;
  car.disarmed();
  Supervisor supervisor(TestCar::parameters());
  const AllocationGuard guard;
  for (int k = 0; k < 1000; ++k) {
    car.advance();
    car.facts.deadman = (k / 100) % 2 == 1;
    car.facts.scan = car.facts.now;
    supervisor.tick(car.facts);
  }
  CHECK(guard.count() == 0);
}

TEST_CASE("every cause, state and warning has a name of its own") {
  for (int a = 0; a < kCauses; ++a) {
    CHECK_FALSE(name(static_cast<Cause>(a)).empty());
    for (int b = 0; b < a; ++b) CHECK(name(static_cast<Cause>(a)) != name(static_cast<Cause>(b)));
  }
  CHECK(name(Warning::kPadLossInvisible) == "pad_loss_invisible");
  CHECK(name(State::kEstop) == "ESTOP");
}
