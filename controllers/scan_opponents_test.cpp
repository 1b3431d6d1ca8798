// SPDX-License-Identifier: Apache-2.0
#include "controllers/scan_opponents.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "controllers/gap_follow.hpp"
#include "tests/support/allocation_guard.hpp"
#include "tests/support/toy_world.hpp"

using namespace pitwall;
using namespace pitwall::controllers;

namespace {

/// A corridor along x with a car-sized box whose middle is at (x, y).
toy::Walls with_box(double x, double y, double width_m = 3.0) {
  toy::Walls walls = toy::corridor(-20.0, 60.0, width_m);
  toy::add_polyline(walls, {{x - 0.28, y - 0.15}, {x + 0.28, y - 0.15}, {x + 0.28, y + 0.15}, {x - 0.28, y + 0.15}}, true);
  return walls;
}

/// A car drives at `ego` m/s, turned by `yaw` against its odometry's x axis, behind a box that starts `gap` m ahead and moves at `box`.
struct Scene {
  double ego = 2.0;
  double box = 1.5;
  double gap = 3.0;
  double lateral = 0.0;
  double t = 0.0;
  [[nodiscard]] LaserScan look() const { return toy::look(toy::car(), with_box(gap + box * t, lateral), {ego * t, 0.0, 0.0}, 1081); }
};

ScanView seen(const LaserScan& scan) {
  ScanView view(toy::car());
  view.reset();
  REQUIRE(view.update(scan));
  return view;
}

}  // namespace

TEST_CASE("a car ahead is found once it has moved for a while, with its velocity over ground in our frame") {
  for (const double yaw : {0.0, 2.0}) {
    ScanOpponents opponents({});
    opponents.reset();
    Scene scene;
    for (int k = 0; k < 60; ++k) {
      scene.t = 0.025 * k;
      // The odometry's frame is turned: nothing may depend on it.
      const Vec2 p = rotate(yaw, {scene.ego * scene.t, 0.0});
      opponents.observe(seen(scene.look()), {p.x, p.y, yaw}, Time{} + from_seconds(scene.t), 0.5 * math::kPi);
      if (k < 6) CHECK(opponents.moving().empty());
    }
    REQUIRE(opponents.moving().size() == 1);
    const MovingThing& car = opponents.moving()[0];
    CHECK(std::abs(car.velocity_base.x - 1.5) < 0.15);
    CHECK(std::abs(car.velocity_base.y) < 0.1);
    CHECK(car.id == 1);
    const ScanView view = seen(scene.look());
    const double ahead = scene.gap + scene.box * scene.t - 0.28 - scene.ego * scene.t;
    for (std::size_t i = car.first_beam; i <= car.last_beam; ++i) CHECK(std::abs(view.point_base(i).x - ahead) < 0.6);
  }
}

TEST_CASE("what stands, however we move, is a wall") {
  ScanOpponents opponents({});
  opponents.reset();
  Scene scene;
  scene.box = 0.0;
  scene.gap = 6.0;
  for (int k = 0; k < 80; ++k) {
    scene.t = 0.025 * k;
    opponents.observe(seen(scene.look()), {scene.ego * scene.t, 0.0, 0.0}, Time{} + from_seconds(scene.t), 0.5 * math::kPi);
    CHECK(opponents.moving().empty());
  }
}

TEST_CASE("a box against the wall, a wide one and a far one are no cars") {
  const auto clusters = [](double x, double y) {
    ScanOpponents opponents({});
    opponents.reset();
    for (int k = 0; k < 40; ++k) {
      const double t = 0.025 * k;
      opponents.observe(seen(toy::look(toy::car(), with_box(x + 1.5 * t, y), {2.0 * t, 0.0, 0.0}, 1081)), {2.0 * t, 0.0, 0.0},
                        Time{} + from_seconds(t), 0.5 * math::kPi);
    }
    return opponents.moving().size();
  };
  CHECK(clusters(3.0, 0.0) == 1);
  CHECK(clusters(3.0, 1.33) == 0);
  CHECK(clusters(9.0, 0.0) == 0);
}

namespace {

/// Commands of gap_follow behind the car of a scene; the scene moves by itself, the ego as commanded.
struct Follow {
  GapFollowParameters p;
  double least_gap_m = 1e9;
  std::vector<Command> commands;

  void run(const Scene& scene, double seconds) {
    GapFollow controller(p, toy::car());
    controller.reset({});
    toy::KinematicCar body;
    body.parameters = toy::car();
    body.delay_ticks = 1;
    body.speed_mps = scene.ego;
    toy::Inputs in;
    for (int k = 0; k < static_cast<int>(seconds / 0.025); ++k) {
      const double box = scene.gap + scene.box * 0.025 * k;
      in.advance(from_milliseconds(25));
      in.scan = toy::look(toy::car(), with_box(box, scene.lateral, 0.9), body.pose, 1081);
      in.odometry.speed_mps = body.speed_mps;
      in.odometry.position = body.pose.position();
      in.odometry.orientation = to_quaternion(body.pose.yaw);
      commands.push_back(controller.update(in.observe()));
      body.drive(commands.back(), 0.025);
      least_gap_m = std::min(least_gap_m, box - 0.28 - (body.pose.x + toy::car().padded_body().front_m));
    }
  }
  [[nodiscard]] int stops() const {
    return static_cast<int>(std::count_if(commands.begin(), commands.end(), [](const Command& c) { return c.speed_mps == 0.0F; }));
  }
};

}  // namespace

