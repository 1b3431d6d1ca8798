// SPDX-License-Identifier: Apache-2.0
// The equations of the sliding car: forces, energy, order of the integration, standing still.
#include "plant/slip_model.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "core/rng.hpp"

namespace pitwall::plant {
namespace {

SlipModel stock(Tyre law, double friction) {
  SlipModel car;
  car.lf = 0.15875;
  car.lr = 0.17145;
  car.mass = 3.74;
  car.yaw_inertia = 0.04712;
  car.cog_height = 0.074;
  car.rolling_resistance = 0.015;
  car.drag_per_m = 0.005;
  car.front = {law, friction, friction * 4.718, {}};
  car.rear = {law, friction, friction * 5.4562, {}};
  if (law == Tyre::kMagicFormula) {
    car.front.curve = {7.4, 1.9, 0.65, 0.37};
    car.rear.curve = {20.0, 1.5, 0.62, 0.1};
    for (AxleTyre* tyre : {&car.front, &car.rear}) {
      tyre->grip = friction * tyre->curve.d;
      tyre->stiffness = tyre->grip * tyre->curve.b * tyre->curve.c;
    }
  }
  car.prepare();
  return car;
}

SlipInput turned(double steering) {
  SlipInput input;
  input.sin_steering = std::sin(steering);
  input.cos_steering = std::cos(steering);
  return input;
}

bool finite(const SlipState& s) {
  for (const double v : {s.x, s.y, s.yaw, s.vx, s.vy, s.yaw_rate, s.steering, s.front_m, s.rear_m, s.integral_mps2}) {
    if (!std::isfinite(v)) return false;
  }
  return true;
}

double difference(const SlipState& a, const SlipState& b) {
  double sum = 0.0;
  for (const double d : {a.x - b.x, a.y - b.y, a.yaw - b.yaw, a.vx - b.vx, a.vy - b.vy, a.yaw_rate - b.yaw_rate}) sum += d * d;
  return std::sqrt(sum);
}

}  // namespace

TEST_CASE("no axle force ever leaves its circle: 100000 states and inputs") {
  const Rng rng(7, "sweep");
  double most = 0.0;
  for (const Tyre law : {Tyre::kBrush, Tyre::kMagicFormula}) {
    const SlipModel base = stock(law, 0.8);
    for (std::uint64_t i = 0; i < 50'000; ++i) {
      std::uint32_t lane = 0;
      const auto between = [&](double low, double high) { return low + (high - low) * rng.uniform(i, lane++); };
      SlipModel car = base;
      car.drive_front_share = std::floor(between(0.0, 5.0)) / 4.0;
      car.cornering_reserve = between(0.0, 0.95);
      SlipState state;
      state.vx = between(-8.0, 8.0) * rng.uniform(i, lane++);
      state.vy = between(-5.0, 5.0) * rng.uniform(i, lane++);
      state.yaw_rate = between(-20.0, 20.0) * rng.uniform(i, lane++);
      state.front_m = between(-0.06, 0.06);
      state.rear_m = between(-0.06, 0.06);
      SlipInput input = turned(between(-0.5, 0.5));
      input.acceleration = between(-12.0, 12.0);
      const AxleForces forces = axle_forces(state, input, car);
      CHECK(forces.front.load_n + forces.rear.load_n == doctest::Approx(3.74 * 9.81).epsilon(1e-12));
      for (const auto& [axle, grip] : {std::pair{forces.front, base.front.grip}, std::pair{forces.rear, base.rear.grip}}) {
        const double used = std::hypot(axle.along_n, axle.across_n) / (grip * axle.load_n);
        most = std::max(most, used);
        CHECK(used <= 1.0 + 1e-9);
        CHECK(axle.utilisation() == doctest::Approx(used));
      }
    }
  }
  CHECK(most > 0.999);
}

TEST_CASE("load goes to the front under braking by m a h / L") {
  SlipModel car = stock(Tyre::kBrush, 0.8);
  car.rolling_resistance = car.drag_per_m = 0.0;
  SlipState state;
  state.vx = 3.0;
  SlipInput input;
  input.acceleration = -5.0;
  const AxleForces forces = axle_forces(state, input, car);
  CHECK(forces.front.load_n == doctest::Approx(3.74 * (9.81 * 0.17145 + 5.0 * 0.074) / 0.3302));
  CHECK(forces.rear.load_n == doctest::Approx(3.74 * (9.81 * 0.15875 - 5.0 * 0.074) / 0.3302));
}

TEST_CASE("drive is shared as the split says, and a rigid shaft hands on what one axle cannot take") {
  SlipModel car = stock(Tyre::kBrush, 0.5);
  car.cog_height = 0.0;
  car.cornering_reserve = 0.0;
  car.prepare();
  SlipState state;
  state.vx = 2.0;
  SlipInput input;
  input.acceleration = 2.0;
  const auto along = [&](double share) {
    car.drive_front_share = share;
    const AxleForces f = axle_forces(state, input, car);
    return std::array{f.front.along_n, f.rear.along_n};
  };
  CHECK(along(0.5)[0] == doctest::Approx(3.74));
  CHECK(along(0.5)[1] == doctest::Approx(3.74));
  CHECK(along(0.0)[0] == 0.0);
  CHECK(along(0.0)[1] == doctest::Approx(7.48));
  CHECK(along(1.0)[1] == 0.0);
  input.acceleration = 4.0;
  const double rear_most = 0.5 * 3.74 * 9.81 * 0.15875 / 0.3302;
  CHECK(along(0.0)[1] == doctest::Approx(rear_most));
  CHECK(along(0.25)[1] == doctest::Approx(rear_most));
  CHECK(along(0.25)[0] == doctest::Approx(4.0 * 3.74 - rear_most));
  input.acceleration = -40.0;
  CHECK(along(0.5)[0] + along(0.5)[1] == doctest::Approx(-0.5 * 3.74 * 9.81));
}

TEST_CASE("braking in a turn takes from the cornering, and the reserve keeps its share") {
  for (const double reserve : {0.0, 0.5}) {
    SlipModel car = stock(Tyre::kBrush, 0.8);
    car.cornering_reserve = reserve;
    SlipState state;
    state.vx = 4.0;
    state.front_m = state.rear_m = -0.04;  // full
    SlipInput input;
    const double free = axle_forces(state, input, car).rear.across_n;
    double before = free;
    for (const double a : {-2.0, -4.0, -6.0, -9.0}) {
      input.acceleration = a;
      const AxleForces f = axle_forces(state, input, car);
      CHECK(f.rear.across_n <= before);
      CHECK(f.rear.across_n >= reserve * f.rear.limit_n * (1.0 - 1e-12));
      before = f.rear.across_n;
    }
    CHECK(before < 0.6 * free);
  }
}

TEST_CASE("halving the step divides the error by 16") {
  for (const Tyre law : {Tyre::kBrush, Tyre::kMagicFormula}) {
    const SlipModel car = stock(law, 0.9);
    const auto end = [&](int steps) {
      SlipState state;
      state.vx = 2.5;
      state.yaw = 0.3;
      state.steering = 0.05;
      AxleForces forces;
      const double h = 0.8 / steps;
      for (int i = 0; i < steps; ++i) {
        state = step_rk4(
            state, h, car,
            [&](const SlipState& s, double) {
              SlipInput input = turned(s.steering);
              input.steering_rate = 0.05;
              input.acceleration = 1.2 - 0.3 * s.vx;
              return input;
            },
            forces);
      }
      return state;
    };
    const SlipState exact = end(6400);
    const double coarse = difference(end(200), exact);
    const double fine = difference(end(400), exact);
    CHECK(coarse / fine > 14.0);
    CHECK(coarse / fine < 18.5);
  }
}

TEST_CASE("coasting with the wheels fixed never gains energy, from any slide") {
  const Rng rng(11, "coast");
  for (const Tyre law : {Tyre::kBrush, Tyre::kMagicFormula}) {
    const SlipModel car = stock(law, 0.7);
    for (std::uint64_t run = 0; run < 20; ++run) {
      const auto between = [&](std::uint32_t lane, double low, double high) { return low + (high - low) * rng.uniform(run, lane); };
      SlipState state;
      state.vx = between(0, -4.0, 6.0);
      state.vy = between(1, -2.0, 2.0);
      state.yaw_rate = between(2, -6.0, 6.0);
      const SlipInput input = turned(between(3, -0.4, 0.4));
      AxleForces forces;
      double before = energy(state, input, car);
      for (int i = 0; i < 150; ++i) {
        for (int k = 0; k < 5; ++k)
          state = step_rk4(
              state, 0.002, car, [&](const SlipState&, double) { return input; }, forces);
        const double now = energy(state, input, car);
        CHECK(now <= before + 1e-9);
        before = now;
      }
    }
  }
}

TEST_CASE("the derivative is finite at rest, at minus zero, at a breath of speed, sideways and in reverse") {
  for (const Tyre law : {Tyre::kBrush, Tyre::kMagicFormula}) {
    const SlipModel car = stock(law, 0.7);
    for (const double vx : {0.0, -0.0, 1e-300, -1e-300, 1e-9, -1e-9, 0.5, -0.5, -4.0}) {
      for (const double vy : {0.0, -0.0, 1e-300, 1e-9, -2.0}) {
        SlipState state;
        state.vx = vx;
        state.vy = vy;
        SlipInput input = turned(0.3);
        input.acceleration = 3.0;
        AxleForces forces;
        CHECK(finite(slip_rate(state, input, car, {0.0, 1.0}, forces)));
        CHECK(finite(slip_rate(state, SlipInput{}, car, {0.0, 1.0}, forces)));
      }
    }
    AxleForces forces;
    const SlipState rest = slip_rate(SlipState{}, turned(0.4), car, {0.0, 1.0}, forces);
    for (const double v : {rest.vx, rest.vy, rest.yaw_rate, rest.front_m, rest.rear_m}) CHECK(v == 0.0);
  }
}

TEST_CASE("the carcass damping is gone at 1 m/s and does not shift a steady turn below it") {
  SlipModel car = stock(Tyre::kBrush, 0.7);
  SlipModel undamped = car;
  undamped.damping_s = 0.0;
  SlipState state;
  state.front_m = 0.002;
  state.rear_m = -0.001;
  state.vy = 0.1;
  const auto pulled = [&](const SlipModel& model) { return axle_forces(state, SlipInput{}, model).rear.across_n; };
  state.vx = 0.3;
  CHECK(pulled(car) != pulled(undamped));
  state.vx = 1.0;
  CHECK(pulled(car) == pulled(undamped));
  // Settled: u = sigma V_y / V.
  state.vx = 0.3;
  state.vy = 0.01;
  const double left = state.vy;
  state.rear_m = car.relaxation_m * left / std::sqrt(0.3 * 0.3 + left * left);
  CHECK(pulled(car) == doctest::Approx(pulled(undamped)).epsilon(1e-12));
}

TEST_CASE("sincos_of_change is sin and cos, small or large") {
  for (const double x : {0.0, 1e-9, 0.01, -0.1, 0.2499, -0.25, 0.3, 4.0}) {
    CHECK(std::abs(sincos_of_change(x).sin - std::sin(x)) < 6e-15);
    CHECK(std::abs(sincos_of_change(x).cos - std::cos(x)) < 2.3e-16);
  }
}

}  // namespace pitwall::plant
