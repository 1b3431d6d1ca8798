// SPDX-License-Identifier: Apache-2.0
#include "controllers/lateral_model.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/law_rig.hpp"

namespace pitwall::controllers {
namespace {

constexpr double kG = 9.81;

}  // namespace

TEST_CASE("the steady turn of the linear model is the closed form, with no distance from the line") {
  const CarParameters car = rig_car();
  const SteadyTurns turns(car, SlipLaw::kLinear);
  for (const double v : {1.0, 4.0, 8.0}) {
    const double kappa = 0.05;
    const SteadyTurn turn = turns.at(v, kappa);
    const double understeer = (1.0 / car.cornering_stiffness_front - 1.0 / car.cornering_stiffness_rear) / (car.surface_friction * kG);
    CHECK(std::abs(turn.wheel_rad - (math::atan(car.wheelbase_m * kappa) + understeer * v * v * kappa)) < 1e-12);
    CHECK(std::abs(turn.heading_rad - v * v * kappa / (car.surface_friction * kG * car.cornering_stiffness_rear)) < 1e-12);
    // The same from the equations of motion: nothing changes in the turn.
    const Continuous m = lateral_model(LateralKind::kDynamic, car, v);
    Matrix x(5, 1);
    x(kStateE, 0) = turn.heading_rad;
    x(kStateVy, 0) = turn.lateral_mps;
    x(kStateR, 0) = turn.yaw_rate_radps;
    x(4, 0) = car.wheelbase_m * kappa + understeer * v * v * kappa;
    Matrix rate = m.a * x + x(4, 0) * m.b;
    rate(kStateE, 0) -= v * kappa;
    CHECK(rate.norm() < 1e-12 * v * v);
  }
}

TEST_CASE("on brush tyres the slip grows without bound towards the grip, and equals the linear one below it") {
  const CarParameters car = rig_car();
  const SteadyTurns linear(car, SlipLaw::kLinear);
  const SteadyTurns brush(car, SlipLaw::kBrush);
  CHECK(std::abs(brush.rear_slip(0.01) / linear.rear_slip(0.01) - 1.0) < 0.01);
  // The inverse of 1 - (1 - t)^3 at 0.875 is t = 1/2: three halves over the stiffness.
  CHECK(std::abs(brush.rear_slip(0.875) - 1.5 / car.cornering_stiffness_rear) < 2e-4);
  for (double share = -0.94; share < 0.95; share += 0.02) {
    CHECK(std::abs(brush.front_share(brush.front_slip(share)) - share) < 2e-3);
    CHECK(brush.front_slip(-share) == -brush.front_slip(share));
  }
  CHECK(brush.front_slip(2.0) == brush.front_slip(0.95));
  CHECK(brush.grip_mps2() == car.surface_friction * kG);
}

TEST_CASE("a measured curve is inverted on its rising side, and limits the grip by its peak") {
  CarParameters car = rig_car();
  car.magic_front_b = car.magic_rear_b = 7.0;
  car.magic_front_c = car.magic_rear_c = 1.5;
  car.magic_front_d = 0.65;
  car.magic_rear_d = 0.62;
  car.magic_front_e = car.magic_rear_e = 0.2;
  const SteadyTurns turns(car, SlipLaw::kMagicFormula);
  CHECK(turns.grip_mps2() == car.surface_friction * kG * 0.62);
  for (double share = 0.05; share < 0.95; share += 0.05) {
    CHECK(std::abs(turns.rear_share(turns.rear_slip(share)) - share) < 2e-3);
    CHECK(turns.rear_slip(share) > turns.rear_slip(share - 0.04));
  }
}

TEST_CASE("sideways motion settles in the steady turn, at any speed, and follows the linear model's transient") {
  const CarParameters car = rig_car();
  for (const double v : {0.3, 0.6, 3.0, 8.0}) {
    SideMotion side(car, SlipLaw::kBrush);
    const double kappa = std::min(1.0, 0.3 * car.surface_friction * kG / (v * v));
    const SteadyTurn turn = side.turns().at(v, kappa);
    for (int k = 0; k < 400; ++k) side.advance(0.02, v, v < kSlowest_mps ? math::atan(car.wheelbase_m * kappa) : turn.wheel_rad);
    CHECK(std::abs(side.yaw_rate_radps() - v * kappa) < 5e-3 * v * kappa);
    if (v > kSlowest_mps) CHECK(std::abs(side.lateral_mps() - turn.lateral_mps) < 5e-3);
  }
  SideMotion side(car, SlipLaw::kLinear);
  const double v = 5.0;
  const Continuous m = lateral_model(LateralKind::kDynamic, car, v);
  const Discrete fine = zero_order_hold({m.a.part(2, 2, 2, 2), m.a.part(2, 4, 2, 1)}, 0.02);
  Matrix x(2, 1);
  double most = 0.0;
  for (int k = 0; k < 50; ++k) {
    side.advance(0.02, v, 0.05);
    x = fine.a * x + 0.05 * fine.b;
    most = std::max(most, std::abs(side.yaw_rate_radps() - x(1, 0)));
  }
  CHECK(most < 0.05 * std::abs(x(1, 0)));
}

TEST_CASE("mirrored wheels, mirrored motion") {
  SideMotion left(rig_car(), SlipLaw::kBrush);
  SideMotion right(rig_car(), SlipLaw::kBrush);
  for (int k = 0; k < 50; ++k) {
    const double wheel = 0.3 * math::sin(0.3 * k);
    left.advance(0.025, 4.0, wheel);
    right.advance(0.025, 4.0, -wheel);
    CHECK(std::abs(left.lateral_mps() + right.lateral_mps()) < 1e-9);
    CHECK(std::abs(left.yaw_rate_radps() + right.yaw_rate_radps()) < 1e-9);
  }
}

TEST_CASE("a car without tyre numbers is kinematic, whatever is wanted") {
  CarParameters car = rig_car();
  CHECK(possible(LateralKind::kDynamic, car) == LateralKind::kDynamic);
  CHECK(possible(LateralKind::kKinematic, car) == LateralKind::kKinematic);
  car.cornering_stiffness_rear = 0.0;
  CHECK(possible(LateralKind::kDynamic, car) == LateralKind::kKinematic);
  const SteadyTurn turn = SteadyTurns(car, SlipLaw::kBrush).at(3.0, 0.5);
  CHECK(std::abs(turn.wheel_rad - math::atan(car.wheelbase_m * 0.5)) < 1e-6);
}

TEST_CASE("below the switch speed the model is that of the switch speed") {
  const Continuous slow = lateral_model(LateralKind::kDynamic, rig_car(), 0.0);
  const Continuous at = lateral_model(LateralKind::kDynamic, rig_car(), kSlowest_mps);
  CHECK((slow.a - at.a).norm() == 0.0);
}

}  // namespace pitwall::controllers
