// SPDX-License-Identifier: Apache-2.0
#include "controllers/map_law.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/law_rig.hpp"
#include "tests/support/toy_world.hpp"

using namespace pitwall;
using namespace pitwall::controllers;

namespace {

/// Two speeds, three accelerations; the slip grows with both, the peak of the fast row is 4 m/s^2.
SteeringTable small_table() { return {{1.0, 3.0}, {0.0, 2.0, 4.0}, {0.0, 0.02, 0.06, 0.0, 0.04, 0.10}, {1e9, 4.0}}; }

}  // namespace

TEST_CASE("the steering table is read bilinearly, on top of the kinematic angle") {
  const SteeringTable t = small_table();
  const auto slip = [&](double v, double a) { return steady_steering(t, 0.36, v, a / (v * v)) - math::atan(0.36 * a / (v * v)); };
  CHECK(std::abs(slip(1.0, 2.0) - 0.02) < 1e-12);
  CHECK(std::abs(slip(3.0, 1.0) - 0.02) < 1e-12);
  CHECK(std::abs(slip(2.0, 2.0) - 0.03) < 1e-12);
  CHECK(std::abs(slip(2.0, 3.0) - 0.055) < 1e-12);
  // Beyond the speeds of the table its last row.
  CHECK(std::abs(slip(5.0, 2.0) - 0.04) < 1e-12);
}

TEST_CASE("the table is odd, rises up to the peak of the tyres, and ends there") {
  const SteeringTable t = small_table();
  double before = -1.0;
  for (int i = 0; i <= 60; ++i) {
    const double kappa = 0.01 * i;
    const double angle = steady_steering(t, 0.36, 3.0, kappa);
    CHECK(steady_steering(t, 0.36, 3.0, -kappa) == -angle);
    if (9.0 * kappa < 4.0) CHECK(angle > before);
    if (9.0 * kappa > 4.0 + 1e-9) CHECK(std::abs(angle - (math::atan(0.36 * 4.0 / 9.0) + 0.10)) < 1e-12);
    before = angle;
  }
}

TEST_CASE("at standstill the law still steers along the arc") {
  const SteeringTable t = small_table();
  CHECK(std::abs(steady_steering(t, 0.36, 0.0, 0.5) - math::atan(0.18)) < 1e-12);
}

TEST_CASE("with a table without slip map is pure pursuit; with slip it steers more into the turn, never to the other side") {
  const LawBench bench(circle_points(3.0), true, toy::car());
  LawSetup setup = bench.setup;
  SteeringTable none = small_table();
  std::fill(none.slip_rad.begin(), none.slip_rad.end(), 0.0);
  none.peak_mps2 = {1e9, 1e9};
  const SteeringTable slips = small_table();
  PurePursuitLaw pursuit({}, setup);
  setup.table = &none;
  MapLaw plain({}, setup);
  setup.table = &slips;
  MapLaw slipping({}, setup);
  for (const double out : {-0.4, 0.0, 0.3}) {
    const LawInput in = bench.at({3.0 + out, 0.0, 0.5 * math::kPi}, 2.0);
    CHECK(std::abs(plain.steer(in) - pursuit.steer(in)) < 1e-12);
    CHECK(std::abs(slipping.steer(in)) >= std::abs(pursuit.steer(in)));
    CHECK(slipping.steer(in) * pursuit.steer(in) >= 0.0);
  }
}

TEST_CASE("map without a table, or with one that does not fit, is refused by name") {
  const LawBench bench(circle_points(3.0), true, toy::car());
  LawSetup setup = bench.setup;
  CHECK(validate(MapParameters{}, setup, "map").error().message.find("needs the steering table") != std::string::npos);
  const auto refusal = [&](auto change) {
    SteeringTable t = small_table();
    change(t);
    setup.table = &t;
    const Status status = validate(MapParameters{}, setup, "map");
    return status.ok() ? std::string() : status.error().message;
  };
  CHECK(refusal([](auto&) {}).empty());
  CHECK(refusal([](auto& t) { t.slip_rad.pop_back(); }).find("5 angles") != std::string::npos);
  CHECK(refusal([](auto& t) { t.speed_mps = {3.0, 1.0}; }).find("must rise") != std::string::npos);
  CHECK(refusal([](auto& t) { t.lateral_mps2[0] = 0.5; }).find("from 0") != std::string::npos);
  CHECK(refusal([](auto& t) { t.slip_rad[2] = NAN; }).find("not finite") != std::string::npos);
  CHECK(refusal([](auto& t) { t.peak_mps2[0] = 0.0; }).find("peak") != std::string::npos);
}
