// SPDX-License-Identifier: Apache-2.0
#include "controllers/pose_filter.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/rng.hpp"
#include "tests/support/toy_world.hpp"

using namespace pitwall;
using namespace pitwall::controllers;

namespace {
Time at_ms(std::int64_t ms) { return Time{} + from_milliseconds(1000 + ms); }
}  // namespace

TEST_CASE("a late pose is taken in at its own time and brought forward by the measured speed") {
  PoseFilter filter(toy::car());
  filter.observe(at_ms(0), {0.0, 0.0, 0.0});
  // 2 m/s along x; every pose arrives 50 ms late and exact.
  for (int k = 1; k <= 80; ++k) {
    filter.step(at_ms(25 * k), 2.0);
    if (k >= 2) filter.observe(at_ms(25 * (k - 2)), {0.05 * (k - 2), 0.0, 0.0});
  }
  CHECK(filter.now().x == doctest::Approx(0.05 * 80).epsilon(1e-6));
  CHECK(filter.at(at_ms(25 * 78)).x == doctest::Approx(0.05 * 78).epsilon(1e-6));
  CHECK(filter.at(at_ms(25 * 78 + 12)).x == doctest::Approx(2.0 * (25 * 78 + 12) * 1e-3).epsilon(1e-3));
}

TEST_CASE("white noise of the pose is more than halved") {
  PoseFilter filter(toy::car());
  const Rng noise(7, "pose");
  double squared = 0.0;
  double squared_yaw = 0.0;
  filter.observe(at_ms(0), {0.0, 0.0, 0.0});
  for (int k = 1; k <= 2000; ++k) {
    filter.step(at_ms(25 * k), 0.0);
    const auto sample = static_cast<std::uint64_t>(k);
    filter.observe(at_ms(25 * k), {0.02 * noise.normal(sample, 0), 0.02 * noise.normal(sample, 1), 0.01 * noise.normal(sample, 2)});
    squared += filter.now().x * filter.now().x;
    squared_yaw += filter.now().yaw * filter.now().yaw;
  }
  CHECK(std::sqrt(squared / 2000) < 0.010);
  CHECK(std::sqrt(squared_yaw / 2000) < 0.005);
}

TEST_CASE("a pose that jumps is a correction of the localiser and taken over at once") {
  PoseFilter filter(toy::car());
  for (int k = 0; k <= 40; ++k) {
    filter.step(at_ms(25 * k), 0.0);
    filter.observe(at_ms(25 * k), {1.0, 0.0, 0.0});
  }
  filter.step(at_ms(1025), 0.0);
  filter.observe(at_ms(1025), {2.0, 0.0, 0.0});
  CHECK(filter.now().x == doctest::Approx(2.0));
}

TEST_CASE("the commanded steering turns the car after its delay, and a mirrored one turns it the other way") {
  CarParameters car = toy::car();
  car.steering_delay_s = 0.05;
  for (const double side : {1.0, -1.0}) {
    PoseFilter filter(car);
    filter.observe(at_ms(0), {0.0, 0.0, 0.0});
    for (int k = 1; k <= 40; ++k) {
      filter.step(at_ms(25 * k), 1.0);
      filter.commanded(at_ms(25 * k), side * 0.2);
      if (k <= 2) CHECK(filter.steering_rad() == 0.0);
    }
    CHECK(filter.steering_rad() == doctest::Approx(side * 0.2).epsilon(0.01));
    const double expected = side * math::tan(0.2) / car.wheelbase_m * (1.0 - 0.025 - 0.05 - 1.0 / car.steering_servo_gain_per_s);
    CHECK(filter.now().yaw == doctest::Approx(expected).epsilon(0.03));
  }
}

TEST_CASE("after a long pause nothing is believed until the next pose") {
  PoseFilter filter(toy::car());
  filter.observe(at_ms(0), {1.0, 2.0, 0.0});
  filter.step(at_ms(25), 1.0);
  CHECK(filter.ready());
  filter.step(at_ms(900), 1.0);
  CHECK_FALSE(filter.ready());
  filter.observe(at_ms(900), {5.0, 2.0, 0.0});
  CHECK(filter.now().x == doctest::Approx(5.0));
}
