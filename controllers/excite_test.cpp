// SPDX-License-Identifier: Apache-2.0
#include "controllers/excite.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/text.hpp"
#include "tests/support/allocation_guard.hpp"
#include "tests/support/toy_world.hpp"

using namespace pitwall;
using namespace pitwall::controllers;

namespace {

/// How far the padded body is within the area; negative: outside.
double room_m(const ExciteArea& area, const CarParameters& car, const Pose2& T_frame_base) {
  const BodyRectangle body = car.padded_body();
  const Pose2 T_area_base = inverse(area.T_frame_area()) * T_frame_base;
  double room = 1e9;
  for (const double x : {body.front_m, body.rear_m}) {
    for (const double y : {body.half_width_m, -body.half_width_m}) {
      const Vec2 p = T_area_base * Vec2{x, y};
      room = std::min({room, 0.5 * area.length_m - std::abs(p.x), 0.5 * area.width_m - std::abs(p.y)});
    }
  }
  return room;
}

/// The controller in a loop with a kinematic car, which has no grip to lose.
struct Drive {
  ExciteParameters p;
  CarParameters car = toy::car();
  Excite controller;
  toy::KinematicCar body;
  toy::Inputs in;
  Command last;
  double least_room_m = 1e9;

  explicit Drive(const ExciteParameters& parameters = {}) : p(parameters), controller(parameters, toy::car()) {
    body.parameters = car;
    body.delay_ticks = 2;
    body.pose = p.area.T_frame_area() * Pose2{0.0, -controller.plan().radius_m, 0.0};
    controller.reset({});
  }
  void sense() {
    in.advance(from_milliseconds(25));
    in.odometry.speed_mps = body.speed_mps;
    in.odometry.position = in.pose.position = body.pose.position();
    in.odometry.orientation = in.pose.orientation = to_quaternion(body.pose.yaw);
  }
  Command answer(const Observation& obs) {
    last = controller.update(obs);
    body.drive(last, 0.025);
    least_room_m = std::min(least_room_m, room_m(p.area, car, body.pose));
    return last;
  }
  Command tick() {
    sense();
    return answer(in.observe());
  }
  void run(int ticks) {
    for (int k = 0; k < ticks; ++k) tick();
  }
};

Reason reason_with(void (*spoil)(Observation&)) {
  Drive drive;
  drive.run(80);
  drive.sense();
  Observation obs = drive.in.observe();
  spoil(obs);
  const Command command = drive.answer(obs);
  CHECK(command.speed_mps == 0.0F);
  return command.reason;
}

}  // namespace

TEST_CASE("excite: the plan has every excitation, circles and turns both ways, and stays clear of the edge of its area") {
  const ExciteArea area;
  const ExcitePlan plan = plan_excite(area, {}, toy::car()).value();
  std::set<Excitation> seen;
  for (const ExciteStage& stage : plan.stages) seen.insert(stage.excitation);
  CHECK(seen.size() == 7);
  CHECK(plan.stages.back().to_m == doctest::Approx(plan.path.length_m()).epsilon(1e-4));
  double left = 0.0;
  double right = 0.0;
  double clear = 1e9;
  for (double s = 0.0; s < plan.path.length_m(); s += 0.1) {
    const double turn = plan.path.curvature_at(s) * 0.1;
    (turn > 0.0 ? left : right) += std::abs(turn);
    const Vec2 p = plan.path.point_at(s);
    clear = std::min(clear, room_m(area, toy::car(), {p.x, p.y, plan.path.heading_at(s)}));
  }
  CHECK(left > 6.0 * math::kPi);
  CHECK(right > 6.0 * math::kPi);
  CHECK(clear > area.margin_m + 0.2);
  CHECK(distance(plan.path.points().front(), plan.path.points().back()) < 1e-6);
}

TEST_CASE("excite: a longer time is filled with whole rounds, and a larger area with longer straights") {
  ExciteLimits limits;
  const ExcitePlan one = plan_excite({}, limits, toy::car()).value();
  limits.duration_s = 3.1 * one.expected_s;
  const ExcitePlan three = plan_excite({}, limits, toy::car()).value();
  CHECK(three.stages.size() == 3 * one.stages.size());
  ExciteArea large;
  large.length_m = 14.0;
  const ExcitePlan longer = plan_excite(large, limits, toy::car()).value();
  CHECK(longer.straights.front().sprint_mps > one.straights.front().sprint_mps);
}

TEST_CASE("excite: what does not fit is refused with figures") {
  ExciteParameters p;
  p.area.width_m = 4.0;
  CHECK(contains(validate(p, toy::car()).error().message, "area of 10 m x 4 m"));
  CHECK(contains(validate(p, toy::car()).error().message, "need at least"));
  p = {};
  p.area.length_m = 7.0;
  CHECK(contains(validate(p, toy::car()).error().message, "need at least"));
  p = {};
  p.limits.radius_m = 1.0;
  CHECK(contains(validate(p, toy::car()).error().message, "the car turns within 1.335 m"));
  p = {};
  p.limits.duration_s = 30.0;
  CHECK(contains(validate(p, toy::car()).error().message, "a round takes about"));
}

