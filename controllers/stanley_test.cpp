// SPDX-License-Identifier: Apache-2.0
#include "controllers/stanley.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/allocation_guard.hpp"
#include "tests/support/law_rig.hpp"
#include "tests/support/toy_world.hpp"

using namespace pitwall;
using namespace pitwall::controllers;

namespace {

/// The law as it was published, without what we add.
constexpr StanleyParameters kBare{
    .gain_per_s = 1.6, .softening_mps = 0.4, .heading_gain = 1.0, .heading_delays = 0.0, .delay_aware = false};

std::vector<Vec2> straight_points() { return {{-5.0, 0.0}, {0.0, 0.0}, {5.0, 0.0}, {40.0, 0.0}}; }

double on_straight(const StanleyParameters& p, const Pose2& pose, double v) {
  const LawBench bench(straight_points(), false, toy::car());
  StanleyLaw law(p, bench.setup);
  return law.steer(bench.at(pose, v));
}

}  // namespace

TEST_CASE("stanley on a straight_points line is the published formula at the front axle") {
  // Wheelbase 0.36 m, 0.2 m to the left of the line; figures of the specification, by hand from the formula.
  CHECK(std::abs(on_straight(kBare, {0.0, 0.2, 0.0}, 1.0) - -0.224711) < 1e-6);
  CHECK(std::abs(on_straight(kBare, {0.0, 0.0, 0.1}, 1.0) - -0.141051) < 1e-5);
  CHECK(std::abs(on_straight(kBare, {0.0, 0.2, 0.0}, 3.0) - -0.093841) < 1e-6);
  CHECK(std::abs(on_straight(kBare, {0.0, 0.2, 0.0}, 0.0) - -0.674741) < 1e-6);
}

TEST_CASE("left of the line stanley steers right, in all four directions and mirrored") {
  for (const double heading : {0.0, 0.5 * math::kPi, math::kPi, -0.5 * math::kPi}) {
    const Vec2 way = unit_vector(heading);
    const LawBench bench({{0.0, 0.0}, 10.0 * way, 20.0 * way}, false, toy::car());
    StanleyLaw law({}, bench.setup);
    double answers[2] = {0.0, 0.0};
    for (const double side : {1.0, -1.0}) {
      const Vec2 p = 5.0 * way + side * 0.3 * perpendicular(way);
      answers[side > 0.0 ? 0 : 1] = law.steer(bench.at({p.x, p.y, heading}, 2.0));
    }
    CHECK(answers[0] < -0.05);
    CHECK(std::abs(answers[0] + answers[1]) < 1e-9);
  }
}

TEST_CASE("beyond the last point of an open line the sign of the distance still holds") {
  const LawBench bench({{0.0, 0.0}, {10.0, 0.0}}, false, toy::car());
  StanleyLaw law({}, bench.setup);
  CHECK(law.steer(bench.at({10.2, 0.4, 0.0}, 1.0)) < 0.0);
  CHECK(law.steer(bench.at({10.2, -0.4, 0.0}, 1.0)) > 0.0);
}

TEST_CASE("a heading that crosses +-pi gives no jump of the steering") {
  const LawBench bench({{20.0, 0.0}, {0.0, 0.0}, {-20.0, 0.0}}, false, toy::car());
  StanleyLaw law({}, bench.setup);
  const double below = law.steer(bench.at({5.0, 0.1, math::kPi - 1e-4}, 2.0));
  const double above = law.steer(bench.at({5.0, 0.1, -math::kPi + 1e-4}, 2.0));
  CHECK(std::abs(above - below) < 1e-3);
}

TEST_CASE("from standstill to 1 m/s, half a metre off, stanley neither jumps nor changes its side") {
  double before = 0.0;
  for (int i = 0; i <= 100; ++i) {
    const double v = 0.01 * i;
    const double angle = on_straight({}, {0.0, 0.5, 0.0}, v);
    CHECK(angle < 0.0);
    CHECK(angle > -0.5 * math::kPi);
    // The command stage slews: what counts is that the wish does not jump from tick to tick.
    if (i > 0) CHECK(std::abs(angle - before) < 0.03);
    before = angle;
  }
}

TEST_CASE("on circles stanley has no steady error, slip or none: less than 2 cm from 1 to 4 m/s") {
  for (const double radius : {2.0, 4.0}) {
    for (const double v : {1.0, 2.5, 4.0}) {
      const CarParameters car = toy::car();
      const LawBench bench(circle_points(radius), true, car, 40.0, v);
      StanleyLaw law({}, bench.setup);
      Rig rig(bench.setup, SlipLaw::kLinear, {radius, 0.0, 0.5 * math::kPi}, v);
      double sum = 0.0;
      for (int k = 0; k < 400; ++k) {
        rig.tick(law);
        if (k >= 300) sum += rig.d_m();
      }
      CAPTURE(radius);
      CAPTURE(v);
      CHECK(std::abs(sum / 100.0) < 0.02);
    }
  }
}

TEST_CASE("stanley looks at where the car will be: a turn that is already on its way is not commanded twice") {
  CarParameters car = toy::car();
  car.steering_delay_s = 0.1;
  const LawBench bench(straight_points(), false, car);
  StanleyLaw law({}, bench.setup);
  LawInput in = bench.at({0.0, 0.2, 0.0}, 3.0);
  const double first = law.steer(in);
  const std::array<QueuedSteering, 2> queue{{{Time{}, Time{} + from_seconds(0.03), -0.2}, {Time{}, Time{} + from_seconds(0.08), -0.2}}};
  in.queued = queue;
  CHECK(law.steer(in) > first + 0.05);
  StanleyLaw blind({.delay_aware = false}, bench.setup);
  const double without = blind.steer(bench.at({0.0, 0.2, 0.0}, 3.0));
  CHECK(blind.steer(in) == without);
}

TEST_CASE("stanley follows a line that is shifted on purpose") {
  const CarParameters car = toy::car();
  const LawBench bench(straight_points(), false, car);
  StanleyLaw law({}, bench.setup);
  LawInput in = bench.at({0.0, 0.3, 0.0}, 2.0);
  in.shift = {[](const void*, double) { return 0.3; }, nullptr};
  in.shift_m = 0.3;
  CHECK(std::abs(law.steer(in)) < 1e-9);
}

TEST_CASE("stanley's parameters have ranges") {
  CHECK(validate(StanleyParameters{}, LawSetup{}, "stanley").ok());
  CHECK(validate(StanleyParameters{.gain_per_s = 0.0}, LawSetup{}, "stanley").error().message.find("gain_per_s") != std::string::npos);
  CHECK_FALSE(validate(StanleyParameters{.softening_mps = 0.0}, LawSetup{}, "stanley").ok());
}
