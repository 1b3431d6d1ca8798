// SPDX-License-Identifier: Apache-2.0
// Lags and gains that the simulated car was given, found again in how it moves.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "core/rng.hpp"
#include "core/signal.hpp"
#include "plant/test_car.hpp"

using namespace pitwall;
using namespace pitwall::plant::testing;

namespace {

constexpr double kServo_per_s = 25.0;

struct Driven {
  std::vector<double> t_s, steering, speed;             // commands
  std::vector<double> begin_s, end_s, angle, velocity;  // means over pairs of scans, with noise
};

/// A minute in which both commands wave and jump a little, at 40 Hz.
Driven drive(const CarParameters& car, std::uint64_t seed) {
  constexpr int kStepsPerCommand = 5;
  constexpr int kStepsPerPair = 10;
  constexpr int kSteps = 12000;
  const Rng jumps(seed, "jumps");
  const Rng errors(seed, "errors");
  plant::Plant plant = make(car, plant::Options::of(plant::Fidelity::kCar));
  plant.reset({}, 1.5);
  Driven driven;
  std::vector<double> angle, velocity;
  double steering = 0.0;
  double speed = 1.5;
  for (int k = 0; k < kSteps; ++k) {
    const Time now = Time{} + k * kTick;
    const double t = now.seconds();
    if (k % kStepsPerCommand == 0) {
      const auto piece = static_cast<std::uint64_t>(t / 1.3);
      steering = 0.08 * math::sin(1.9 * t) + 0.06 * (jumps.uniform(piece, 0) - 0.5);
      speed = 1.5 + 0.3 * math::sin(1.1 * t) + 0.3 * (jumps.uniform(piece, 1) - 0.5);
      driven.t_s.push_back(t);
      driven.steering.push_back(steering);
      driven.speed.push_back(speed);
      command(plant, steering, speed, now);
    }
    angle.push_back(plant.steering_rad());
    velocity.push_back(plant.speed_mps());
    plant.step(now, kTick);
  }
  for (int k = 0; k + kStepsPerPair < kSteps; k += kStepsPerCommand) {
    double mean_angle = 0.0;
    double mean_velocity = 0.0;
    // The integral between the steps by trapezes.
    for (int i = 0; i < kStepsPerPair; ++i) {
      const auto at = static_cast<std::size_t>(k + i);
      mean_angle += 0.5 * (angle[at] + angle[at + 1]) / kStepsPerPair;
      mean_velocity += 0.5 * (velocity[at] + velocity[at + 1]) / kStepsPerPair;
    }
    driven.begin_s.push_back((k * kTick).seconds());
    driven.end_s.push_back(((k + kStepsPerPair) * kTick).seconds());
    driven.angle.push_back(mean_angle + 0.003 * errors.normal(static_cast<std::uint64_t>(k), 0));
    driven.velocity.push_back(mean_velocity + 0.02 * errors.normal(static_cast<std::uint64_t>(k), 1));
  }
  return driven;
}

}  // namespace

TEST_CASE("delays of 0 to 0.45 s and gains of 0.5 to 1.5 that the car was given are found within 5 ms and 1 %") {
  double worst_lag = 0.0;
  double worst_gain = 0.0;
  double worst_speed_lag = 0.0;
  int covered = 0;
  int runs = 0;
  for (const double delay : {0.0, 0.05, 0.15, 0.3, 0.45}) {
    for (const double gain : {0.5, 0.8, 1.0, 1.5}) {
      CarParameters car = test_car();
      car.steering_delay_s = delay;
      car.speed_delay_s = 0.45 - delay;
      car.steering_gain = gain;
      car.steering_servo_gain_per_s = kServo_per_s;
      car.speed_loop_accel_gain_per_s = 10.0;
      car.speed_loop_brake_gain_per_s = 10.0;
      const Driven driven = drive(car, static_cast<std::uint64_t>(++runs));
      signals::LagOptions options;
      options.least_spread = 0.02;
      const auto steering = signals::fit_lag({driven.t_s, driven.steering}, {driven.begin_s, driven.end_s, driven.angle, {}, {}}, options);
      const auto speed = signals::fit_lag({driven.t_s, driven.speed}, {driven.begin_s, driven.end_s, driven.velocity, {}, {}}, options);
      CAPTURE(delay);
      CAPTURE(steering.lag_s.value);
      CAPTURE(steering.gain.value);
      REQUIRE_MESSAGE(steering.lag_s.identifiable, steering.lag_s.why);
      REQUIRE_MESSAGE(speed.lag_s.identifiable, speed.lag_s.why);
      const double lag = delay + 1.0 / kServo_per_s;
      worst_lag = std::max(worst_lag, std::abs(steering.lag_s.value - lag));
      worst_gain = std::max(worst_gain, std::abs(steering.gain.value / gain - 1.0));
      worst_speed_lag = std::max(worst_speed_lag, std::abs(speed.lag_s.value - (0.45 - delay) - 0.1));
      covered += steering.gain.low <= gain && gain <= steering.gain.high ? 1 : 0;
      CHECK(steering.first_order);
      CHECK(speed.first_order);
    }
  }
  MESSAGE(runs << " cars: worst steering lag " << 1000.0 * worst_lag << " ms, speed lag " << 1000.0 * worst_speed_lag << " ms, gain "
               << 100.0 * worst_gain << " %, gain covered in " << covered);
  CHECK(worst_lag <= 0.005);
  CHECK(worst_speed_lag <= 0.005);
  CHECK(worst_gain <= 0.01);
  CHECK(covered >= 0.9 * runs);
}
