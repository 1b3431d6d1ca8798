// SPDX-License-Identifier: Apache-2.0
#include "controllers/pure_pursuit.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "controllers/line_follower.hpp"
#include "core/rng.hpp"
#include "tests/support/allocation_guard.hpp"
#include "tests/support/pursuit_loop.hpp"
#include "tracks/speed_profile.hpp"

using namespace pitwall;
using namespace pitwall::controllers;
using namespace pitwall::toy;

TEST_CASE("the packaged parameters are accepted, and every impossible combination is refused with its reason") {
  const LineToFollow line = straight_field(2.0);
  const auto refusal = [&](auto change) {
    LineControllerParameters p;
    change(p);
    const Status status = validate(p, toy::car(), &line, "pure_pursuit");
    return status.ok() ? std::string() : status.error().message;
  };
  CHECK(refusal([](auto&) {}).empty());
  CHECK(refusal([](auto& p) { p.line.min_speed_mps = 3.0, p.command.max_speed_mps = 2.0; }).find("min_speed_mps") != std::string::npos);
  CHECK(refusal([](auto& p) { p.command.max_speed_mps = 6.5; }).find("max_speed_mps") != std::string::npos);
  CHECK(refusal([](auto& p) { p.overtake.trigger_gap_m = 11.0; }).find("trigger_gap_m") != std::string::npos);
  CHECK(refusal([](auto& p) { p.overtake.body_gap_m = 0.1; }).find("body_gap_m") != std::string::npos);
  CHECK(validate(LineControllerParameters{}, toy::car(), nullptr, "pure_pursuit").error().message.find("needs a line") !=
        std::string::npos);
  const auto law_refusal = [](const PurePursuitParameters& p) { return validate(p, LawSetup{}, "pure_pursuit").error().message; };
  CHECK(law_refusal({.min_lookahead_m = 2.0}).find("min_lookahead_m 2") != std::string::npos);
  CHECK(law_refusal({.lookahead_gain_s = 0.7}).find("lookahead_gain_s") != std::string::npos);
  LineToFollow short_of_speeds = line;
  short_of_speeds.speed_mps.pop_back();
  CHECK(validate(LineControllerParameters{}, toy::car(), &short_of_speeds, "pure_pursuit").error().message.find("80 speeds") !=
        std::string::npos);
  LineToFollow bad = line;
  bad.speed_mps[3] = NAN;
  CHECK(validate(LineControllerParameters{}, toy::car(), &bad, "pure_pursuit").error().message.find("point 3") != std::string::npos);
}

TEST_CASE("on a circle it settles on atan(L / R), for three wheelbases") {
  std::vector<Vec2> points;
  for (int i = 0; i < 400; ++i) points.push_back(4.0 * unit_vector(2.0 * math::kPi * i / 400));
  const LineToFollow line = field_line(points, true, 1.5);
  for (const double wheelbase : {0.28, 0.36, 0.45}) {
    Loop loop({4.0, 0.0, 0.5 * math::kPi});
    loop.car.wheelbase_m = loop.body.parameters.wheelbase_m = wheelbase;
    LineController controller = toy::pursuit({}, loop.car, line);
    controller.reset({});
    for (int k = 0; k < 400; ++k) loop.tick(controller);
    CHECK(loop.last.reason == Reason::kDrive);
    CHECK(std::abs(static_cast<double>(loop.last.steering_angle_rad) - math::atan(wheelbase / 4.0)) < 2e-3);
  }
}

TEST_CASE("mirrored inputs give the negated steering and the same speed") {
  const LineToFollow line = field_line(oval_points(), true, 2.0);
  const LineToFollow mirror = field_line(oval_points(-1.0), true, 2.0);
  Loop a({0.0, -4.0, 0.0});
  Loop b({0.0, 4.0, 0.0});
  CarParameters car = toy::car();
  car.steering_max_right_rad = -car.steering_max_left_rad;
  a.car = b.car = a.body.parameters = b.body.parameters = car;
  LineController left = toy::pursuit({}, car, line);
  LineController right = toy::pursuit({}, car, mirror);
  left.reset({});
  right.reset({});
  for (int k = 0; k < 600; ++k) {
    const Command x = a.tick(left);
    const Command y = b.tick(right);
    CHECK(std::abs(static_cast<double>(x.steering_angle_rad) + static_cast<double>(y.steering_angle_rad)) < 1e-6);
    CHECK(std::abs(static_cast<double>(x.speed_mps) - static_cast<double>(y.speed_mps)) < 1e-6);
  }
}

