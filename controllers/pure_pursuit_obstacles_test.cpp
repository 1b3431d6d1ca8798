// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "controllers/pure_pursuit.hpp"
#include "tests/support/pursuit_loop.hpp"

using namespace pitwall;
using namespace pitwall::controllers;
using namespace pitwall::toy;

TEST_CASE("between mapped walls nothing is avoided and nothing stops, near ones included") {
  // 0.36 m from the wall: 0.2 m beside the body.
  const toy::StraightTrack track(2.2, -0.74);
  const CarParameters car = toy::car();
  LineController controller = toy::pursuit({}, car, track.line);
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
  LineController controller = toy::pursuit({}, car, track.line);
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
    LineControllerParameters p;
    p.enable_avoidance = enable;
    LineController controller = toy::pursuit(p, car, track.line);
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
  LineController controller = toy::pursuit({}, car, track.line);
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
  LineController controller = toy::pursuit({}, car, track.line);
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
