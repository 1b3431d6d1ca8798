// SPDX-License-Identifier: Apache-2.0
#include "controllers/watchdogs.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "tests/support/toy_world.hpp"

using namespace pitwall;
using namespace pitwall::controllers;

namespace {

constexpr Needs kAll{.scan = true, .odometry = true, .pose = true};

toy::Inputs healthy() {
  toy::Inputs in;
  in.scan = toy::empty_scan(toy::car(), 11);
  in.scan.ranges.assign(11, 3.0F);
  return in;
}

std::optional<Reason> check_once(const Observation& obs, Needs needs = kAll, const WatchdogParameters& p = {}) {
  Watchdogs watchdogs(p, needs);
  watchdogs.reset();
  return watchdogs.check(obs);
}

}  // namespace

TEST_CASE("with every source fresh and the deadman held nothing stops the car") {
  toy::Inputs in = healthy();
  CHECK(check_once(in.observe()) == std::nullopt);
}

TEST_CASE("deadman: never heard, silent, without the button, and released each stop with their own reason") {
  toy::Inputs in = healthy();
  Observation obs = in.observe();
  obs.joy.message = nullptr;
  CHECK(check_once(obs) == Reason::kWaitingForJoy);

  obs = in.observe();
  obs.joy.arrival = obs.now - from_seconds(0.5);
  CHECK(check_once(obs) == Reason::kJoyStale);
  obs.joy.arrival = obs.now - from_seconds(0.499);
  CHECK(check_once(obs) == std::nullopt);

  in.joy.buttons = {1, 1, 1, 1};
  CHECK(check_once(in.observe()) == Reason::kDeadmanButtonMissing);
  in.joy.buttons = {1, 1, 1, 1, 0, 1};
  CHECK(check_once(in.observe()) == Reason::kDeadmanReleased);
}

TEST_CASE("deadman: switched off it asks for nothing, and only then") {
  toy::Inputs in = healthy();
  in.joy.buttons.clear();
  WatchdogParameters p;
  CHECK(check_once(in.observe(), kAll, p) == Reason::kDeadmanButtonMissing);
  p.enable_deadman = false;
  CHECK(check_once(in.observe(), kAll, p) == std::nullopt);
}

TEST_CASE("deadman: pressing the button again is enough to drive on") {
  toy::Inputs in = healthy();
  Watchdogs watchdogs({}, kAll);
  watchdogs.reset();
  CHECK(watchdogs.check(in.observe()) == std::nullopt);
  in.joy.buttons[4] = 0;
  CHECK(watchdogs.check(in.observe()) == Reason::kDeadmanReleased);
  in.joy.buttons[4] = 1;
  CHECK(watchdogs.check(in.observe()) == std::nullopt);
}

TEST_CASE("scan, odometry and pose: missing and stale stop with their own reasons, unless they are not needed") {
  toy::Inputs in = healthy();
  const Observation good = in.observe();
  const Time old = good.now - from_seconds(0.5);
  Observation obs = good;
  obs.scan.message = nullptr;
  CHECK(check_once(obs) == Reason::kScanMissing);
  CHECK(check_once(obs, {.scan = false, .odometry = true, .pose = true}) == std::nullopt);
  obs = good;
  obs.scan.arrival = old;
  CHECK(check_once(obs) == Reason::kScanStale);
  CHECK(check_once(obs, {.scan = false, .odometry = true, .pose = true}) == std::nullopt);
  obs = good;
  obs.odometry.message = nullptr;
  CHECK(check_once(obs) == Reason::kOdometryMissing);
  CHECK(check_once(obs, {.scan = true, .odometry = false, .pose = true}) == std::nullopt);
  obs = good;
  obs.odometry.arrival = old;
  CHECK(check_once(obs) == Reason::kOdometryStale);
  obs = good;
  obs.pose.message = nullptr;
  CHECK(check_once(obs) == Reason::kPoseMissing);
  CHECK(check_once(obs, {.scan = true, .odometry = true, .pose = false}) == std::nullopt);
  obs = good;
  obs.pose.arrival = old;
  CHECK(check_once(obs) == Reason::kPoseStale);
}

