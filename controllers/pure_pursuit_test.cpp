// SPDX-License-Identifier: Apache-2.0
#include "controllers/pure_pursuit.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "controllers/line_follower.hpp"
#include "controllers/swept_arc.hpp"
#include "core/rng.hpp"
#include "tests/support/allocation_guard.hpp"
#include "tests/support/straight_track.hpp"
#include "tracks/speed_profile.hpp"

using namespace pitwall;
using namespace pitwall::controllers;

namespace {

/// A line in an open field: no map, nothing in the scan.
LineToFollow field_line(std::vector<Vec2> points, bool closed, double speed) {
  LineToFollow line;
  line.path = std::make_shared<const tracks::Path>(tracks::Path::make(std::move(points), closed).value());
  line.speed_mps.assign(line.path->size(), speed);
  return line;
}

LineToFollow straight_field(double speed, double length = 40.0) {
  std::vector<Vec2> points;
  for (double x = 0.0; x <= length + 1e-9; x += 0.5) points.push_back({x, 0.0});
  return field_line(std::move(points), false, speed);
}

std::vector<Vec2> oval_points(double y_sign = 1.0) {
  std::vector<Vec2> points;
  for (const Vec2 p : toy::rounded_rectangle(9.0, 4.0, 3.0, 40)) points.push_back({p.x, y_sign * p.y});
  return points;
}

/// Closed loop of one controller with the toy's kinematic car; the pose is `pose_delay` ticks old.
struct Loop {
  CarParameters car = toy::car();
  toy::KinematicCar body;
  toy::Inputs in;
  std::deque<Pose2> poses;
  std::size_t pose_delay = 0;
  double speed_factor = 1.0;
  Command last;
  Pose2 believed_shift;

  explicit Loop(const Pose2& start = {}) {
    body.parameters = car;
    body.pose = start;
    body.delay_ticks = 1;
    in.scan = toy::empty_scan(car, 271);
    std::fill(in.scan.ranges.begin(), in.scan.ranges.end(), 10.0F);
  }
  void sense() {
    in.advance(from_milliseconds(25));
    poses.push_back(body.pose);
    if (poses.size() > pose_delay + 1) poses.pop_front();
    in.odometry.speed_mps = body.speed_mps * speed_factor;
    in.pose.position = poses.front().position() + believed_shift.position();
    in.pose.orientation = to_quaternion(poses.front().yaw);
  }
  [[nodiscard]] Observation observe() {
    Observation obs = in.observe();
    in.pose.stamp = in.now - from_milliseconds(25 * static_cast<std::int64_t>(poses.size() - 1));
    return obs;
  }
  Command tick(Controller& controller) {
    sense();
    last = controller.update(observe());
    body.drive(last, 0.025);
    return last;
  }
};

PurePursuit controller_of(const LineToFollow& line, PurePursuitParameters p = {}) {
  REQUIRE(validate(p, toy::car(), &line).ok());
  return PurePursuit(p, toy::car(), line);
}

Reason reason_after(PurePursuit& controller, Loop& loop, int ticks) {
  for (int k = 0; k < ticks; ++k) loop.tick(controller);
  return loop.last.reason;
}

}  // namespace

