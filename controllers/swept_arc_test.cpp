// SPDX-License-Identifier: Apache-2.0
#include "controllers/swept_arc.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/straight_track.hpp"

using namespace pitwall;
using namespace pitwall::controllers;
using namespace pitwall::toy;

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