TEST_CASE("it stops for every missing, stale or impossible input, names it, and drives on when it is back") {
  const LineToFollow line = straight_field(2.0);
  const auto first = [&](auto spoil) {
    LineController controller = controller_of(line);
    controller.reset({});
    Loop loop;
    for (int k = 0; k < 40; ++k) loop.tick(controller);
    REQUIRE(loop.last.reason == Reason::kDrive);
    loop.sense();
    Observation obs = loop.observe();
    spoil(obs, loop);
    const Command command = controller.update(obs);
    CHECK(command.speed_mps == 0.0F);
    CHECK(command.layer == Layer::kWatchdog);
    loop.tick(controller);
    CHECK(loop.last.speed_mps > 0.0F);
    return command.reason;
  };
  const Duration old = from_milliseconds(501);
  CHECK(first([](Observation& o, Loop&) { o.joy.message = nullptr; }) == Reason::kWaitingForJoy);
  CHECK(first([&](Observation& o, Loop&) { o.joy.arrival = o.now - old; }) == Reason::kJoyStale);
  static const Joy kReleased{.stamp = {}, .buttons = {0, 0, 0, 0, 0, 0}};
  static const Joy kFew{.stamp = {}, .buttons = {1}};
  CHECK(first([](Observation& o, Loop&) { o.joy.message = &kReleased; }) == Reason::kDeadmanReleased);
  CHECK(first([](Observation& o, Loop&) { o.joy.message = &kFew; }) == Reason::kDeadmanButtonMissing);
  CHECK(first([](Observation& o, Loop&) { o.scan.message = nullptr; }) == Reason::kScanMissing);
  CHECK(first([&](Observation& o, Loop&) { o.scan.arrival = o.now - old; }) == Reason::kScanStale);
  CHECK(first([](Observation& o, Loop&) { o.odometry.message = nullptr; }) == Reason::kOdometryMissing);
  CHECK(first([&](Observation& o, Loop&) { o.odometry.arrival = o.now - old; }) == Reason::kOdometryStale);
  CHECK(first([](Observation& o, Loop&) { o.pose.message = nullptr; }) == Reason::kPoseMissing);
  CHECK(first([&](Observation& o, Loop&) { o.pose.arrival = o.now - old; }) == Reason::kPoseStale);
  CHECK(first([&](Observation& o, Loop& l) { l.in.pose.stamp = o.now - old; }) == Reason::kPoseStale);
}

TEST_CASE("a pose that stays while the odometry moves is frozen: stop within 0.5 s") {
  const LineToFollow line = straight_field(2.0);
  LineController controller = controller_of(line);
  controller.reset({});
  Loop loop;
  for (int k = 0; k < 60; ++k) loop.tick(controller);
  const Vec2 stuck = loop.in.pose.position;
  int ticks = 0;
  while (loop.last.reason != Reason::kPoseFrozen && ticks < 100) {
    loop.sense();
    loop.in.pose.position = stuck;
    loop.in.odometry.speed_mps = 2.0;
    loop.last = controller.update(loop.observe());
    ++ticks;
  }
  CHECK(ticks * 0.025 == doctest::Approx(0.55).epsilon(0.06));
  CHECK(loop.last.speed_mps == 0.0F);
}

TEST_CASE("farther than 1 m from the line after a search of the whole line it stops: off line") {
  const LineToFollow line = straight_field(2.0);
  for (const double d : {1.1, -1.1, 3.1}) {
    LineControllerParameters p;
    p.enable_recovery = d > 3.0;
    LineController controller = controller_of(line, p);
    controller.reset({});
    Loop loop({5.0, d, 0.0});
    CHECK(reason_after(controller, loop, 3) == Reason::kOffLine);
    CHECK(loop.last.speed_mps == 0.0F);
  }
  LineController controller = controller_of(line);
  controller.reset({});
  Loop loop({5.0, 0.9, 0.0});
  CHECK(reason_after(controller, loop, 3) == Reason::kDrive);
}

TEST_CASE("a car that faces against the line does not move") {
  const LineToFollow line = straight_field(2.0);
  LineController controller = controller_of(line);
  controller.reset({});
  Loop loop({5.0, 0.0, math::kPi});
  CHECK(reason_after(controller, loop, 3) == Reason::kOffLine);
}

TEST_CASE("a localiser that jumps along the line is followed, one that jumps away from it stops the car") {
  const LineToFollow line = straight_field(2.0);
  LineController controller = controller_of(line);
  controller.reset({});
  Loop loop;
  REQUIRE(reason_after(controller, loop, 60) == Reason::kDrive);
  loop.believed_shift = {6.0, 0.2, 0.0};
  loop.tick(controller);
  CHECK(loop.last.reason == Reason::kDrive);
  REQUIRE(controller.fix());
  CHECK(std::abs(controller.fix()->on_line.s_m - loop.body.pose.x - 6.0) < 0.1);
  loop.believed_shift = {6.0, 2.5, 0.0};
  loop.tick(controller);
  CHECK(loop.last.reason == Reason::kOffLine);
}

TEST_CASE("an open path ends: the car stops at its end from every speed, and no floor keeps it moving") {
  for (const double speed : {0.6, 2.0, 4.0}) {
    LineControllerParameters p;
    p.line.min_speed_mps = 0.5;
    const LineToFollow line = straight_field(speed, 15.0);
    LineController controller = controller_of(line, p);
    controller.reset({});
    Loop loop({0.5, 0.0, 0.0});
    for (int k = 0; k < 40 * 30 && loop.last.reason != Reason::kEndOfPath; ++k) loop.tick(controller);
    CHECK(loop.last.reason == Reason::kEndOfPath);
    for (int k = 0; k < 80; ++k) loop.tick(controller);
    CHECK(loop.body.speed_mps < 0.02);
    CHECK(std::abs(loop.body.pose.x - 15.0) < 0.25);
  }
}