TEST_CASE(
    "in a corridor too narrow to pass, awareness follows a slower car without stopping, and without it the car stops again and again") {
  Scene scene;
  scene.ego = 1.5;
  scene.box = 0.8;
  scene.gap = 4.0;
  Follow aware;
  aware.p.enable_opponent_awareness = true;
  aware.run(scene, 20.0);
  CHECK(aware.least_gap_m > 0.5);
  CHECK(std::abs(aware.commands.back().speed_mps - 0.8F) < 0.1F);
  CHECK(aware.stops() == 0);
  Follow blind;
  blind.run(scene, 20.0);
  CHECK(blind.least_gap_m > 0.0);
  CHECK(blind.stops() > 50);
}

TEST_CASE("awareness that has nothing to follow changes no bit of any command") {
  // A standing box, an empty corridor, and a car that comes towards us.
  for (const Scene& scene : {Scene{1.5, 0.0, 8.0, 0.0, 0.0}, Scene{1.5, 0.0, 500.0, 0.0, 0.0}, Scene{1.0, -1.0, 14.0, 0.0, 0.0}}) {
    Follow aware;
    aware.p.enable_opponent_awareness = true;
    aware.run(scene, 4.0);
    Follow blind;
    blind.run(scene, 4.0);
    REQUIRE(aware.commands.size() == blind.commands.size());
    for (std::size_t k = 0; k < aware.commands.size(); ++k) {
      CHECK(aware.commands[k].steering_angle_rad == blind.commands[k].steering_angle_rad);
      CHECK(aware.commands[k].speed_mps == blind.commands[k].speed_mps);
    }
  }
}

TEST_CASE("a car ahead that brakes hard is a stop before it is a contact") {
  GapFollowParameters p;
  p.enable_opponent_awareness = true;
  GapFollow controller(p, toy::car());
  controller.reset({});
  toy::KinematicCar body;
  body.parameters = toy::car();
  body.delay_ticks = 1;
  body.speed_mps = 1.5;
  toy::Inputs in;
  double box = 2.5;
  double box_speed = 1.5;
  double least = 1e9;
  for (int k = 0; k < 200; ++k) {
    if (k > 60) box_speed = std::max(0.0, box_speed - 4.0 * 0.025);
    box += box_speed * 0.025;
    in.advance(from_milliseconds(25));
    in.scan = toy::look(toy::car(), with_box(box, 0.0, 0.9), body.pose, 1081);
    in.odometry.speed_mps = body.speed_mps;
    in.odometry.position = body.pose.position();
    in.odometry.orientation = to_quaternion(body.pose.yaw);
    body.drive(controller.update(in.observe()), 0.025);
    least = std::min(least, box - 0.28 - (body.pose.x + toy::car().padded_body().front_m));
  }
  CHECK(least > 0.05);
}

TEST_CASE("awareness allocates nothing") {
  GapFollowParameters p;
  p.enable_opponent_awareness = true;
  GapFollow controller(p, toy::car());
  controller.reset({});
  toy::Inputs in;
  Scene scene;
  for (int k = 0; k < 40; ++k) {
    scene.t = 0.025 * k;
    in.advance(from_milliseconds(25));
    in.scan = scene.look();
    in.odometry.speed_mps = scene.ego;
    in.odometry.position = {scene.ego * scene.t, 0.0};
    const Observation obs = in.observe();
    const AllocationGuard guard;
    controller.update(obs);
    CHECK(guard.count() == 0);
  }
}

TEST_CASE("time to collision in a narrow band: a scene that stops with the wide one and not with this one") {
  // A post 0.27 m beside the way of the car, passed at 2 m/s: outside half the car and 5 cm, inside half the car and 18 cm.
  toy::Walls walls = toy::corridor(-20.0, 60.0, 3.0);
  toy::add_polyline(walls, {{1.0, 0.25}, {1.2, 0.25}, {1.2, 0.45}, {1.0, 0.45}}, true);
  const auto reason = [&](double margin) {
    GapFollowParameters p;
    p.safety.ttc_path_margin_m = margin;
    GapFollow controller(p, toy::car());
    controller.reset({});
    toy::Inputs in;
    in.advance(from_milliseconds(25));
    in.scan = toy::look(toy::car(), walls, {0.0, 0.0, 0.0}, 1081);
    in.odometry.speed_mps = 2.0;
    return controller.update(in.observe()).reason;
  };
  CHECK(GapFollowParameters{}.safety.ttc_path_margin_m == 0.05);
  CHECK(reason(0.18) == Reason::kTtcBrake);
  CHECK(reason(0.05) != Reason::kTtcBrake);
}