TEST_CASE("excite: drives all of its plan, keeps to the area, and ends at rest; twice the same") {
  std::vector<Command> first;
  for (int time = 0; time < 2; ++time) {
    Drive drive;
    std::vector<Command> commands;
    for (int k = 0; k < 40 * 200 && drive.last.reason != Reason::kEndOfPath; ++k) commands.push_back(drive.tick());
    CHECK(drive.last.reason == Reason::kEndOfPath);
    CHECK(drive.last.speed_mps == 0.0F);
    CHECK(drive.least_room_m > 0.1);
    CHECK(drive.controller.counters()[1].second == 0.0);
    if (time == 0) {
      first = commands;
      continue;
    }
    CHECK(commands.size() == first.size());
    CHECK(std::equal(commands.begin(), commands.end(), first.begin(), [](const Command& a, const Command& b) {
      return a.steering_angle_rad == b.steering_angle_rad && a.speed_mps == b.speed_mps && a.reason == b.reason;
    }));
  }
}

TEST_CASE("excite: steps reach the wire as steps") {
  Drive drive;
  float before = 0.0F;
  float largest = 0.0F;
  for (int k = 0; k < 400; ++k) {
    const float now = drive.tick().steering_angle_rad;
    largest = std::max(largest, std::abs(now - before));
    before = now;
  }
  CHECK(largest > 0.25F);
}

TEST_CASE("excite: the area may lie and point anywhere, and odometry serves for the pose") {
  ExciteParameters turned;
  turned.area.x_m = 40.0;
  turned.area.y_m = -7.0;
  turned.area.yaw_rad = 2.0;
  ExciteParameters reckoned;
  reckoned.frame = ExciteFrame::kOdometry;
  Drive plain;
  Drive elsewhere(turned);
  Drive odometry(reckoned);
  for (int k = 0; k < 600; ++k) {
    const Command expected = plain.tick();
    const Command there = elsewhere.tick();
    odometry.in.pose.position = {99.0, 99.0};
    odometry.sense();
    Observation obs = odometry.in.observe();
    obs.pose = {};
    const Command by_odometry = odometry.answer(obs);
    REQUIRE(there.steering_angle_rad == doctest::Approx(expected.steering_angle_rad).epsilon(1e-3));
    REQUIRE(there.speed_mps == doctest::Approx(expected.speed_mps).epsilon(1e-3));
    REQUIRE(by_odometry.steering_angle_rad == expected.steering_angle_rad);
  }
}

TEST_CASE("excite: stops while a source is missing, stale or invalid, or the operator lets go, and says why") {
  CHECK(reason_with([](Observation& o) { o.pose = {}; }) == Reason::kPoseMissing);
  CHECK(reason_with([](Observation& o) { o.pose.arrival = o.now - from_milliseconds(600); }) == Reason::kPoseStale);
  CHECK(reason_with([](Observation& o) { o.odometry = {}; }) == Reason::kOdometryMissing);
  CHECK(reason_with([](Observation& o) { o.odometry.arrival = o.now - from_milliseconds(600); }) == Reason::kOdometryStale);
  CHECK(reason_with([](Observation& o) { o.joy = {}; }) == Reason::kWaitingForJoy);
}

TEST_CASE("excite: outside the area it stops for good") {
  Drive drive;
  drive.run(80);
  const Pose2 inside = drive.body.pose;
  drive.body.pose = {inside.x, -2.95, inside.yaw};
  drive.run(40);
  CHECK(drive.last.reason == Reason::kOffLine);
  drive.body.pose = inside;
  drive.run(40);
  CHECK(drive.last.reason == Reason::kOffLine);
  CHECK(drive.last.speed_mps == 0.0F);
}

TEST_CASE("excite: a car that is pushed from its path comes to rest and goes back slowly") {
  ExciteParameters p;
  p.area.width_m = 9.0;
  Drive drive(p);
  drive.run(50);
  drive.body.pose.y += 1.5;
  drive.run(3);
  CHECK(drive.last.reason == Reason::kOffLine);
  drive.run(400);
  CHECK(drive.last.reason == Reason::kDrive);
  CHECK(drive.least_room_m > 0.0);
}

TEST_CASE("excite: never faster than what the area leaves room to stop in") {
  // Pointed at the edge a metre and a half ahead, with a path that asks for more speed.
  ExciteParameters p;
  p.area.margin_m = 0.5;
  Drive drive(p);
  drive.run(100);
  drive.body.pose = {3.6, -1.3, -0.2};
  drive.body.speed_mps = 3.0;
  drive.run(8);
  CHECK(drive.last.reason == Reason::kForwardStop);
  CHECK(drive.last.speed_mps == 0.0F);
}

TEST_CASE("excite: no allocation after reset") {
  Drive drive;
  drive.sense();
  drive.controller.reset({});
  const Observation obs = drive.in.observe();
  drive.controller.update(obs);
  const AllocationGuard guard;
  for (int k = 0; k < 200; ++k) drive.controller.update(obs);
  CHECK(guard.count() == 0);
}