TEST_CASE("the minimum speed never overrides the curvature limit") {
  std::vector<Vec2> points;
  for (int i = 0; i < 200; ++i) points.push_back(1.5 * unit_vector(2.0 * math::kPi * i / 200));
  const LineToFollow line = field_line(points, true, 0.5);
  LineControllerParameters p;
  p.line.min_speed_mps = 3.0;
  p.command.max_lateral_accel_mps2 = 1.0;
  LineController controller = controller_of(line, p);
  controller.reset({});
  Loop loop({1.5, 0.0, 0.5 * math::kPi});
  for (int k = 0; k < 200; ++k) loop.tick(controller);
  CHECK(loop.body.speed_mps < std::sqrt(1.0 * 1.5) * 1.05);
  CHECK(loop.body.speed_mps > 0.9);
}

TEST_CASE("with 100 ms of command delay the speed at corner entry exceeds the profile by less than 0.2 m/s") {
  // 4 m/s down to 1.5 m/s within the braking that the car has.
  LineToFollow line = straight_field(4.0);
  for (std::size_t i = 0; i < line.path->size(); ++i) {
    const double s = line.path->s_of(i);
    line.speed_mps[i] = s >= 20.0 ? 1.5 : std::min(4.0, std::sqrt(1.5 * 1.5 + 2.0 * 3.0 * (20.0 - s)));
  }
  Loop loop;
  loop.car.speed_delay_s = 0.1;
  loop.car.speed_loop_brake_gain_per_s = loop.body.parameters.speed_loop_brake_gain_per_s = 13.7;
  loop.body.delay_ticks = 4;
  LineController controller = toy::pursuit({}, loop.car, line);
  controller.reset({});
  double worst = 0.0;
  for (int k = 0; k < 400; ++k) {
    loop.tick(controller);
    const double s = std::min(loop.body.pose.x, 39.0);
    if (s > 12.0) worst = std::max(worst, loop.body.speed_mps - speed_at(*line.path, line.speed_mps, s));
  }
  CHECK(loop.body.pose.x > 22.0);
  CHECK(worst < 0.2);
}

TEST_CASE("a measured speed that is off by 20 % starts no limit cycle of the speed") {
  const LineToFollow line = field_line(oval_points(), true, 2.5);
  LineController controller = controller_of(line);
  controller.reset({});
  Loop loop({0.0, -4.0, 0.0});
  double low = 1e9;
  double high = 0.0;
  for (int k = 0; k < 1600; ++k) {
    loop.speed_factor = (k / 40) % 2 == 0 ? 1.2 : 0.8;
    loop.tick(controller);
    // On the long straights the speed should be that of the line.
    if (k < 200 || std::abs(loop.body.pose.x) > 4.0) continue;
    low = std::min(low, loop.body.speed_mps);
    high = std::max(high, loop.body.speed_mps);
  }
  CHECK((high - low) < 0.05 * 2.5);
}

TEST_CASE("it laps an oval within centimetres, with late poses and delayed commands") {
  const LineToFollow line = field_line(oval_points(), true, 2.0);
  LineController controller = controller_of(line);
  controller.reset({});
  Loop loop({0.0, -4.0, 0.0});
  loop.pose_delay = 2;
  loop.body.delay_ticks = 2;
  loop.car.steering_delay_s = 0.05;
  double worst = 0.0;
  for (int k = 0; k < 1000; ++k) {
    loop.tick(controller);
    worst = std::max(worst, std::abs(line.path->project(loop.body.pose.position()).lateral_m));
  }
  CHECK(worst < 0.12);
  CHECK(loop.last.reason == Reason::kDrive);
}

TEST_CASE("no tick allocates, with opponents in view or without") {
  const toy::StraightTrack track;
  const CarParameters car = toy::car();
  LineController controller = toy::pursuit({}, car, track.line);
  LineFollower follower({}, car, track.line);
  for (Controller* c : {static_cast<Controller*>(&controller), static_cast<Controller*>(&follower)}) {
    toy::Inputs in;
    std::vector<LaserScan> scans;
    for (int k = 0; k < 60; ++k)
      scans.push_back(track.look(car, {10.0 + 0.05 * k, 0.0, 0.0}, {toy::centred_at(car, 14.0 + 0.03 * k, 0.1)}));
    c->reset(in.observe());
    std::size_t allocations = 0;
    for (int k = 0; k < 60; ++k) {
      in.advance(from_milliseconds(25));
      in.scan = scans[static_cast<std::size_t>(k)];
      in.odometry.speed_mps = 2.0;
      in.pose.position = {10.0 + 0.05 * k, 0.0};
      const Observation obs = in.observe();
      const AllocationGuard guard;
      const Command command = c->update(obs);
      allocations += guard.count();
      CHECK(command.speed_mps > 0.0F);
    }
    CHECK(allocations == 0);
  }
}
