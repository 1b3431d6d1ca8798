// SPDX-License-Identifier: Apache-2.0
#include "plant/steady_turn.hpp"

#include <doctest/doctest.h>

#include "plant/test_car.hpp"

using namespace pitwall;
using namespace pitwall::plant;

namespace {

/// The car after it has turned at this angle and speed for a while.
Plant settled(const CarParameters& car, const Options& options, double friction, double steering, double speed) {
  Plant plant = testing::make(car, options, friction);
  Time now;
  for (int i = 0; i < 1200; ++i) {
    testing::command(plant, steering, speed, now);
    plant.step(now, testing::kTick);
    now = now + testing::kTick;
  }
  return plant;
}

/// A car without resistances, whose speed loop holds the commanded speed.
CarParameters free_car() {
  CarParameters car = testing::test_car();
  car.rolling_resistance = 0.0;
  car.drag_area_m2 = 0.0;
  car.steering_max_left_rad = 0.6;
  car.steering_max_right_rad = -0.6;
  car.cog_height_m = 0.0;
  return car;
}

}  // namespace

TEST_CASE("the steady turn of the equations is the one that the plant settles on, with the brush and with a measured curve") {
  for (const bool measured : {false, true}) {
    CarParameters car = free_car();
    Options options = Options::of(Fidelity::kPlant);
    if (measured) {
      options.tyre = Tyre::kMagicFormula;
      car.magic_front_b = 4.8, car.magic_front_c = 2.16, car.magic_front_d = 0.65, car.magic_front_e = 0.37;
      car.magic_rear_b = 20.0, car.magic_rear_c = 1.5, car.magic_rear_d = 0.62, car.magic_rear_e = 0.0;
    }
    const SlipModel model = testing::make(car, options, 1.0).slip_model();
    for (const double v : {2.0, 4.0}) {
      for (const double lateral : {0.5, 2.0, 4.0, 5.0}) {
        const auto angle = steady_steering_rad(model, v, lateral);
        REQUIRE(angle);
        if (*angle > 0.55) continue;
        // The turn itself slows the car a little: the angle must be that of the speed and the turn that are left.
        const Plant plant = settled(car, options, 1.0, *angle, v);
        const auto again = steady_steering_rad(model, plant.speed_mps(), plant.speed_mps() * plant.yaw_rate_radps());
        CAPTURE(measured);
        CAPTURE(v);
        CAPTURE(lateral);
        REQUIRE(again);
        CHECK(std::abs(*again - *angle) < 0.03 * *angle);
      }
    }
  }
}

TEST_CASE("with stiff tyres the table is the kinematic turn") {
  CarParameters car = free_car();
  car.cornering_stiffness_front = car.cornering_stiffness_rear = 100.0;
  const SlipModel model = testing::make(car, Options::of(Fidelity::kPlant), 1.0).slip_model();
  for (const double v : {1.0, 3.0, 6.0}) {
    const auto angle = steady_steering_rad(model, v, 2.0);
    REQUIRE(angle);
    CHECK(std::abs(*angle - math::atan(car.wheelbase_m * 2.0 / (v * v))) < 4e-3);
  }
}

TEST_CASE("with small slips the angle beyond the kinematic one is the understeer of the linear model") {
  const CarParameters car = free_car();
  const SlipModel model = testing::make(car, Options::of(Fidelity::kPlant), 1.0489).slip_model();
  const double understeer = (1.0 / car.cornering_stiffness_front - 1.0 / car.cornering_stiffness_rear) / (1.0489 * 9.81);
  const double lateral = 0.05;
  const double slip = *steady_steering_rad(model, 4.0, lateral) - math::atan(car.wheelbase_m * lateral / 16.0);
  CHECK(std::abs(slip - understeer * lateral) < 0.02 * understeer * lateral);
}

TEST_CASE("the table rises up to the peak of the tyres and stays there") {
  CarParameters car = free_car();
  Options options = Options::of(Fidelity::kPlant);
  const SlipModel model = testing::make(car, options, 0.7).slip_model();
  const SteeringTable table = steering_table(model, 8.0);
  REQUIRE(table.speed_mps.size() == 16);
  REQUIRE(table.slip_rad.size() == table.speed_mps.size() * table.lateral_mps2.size());
  for (std::size_t row = 0; row < table.speed_mps.size(); ++row) {
    const double v = table.speed_mps[row];
    double before = -1.0;
    for (std::size_t column = 0; column < table.lateral_mps2.size(); ++column) {
      const double a = table.lateral_mps2[column];
      if (a > table.peak_mps2[row]) break;
      const double angle = math::atan(car.wheelbase_m * a / (v * v)) + table.slip_rad[row * table.lateral_mps2.size() + column];
      CHECK(angle > before);
      before = angle;
    }
    // The grip of the floor, less what the turned front wheels lose: nothing beyond it is promised.
    if (v >= 3.0) {
      CHECK(table.peak_mps2[row] < 0.7 * 9.81);
      CHECK(table.peak_mps2[row] > 0.85 * 0.7 * 9.81);
    }
  }
  CHECK_FALSE(steady_steering_rad(model, 5.0, 0.7 * 9.81));
}