TEST_CASE("the order is operator, scan, odometry, pose") {
  Observation obs;
  obs.now = Time{1'000'000'000};
  CHECK(check_once(obs) == Reason::kWaitingForJoy);
  WatchdogParameters p;
  p.enable_deadman = false;
  CHECK(check_once(obs, kAll, p) == Reason::kScanMissing);
  CHECK(check_once(obs, {.scan = false, .odometry = true, .pose = true}, p) == Reason::kOdometryMissing);
  CHECK(check_once(obs, {.scan = false, .odometry = false, .pose = true}, p) == Reason::kPoseMissing);
}

TEST_CASE("age is the larger of arrival and stamp, and a zero stamp counts by arrival alone") {
  const Time now{10'000'000'000};
  CHECK(is_fresh(now, now, now, 0.5));
  CHECK(is_fresh(now, now - from_seconds(0.4), now - from_seconds(0.45), 0.5));
  CHECK_FALSE(is_fresh(now, now, now - from_seconds(0.6), 0.5));
  CHECK_FALSE(is_fresh(now, now - from_seconds(0.6), now, 0.5));
  CHECK(is_fresh(now, now, Time{}, 0.5));
  CHECK_FALSE(is_fresh(now, now - from_seconds(0.6), Time{}, 0.5));
}

TEST_CASE("messages from the future are refused, but for the slack of a disciplined clock") {
  const Time now{10'000'000'000};
  CHECK_FALSE(is_fresh(now, now + Duration{1}, now, 0.5));
  CHECK(is_fresh(now, now, now + kFutureTolerance, 0.5));
  CHECK_FALSE(is_fresh(now, now, now + kFutureTolerance + Duration{1}, 0.5));
  toy::Inputs in = healthy();
  Observation obs = in.observe();
  in.pose.stamp = in.now + from_seconds(1.0);
  CHECK(check_once(obs) == Reason::kPoseStale);
}

TEST_CASE("malformed scans and numbers that are not finite are refused") {
  toy::Inputs in = healthy();
  in.scan.ranges.clear();
  CHECK(check_once(in.observe()) == Reason::kScanMalformed);
  in = healthy();
  in.odometry.speed_mps = std::numeric_limits<double>::quiet_NaN();
  CHECK(check_once(in.observe()) == Reason::kOdometryInvalid);
  in = healthy();
  in.odometry.yaw_rate_radps = std::numeric_limits<double>::infinity();
  CHECK(check_once(in.observe()) == Reason::kOdometryInvalid);
  in = healthy();
  in.pose.position.y = std::numeric_limits<double>::quiet_NaN();
  CHECK(check_once(in.observe()) == Reason::kPoseInvalid);
  in = healthy();
  in.pose.orientation.w = std::numeric_limits<double>::infinity();
  CHECK(check_once(in.observe()) == Reason::kPoseInvalid);
}

namespace {

// Time in ms until the pose counts as frozen while odometry says `speed` and the pose moves by `step_m` every 25 ms; -1 for never.
int time_to_frozen(double speed, double step_m, const WatchdogParameters& p = {}) {
  toy::Inputs in = healthy();
  Watchdogs watchdogs(p, kAll);
  watchdogs.reset();
  in.odometry.speed_mps = speed;
  for (int ms = 0; ms <= 3000; ms += 25) {
    if (watchdogs.check(in.observe()) == Reason::kPoseFrozen) return ms;
    in.advance(from_milliseconds(25));
    in.pose.position.x += step_m;
  }
  return -1;
}

}  // namespace

TEST_CASE("a pose that rests while the wheels turn is frozen after half a second, and only then") {
  CHECK(time_to_frozen(1.0, 0.0) == 525);
  CHECK(time_to_frozen(-1.0, 0.0) == 525);
  CHECK(time_to_frozen(0.3, 0.0) == 525);
  CHECK(time_to_frozen(0.29, 0.0) == -1);
  CHECK(time_to_frozen(0.3, 0.0075) == -1);
  CHECK(time_to_frozen(1.0, 0.002) == 525);  // 4 cm in 0.5 s
  CHECK(time_to_frozen(1.0, 0.0027) == -1);  // 5 cm in 0.475 s
  WatchdogParameters patient;
  patient.pose_frozen_time_s = 1.0;
  CHECK(time_to_frozen(1.0, 0.0, patient) == 1025);
}

TEST_CASE("the pose is followed while other checks stop the car, and forgotten by reset") {
  toy::Inputs in = healthy();
  in.odometry.speed_mps = 1.0;
  in.joy.buttons[4] = 0;
  Watchdogs watchdogs({}, kAll);
  watchdogs.reset();
  for (int k = 0; k < 40; ++k) {
    CHECK(watchdogs.check(in.observe()) == Reason::kDeadmanReleased);
    in.advance(from_milliseconds(25));
  }
  in.joy.buttons[4] = 1;
  CHECK(watchdogs.check(in.observe()) == Reason::kPoseFrozen);
  watchdogs.reset();
  CHECK(watchdogs.check(in.observe()) == std::nullopt);
}
