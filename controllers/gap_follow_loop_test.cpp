// SPDX-License-Identifier: Apache-2.0
// gap_follow in closed loop in the toy: corridors, laps, dead ends, drop-outs, random starts. Label scenario.
#include <doctest/doctest.h>

#include <cmath>

#include "controllers/gap_follow.hpp"
#include "tests/support/toy_world.hpp"

using namespace pitwall;
using namespace pitwall::controllers;

namespace {

struct Layout {
  const char* name;
  double half_x, half_y, radius, width;
};

// The indoor layouts of the reference, and one with the 2.2 m of the circuits.
constexpr Layout kLayouts[] = {{"indoor_oval", 5.0, 3.2, 1.8, 1.8},
                               {"indoor_tight", 4.5, 2.6, 1.1, 1.4},
                               {"indoor_wide", 7.0, 4.5, 2.5, 2.6},
                               {"asb_10000", 7.5, 5.5, 1.2, 1.5},
                               {"hairpins", 14.0, 1.6, 1.5, 2.2}};

toy::DriveOptions noisy(double seconds) {
  toy::DriveOptions o;
  o.seconds = seconds;
  o.noise_m = 0.01;
  o.dropout = 0.002;
  o.speed_noise = 0.05;
  return o;
}

toy::KinematicCar start(const CarParameters& car, const Pose2& pose) {
  toy::KinematicCar k;
  k.parameters = car;
  k.pose = pose;
  return k;
}

toy::Walls dead_end(double width) {
  toy::Walls walls = toy::corridor(-20.0, 8.0, width);
  walls.push_back({{8.0, -0.5 * width}, {8.0, 0.5 * width}});
  return walls;
}

}  // namespace

TEST_CASE("it laps corridors of 1.4 to 2.6 m in both directions without contact or stop, noise and drop-outs included") {
  for (const Layout& layout : kLayouts) {
    const toy::Walls walls = toy::ring(layout.half_x, layout.half_y, layout.radius, layout.width);
    for (const double direction : {1.0, -1.0}) {
      CAPTURE(layout.name);
      CAPTURE(direction);
      GapFollow controller({}, toy::car());
      toy::KinematicCar car = start(toy::car(), {0.0, -layout.half_y, direction > 0.0 ? 0.0 : math::kPi});
      const toy::Drive d = toy::drive(controller, car, walls, noisy(35.0));
      CHECK_FALSE(d.contact);
      CHECK(d.stops == 0);
      CHECK(direction * d.turned_rad > 2.0 * math::kPi);
    }
  }
}

TEST_CASE("it reaches its top speed on the straight of a 2.2 m track") {
  GapFollow controller({}, toy::car());
  toy::KinematicCar car = start(toy::car(), {0.0, -1.6, 0.0});
  const toy::Drive d = toy::drive(controller, car, toy::ring(14.0, 1.6, 1.5, 2.2), noisy(10.0));
  CHECK(d.top_speed_mps > 2.45);
  CHECK(d.top_speed_mps < 2.51);
}

TEST_CASE("it tolerates an eighth of a second of delay") {
  CarParameters slow = toy::car();
  slow.speed_delay_s = 0.1;
  slow.steering_delay_s = 0.1;
  slow.lidar_delay_s = 0.025;
  const toy::Walls walls = toy::ring(5.0, 3.2, 1.8, 1.8);
  GapFollow controller({}, slow);
  toy::KinematicCar car = start(slow, {0.0, -3.2, 0.0});
  car.delay_ticks = 5;
  const toy::Drive d = toy::drive(controller, car, walls, noisy(20.0));
  CHECK_FALSE(d.contact);
  CHECK(d.turned_rad > 2.0 * math::kPi);
}

