// SPDX-License-Identifier: Apache-2.0
#include "scenarios/measured_car.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include "calibration/car_profile.hpp"
#include "scenarios/scenario.hpp"
#include "tests/support/source_dir.hpp"

namespace pitwall::scenarios {
namespace {

const std::filesystem::path kSource = source_dir();

std::vector<NamedScenario> suite() { return load_suite(kSource / "scenarios/suites/measured_car.yaml", {}).value(); }

CarParameters measured_rb2() {
  CarParameters car = calibration::load_car("rb2", kSource / "calibration/cars").value().parameters;
  REQUIRE(load_fields(suite().front().scenario.car_parameters, "car_parameters", car).ok());
  return car;
}

}  // namespace

TEST_CASE("on its own floor the simulated car answers as the real one was measured to, each figure within a tenth") {
  const auto figures = measure_likeness(measured_rb2(), suite().front().scenario.world.surface_friction, "rb2");
  REQUIRE(figures);
  CHECK(figures->size() == 7);
  for (const Likeness& figure : *figures) {
    CAPTURE(figure.name);
    CHECK(figure.samples > 300);
    CHECK(figure.passed());
  }
}

TEST_CASE("the cars that were fitted from logs steer as late as they were measured to") {
  for (const char* name : {"f1tenth_ini", "frictionmaps"}) {
    CAPTURE(name);
    CHECK(was_measured(name));
    const CarParameters car = calibration::load_car(name, kSource / "calibration/cars").value().parameters;
    const auto figures = measure_likeness(car, car.surface_friction, name);
    REQUIRE(figures);
    CHECK_FALSE(figures->empty());
    for (const Likeness& figure : *figures) {
      CAPTURE(figure.name);
      CHECK(figure.passed());
    }
  }
  CHECK_FALSE(was_measured("f1tenth"));
}

TEST_CASE("each figure moves when what causes it is changed") {
  const auto figure = [](const CarParameters& car, double friction, std::size_t i) {
    return (*measure_likeness(car, friction, "rb2")).at(i).simulated;
  };
  const CarParameters car = measured_rb2();
  const auto before = measure_likeness(car, 0.32, "rb2").value();
  CarParameters changed = car;
  changed.speed_delay_s += 0.05;
  CHECK(figure(changed, 0.32, 0) == doctest::Approx(before[0].simulated + 0.05).epsilon(0.03));
  changed = car;
  changed.steering_delay_s += 0.05;
  CHECK(figure(changed, 0.32, 1) == doctest::Approx(before[1].simulated + 0.05).epsilon(0.05));
  changed = car;
  changed.steering_gain *= 0.8;
  CHECK(figure(changed, 0.32, 2) < 0.9 * before[2].simulated);
  CHECK(figure(changed, 0.32, 3) < 0.9 * before[3].simulated);
  CHECK(figure(car, 0.7, 4) > 0.9);
  changed = car;
  changed.odometry_scale = 0.8;
  CHECK(figure(changed, 0.32, 5) == doctest::Approx(before[5].simulated * 0.8 / car.odometry_scale));
  CHECK(before[6].simulated < before[5].simulated);
}

TEST_CASE("what the suite's controllers ask of the floor is at most 0.9 mu g") {
  for (const NamedScenario& named : suite()) {
    const Scenario& s = named.scenario;
    // A fitted car drives on the floor of its profile.
    const CarParameters profile = calibration::load_car(s.car, kSource / "calibration/cars").value().parameters;
    const double friction = s.world.surface_friction > 0 ? s.world.surface_friction : profile.surface_friction;
    const double most = 0.9 * friction * 9.81;
    CHECK(s.speed.lateral_mps2 <= most);
    CHECK(s.speed.brake_mps2 <= most);
    CHECK(s.speed.accelerate_mps2 <= most);
    for (const Node& parameters : s.controllers) {
      for (const char* key :
           {"max_lateral_accel_mps2", "max_acceleration_mps2", "max_braking_decel_mps2", "stopping_decel_mps2", "end_decel_mps2"}) {
        if (const Node* value = parameters.find(key)) CHECK(std::stod(value->scalar) <= most);
      }
    }
  }
}

}  // namespace pitwall::scenarios