TEST_CASE("the packaged parameters are accepted, and every impossible combination is refused with its reason") {
  const LineToFollow line = straight_field(2.0);
  const auto refusal = [&](auto change) {
    PurePursuitParameters p;
    change(p);
    const Status status = validate(p, toy::car(), &line);
    return status.ok() ? std::string() : status.error().message;
  };
  CHECK(refusal([](auto&) {}).empty());
  CHECK(refusal([](auto& p) { p.line.min_speed_mps = 3.0, p.command.max_speed_mps = 2.0; }).find("min_speed_mps") != std::string::npos);
  CHECK(refusal([](auto& p) { p.line.min_lookahead_m = 2.0; }).find("min_lookahead_m 2") != std::string::npos);
  CHECK(refusal([](auto& p) { p.overtake_lookahead_m = 1.2; }).find("overtake_lookahead_m 1.2") != std::string::npos);
  CHECK(refusal([](auto& p) { p.line.lookahead_gain_s = 0.7; }).find("lookahead_gain_s") != std::string::npos);
  CHECK(refusal([](auto& p) { p.command.max_speed_mps = 6.5; }).find("max_speed_mps") != std::string::npos);
  CHECK(refusal([](auto& p) { p.overtake.trigger_gap_m = 11.0; }).find("trigger_gap_m") != std::string::npos);
  CHECK(refusal([](auto& p) { p.overtake.body_gap_m = 0.1; }).find("body_gap_m") != std::string::npos);
  CHECK(validate(PurePursuitParameters{}, toy::car(), nullptr).error().message.find("needs a line") != std::string::npos);
  LineToFollow short_of_speeds = line;
  short_of_speeds.speed_mps.pop_back();
  CHECK(validate(PurePursuitParameters{}, toy::car(), &short_of_speeds).error().message.find("80 speeds") != std::string::npos);
  LineToFollow bad = line;
  bad.speed_mps[3] = NAN;
  CHECK(validate(PurePursuitParameters{}, toy::car(), &bad).error().message.find("point 3") != std::string::npos);
}