TEST_CASE("it comes to rest in dead ends without touching them") {
  for (const double width : {1.0, 1.4, 2.2, 2.6}) {
    for (const double y : {0.0, 0.15, -0.15}) {
      for (const std::size_t delay : {1, 5}) {
        CAPTURE(width);
        CAPTURE(y);
        CAPTURE(delay);
        CarParameters parameters = toy::car();
        parameters.speed_delay_s = 0.025 * static_cast<double>(delay);
        GapFollow controller({}, parameters);
        toy::KinematicCar car = start(parameters, {0.0, y, 0.0});
        car.delay_ticks = delay;
        const toy::Drive d = toy::drive(controller, car, dead_end(width), noisy(12.0));
        CHECK_FALSE(d.contact);
        CHECK(std::abs(car.speed_mps) < 0.01);
        CHECK(car.pose.x > 5.0);
        CHECK(is_stop(d.last.reason));
      }
    }
  }
}

TEST_CASE("centering converges to the middle of a straight corridor") {
  for (const double y : {0.4, -0.4}) {
    GapFollow controller({}, toy::car());
    toy::KinematicCar car = start(toy::car(), {0.0, y, 0.0});
    toy::DriveOptions options;
    options.seconds = 7.0;
    const toy::Drive d = toy::drive(controller, car, toy::corridor(-30.0, 60.0, 2.2), options);
    CHECK_FALSE(d.contact);
    CHECK(std::abs(car.pose.y) < 0.05);
    CHECK(std::abs(car.pose.yaw) < 0.03);
  }
}

TEST_CASE("it gets going from rest wherever it starts: 50 random starts, completions counted") {
  const toy::Walls walls = toy::ring(7.0, 4.5, 2.5, 2.6);
  const Rng rng(41, "starts");
  int completed = 0;
  for (std::uint64_t k = 0; k < 50; ++k) {
    // On a straight, up to 0.6 m beside its middle and 0.5 rad off its direction.
    const double x = 8.0 * (rng.uniform(k, 0) - 0.5);
    const double y = -4.5 + 1.2 * (rng.uniform(k, 1) - 0.5);
    const double yaw = 1.0 * (rng.uniform(k, 2) - 0.5);
    GapFollow controller({}, toy::car());
    toy::KinematicCar car = start(toy::car(), {x, y, yaw});
    toy::DriveOptions options = noisy(6.0);
    options.beams = 181;
    options.seed = k;
    const toy::Drive d = toy::drive(controller, car, walls, options);
    completed += !d.contact && d.distance_m > 9.0 ? 1 : 0;
  }
  MESSAGE("completed " << completed << " of 50 random starts");
  CHECK(completed == 50);
}

TEST_CASE("one beam in twenty without return does not stop it") {
  GapFollow controller({}, toy::car());
  toy::KinematicCar car = start(toy::car(), {0.0, -3.2, 0.0});
  toy::DriveOptions options = noisy(18.0);
  options.dropout = 0.05;
  const toy::Drive d = toy::drive(controller, car, toy::ring(5.0, 3.2, 1.8, 1.8), options);
  CHECK_FALSE(d.contact);
  CHECK(d.turned_rad > 2.0 * math::kPi);
}

TEST_CASE("a mirrored world is driven in the mirror") {
  GapFollow a({}, toy::car());
  GapFollow b({}, toy::mirrored(toy::car()));
  toy::KinematicCar left = start(toy::car(), {0.0, -3.1, 0.02});
  toy::KinematicCar right = start(toy::mirrored(toy::car()), {0.0, 3.1, -0.02});
  toy::Walls walls = toy::ring(5.0, 3.2, 1.8, 1.8);
  toy::DriveOptions options;
  options.seconds = 10.0;
  toy::drive(a, left, walls, options);
  for (toy::Wall& wall : walls) wall = {{wall.a.x, -wall.a.y}, {wall.b.x, -wall.b.y}};
  toy::drive(b, right, walls, options);
  CHECK(left.pose.x == doctest::Approx(right.pose.x).epsilon(1e-6));
  CHECK(left.pose.y == doctest::Approx(-right.pose.y).epsilon(1e-6));
  CHECK(left.pose.yaw == doctest::Approx(-right.pose.yaw).epsilon(1e-6));
}