TEST_CASE("on a circle it settles on atan(L / R), for three wheelbases") {
  std::vector<Vec2> points;
  for (int i = 0; i < 400; ++i) points.push_back(4.0 * unit_vector(2.0 * math::kPi * i / 400));
  const LineToFollow line = field_line(points, true, 1.5);
  for (const double wheelbase : {0.28, 0.36, 0.45}) {
    Loop loop({4.0, 0.0, 0.5 * math::kPi});
    loop.car.wheelbase_m = loop.body.parameters.wheelbase_m = wheelbase;
    PurePursuit controller({}, loop.car, line);
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
  PurePursuit left({}, car, line);
  PurePursuit right({}, car, mirror);
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
    PurePursuit controller = controller_of(line);
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
  PurePursuit controller = controller_of(line);
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
  for (const double d : {1.1, -1.1}) {
    PurePursuit controller = controller_of(line);
    controller.reset({});
    Loop loop({5.0, d, 0.0});
    CHECK(reason_after(controller, loop, 3) == Reason::kOffLine);
    CHECK(loop.last.speed_mps == 0.0F);
  }
  PurePursuit controller = controller_of(line);
  controller.reset({});
  Loop loop({5.0, 0.9, 0.0});
  CHECK(reason_after(controller, loop, 3) == Reason::kDrive);
}

TEST_CASE("a car that faces against the line does not move") {
  const LineToFollow line = straight_field(2.0);
  PurePursuit controller = controller_of(line);
  controller.reset({});
  Loop loop({5.0, 0.0, math::kPi});
  CHECK(reason_after(controller, loop, 3) == Reason::kOffLine);
}

TEST_CASE("a localiser that jumps along the line is followed, one that jumps away from it stops the car") {
  const LineToFollow line = straight_field(2.0);
  PurePursuit controller = controller_of(line);
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
    PurePursuitParameters p;
    p.line.min_speed_mps = 0.5;
    const LineToFollow line = straight_field(speed, 15.0);
    PurePursuit controller = controller_of(line, p);
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
  PurePursuitParameters p;
  p.line.min_speed_mps = 3.0;
  p.command.max_lateral_accel_mps2 = 1.0;
  PurePursuit controller = controller_of(line, p);
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
  PurePursuit controller({}, loop.car, line);
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
  PurePursuit controller = controller_of(line);
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
  PurePursuit controller = controller_of(line);
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
  PurePursuit controller({}, car, track.line);
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

TEST_CASE("between mapped walls nothing is avoided and nothing stops, near ones included") {
  // 0.36 m from the wall: 0.2 m beside the body.
  const toy::StraightTrack track(2.2, -0.74);
  const CarParameters car = toy::car();
  PurePursuit controller({}, car, track.line);
  controller.reset({});
  Loop loop({4.0, -0.74, 0.0});
  const Rng noise(5, "scan");
  for (int k = 0; k < 200; ++k) {
    loop.in.scan = track.look(car, loop.body.pose, {});
    for (std::size_t i = 0; i < loop.in.scan.ranges.size(); ++i) {
      loop.in.scan.ranges[i] += static_cast<float>(0.01 * noise.normal(static_cast<std::uint64_t>(k), static_cast<std::uint32_t>(i)));
    }
    CHECK(loop.tick(controller).reason == Reason::kDrive);
  }
  CHECK(loop.body.speed_mps > 3.5);
}

TEST_CASE("an unmapped wall across the track stops the car short of it") {
  const toy::StraightTrack track;
  const CarParameters car = toy::car();
  PurePursuit controller({}, car, track.line);
  controller.reset({});
  Loop loop({4.0, 0.0, 0.0});
  const std::vector<toy::Wall> wall{{{20.0, -1.1}, {20.0, 1.1}}};
  for (int k = 0; k < 600; ++k) {
    loop.in.scan = track.look(car, loop.body.pose, {}, wall);
    loop.tick(controller);
    REQUIRE_FALSE(toy::touches(car, wall, loop.body.pose));
  }
  CHECK(loop.body.speed_mps < 0.05);
  CHECK(loop.body.pose.x > 17.0);
  CHECK(is_stop(loop.last.reason));
}

TEST_CASE("a wide unmapped obstacle beside the line is steered around slowly, and not with avoidance switched off") {
  const toy::StraightTrack track(3.0);
  const CarParameters car = toy::car();
  // As wide as no car: from the left wall to just over the line.
  const std::vector<toy::Wall> obstacle{{{20.0, -0.10}, {20.0, 1.5}}};
  for (const bool enable : {true, false}) {
    PurePursuitParameters p;
    p.enable_avoidance = enable;
    PurePursuit controller(p, car, track.line);
    controller.reset({});
    Loop loop({14.0, 0.0, 0.0});
    bool avoided = false;
    bool touched = false;
    for (int k = 0; k < 400 && !touched; ++k) {
      loop.in.scan = track.look(car, loop.body.pose, {}, obstacle);
      const Command c = loop.tick(controller);
      if (c.reason == Reason::kAvoid) {
        avoided = true;
        CHECK(c.speed_mps <= 1.0F);
      }
      touched = toy::touches(car, obstacle, loop.body.pose);
    }
    CHECK(avoided == enable);
    CHECK_FALSE(touched);
  }
}

TEST_CASE("a slower car is passed on the straight without contact, and counted") {
  const toy::StraightTrack track;
  const CarParameters car = toy::car();
  PurePursuit controller({}, car, track.line);
  controller.reset({});
  Loop loop({4.0, 0.0, 0.0});
  double other = 9.0;
  const auto centre = [&] { return loop.body.pose.x + 0.5 * car.wheelbase_m; };
  bool overtaking = false;
  while (centre() < 50.0 && loop.in.now < Time{} + from_seconds(60.0)) {
    const Pose2 T_other = toy::centred_at(car, other, 0.0);
    loop.in.scan = track.look(car, loop.body.pose, {T_other});
    loop.tick(controller);
    overtaking = overtaking || loop.last.reason == Reason::kOvertake;
    toy::Walls body;
    const BodyRectangle b = car.chassis();
    toy::add_polyline(body,
                      {T_other * Vec2{b.front_m, b.half_width_m}, T_other * Vec2{b.rear_m, b.half_width_m},
                       T_other * Vec2{b.rear_m, -b.half_width_m}, T_other * Vec2{b.front_m, -b.half_width_m}},
                      true);
    REQUIRE_FALSE(toy::touches(car, body, loop.body.pose));
    other += 1.5 * 0.025;
  }
  CHECK(overtaking);
  CHECK(centre() - other > 1.0);
  for (const auto& [name, value] : controller.counters()) {
    if (name == "overtake_starts" || name == "completed_passes") CHECK(value == 1.0);
    if (name == "declined_overtakes" || name == "avoid_steps") CHECK(value == 0.0);
    if (name == "detection_steps") CHECK(value > 20.0);
    if (name == "last_pass_side") CHECK(std::abs(value) == 1.0);
    if (name == "overtake_active") CHECK(value == 0.0);
  }
}

TEST_CASE("in a corridor too narrow to pass, a slower car is followed at its speed") {
  const toy::StraightTrack track(1.5);
  const CarParameters car = toy::car();
  PurePursuit controller({}, car, track.line);
  controller.reset({});
  Loop loop({4.0, 0.0, 0.0});
  double other = 9.0;
  for (int k = 0; k < 40 * 15; ++k) {
    loop.in.scan = track.look(car, loop.body.pose, {toy::centred_at(car, other, 0.0)});
    loop.tick(controller);
    other += 1.5 * 0.025;
    REQUIRE(other - loop.body.pose.x - 0.5 * car.wheelbase_m > car.length_m + 0.2);
  }
  CHECK(loop.body.speed_mps == doctest::Approx(1.5).epsilon(0.1));
  CHECK(loop.last.reason == Reason::kFollow);
  CHECK(other - loop.body.pose.x < 2.5);
}

TEST_CASE("the scripted opponent keeps its commanded speed, brakes for what stands on its line, and steers around nothing") {
  const toy::StraightTrack track;
  const CarParameters car = toy::car();
  LineFollower follower({}, car, track.line);
  follower.reset({});
  Loop loop({4.0, 0.0, 0.0});
  double top = 0.0;
  for (int k = 0; k < 600; ++k) {
    loop.in.scan = track.look(car, loop.body.pose, {toy::centred_at(car, 20.0, 0.1)});
    loop.tick(follower);
    top = std::max(top, loop.body.speed_mps);
    CHECK(std::abs(loop.body.pose.y) < 0.02);
  }
  CHECK(top == doctest::Approx(2.0).epsilon(0.01));
  CHECK(loop.body.speed_mps < 0.02);
  const double gap = 20.0 - 0.5 * car.body_length_m - (loop.body.pose.x + car.padded_body().front_m);
  CHECK(gap > 0.2);
  CHECK(gap < 0.7);
}

TEST_CASE("the scripted opponent is not stopped by what stands beside its line") {
  const toy::StraightTrack track;
  const CarParameters car = toy::car();
  LineFollower follower({}, car, track.line);
  follower.reset({});
  Loop loop({4.0, 0.0, 0.0});
  for (int k = 0; k < 480; ++k) {
    loop.in.scan = track.look(car, loop.body.pose, {toy::centred_at(car, 20.0, 0.6)});
    loop.tick(follower);
  }
  CHECK(loop.body.pose.x > 24.0);
}

TEST_CASE("the swept arc holds what lies ahead within the band, straight and in a turn") {
  const CarParameters car = toy::car();
  ScanView scan(car);
  scan.reset();
  const auto with = [&](Vec2 from, Vec2 to) { REQUIRE(scan.update(toy::look(car, {{from, to}}, {}, 1081))); };
  with({2.0, -0.2}, {2.0, 0.2});
  CHECK(swept_clearance(scan, car.wheelbase_m, 0.0, 0.16).value_m == doctest::Approx(2.0 - car.padded_body().front_m).epsilon(0.01));
  CHECK(std::isinf(swept_clearance(scan, car.wheelbase_m, 0.3, 0.16).value_m));
  with({1.5, 0.8}, {1.7, 0.8});
  CHECK(std::isinf(swept_clearance(scan, car.wheelbase_m, 0.0, 0.16).value_m));
  const double radius = (1.6 * 1.6 + 0.8 * 0.8) / (2.0 * 0.8);
  CHECK(swept_clearance(scan, car.wheelbase_m, math::atan(car.wheelbase_m / radius), 0.16).value_m < 1.6);
  with({-1.0, -0.2}, {-1.0, 0.2});
  CHECK(std::isinf(swept_clearance(scan, car.wheelbase_m, 0.0, 0.16).value_m));
}
