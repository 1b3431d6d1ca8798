// SPDX-License-Identifier: Apache-2.0
// One step of 5 ms of the car's physics, by tyre law, at cruising pace with the wheels in motion, and braking in a slide.
#include <benchmark/benchmark.h>

#include "plant/plant.hpp"

namespace pitwall::bench {
namespace {

constexpr Duration kStep = from_milliseconds(5);

CarParameters bench_car() {
  CarParameters car = plant::car_of(plant::Fidelity::kLegacy, {});
  car.lidar_fov_rad = 4.7;
  car.lidar_range_max_m = 30.0;
  car.lidar_rate_hz = 40.0;
  car.steering_servo_gain_per_s = 25.0;
  car.longitudinal_grip_coupling = 1.0;
  car.rolling_resistance = 0.02;
  car.drag_area_m2 = 0.03;
  car.magic_front_b = 4.80;
  car.magic_front_c = 1.80;
  car.magic_front_d = 0.65;
  car.magic_front_e = 0.37;
  car.magic_rear_b = 10.0;
  car.magic_rear_c = 1.5;
  car.magic_rear_d = 0.62;
  car.magic_rear_e = 0.1;
  return car;
}

void step(benchmark::State& state, plant::Tyre tyre, plant::Friction friction, double steering, double speed) {
  plant::Options options;
  options.tyre = tyre;
  options.friction = friction;
  plant::Plant plant = plant::Plant::make(bench_car(), options, 0.8).value();
  plant.reset({}, speed);
  Time now;
  std::int64_t n = 0;
  for (auto _ : state) {
    if (n % 50 == 0) benchmark::DoNotOptimize(plant.command(n % 100 == 0 ? steering : -steering, speed, now));
    plant.step(now, kStep);
    now = now + kStep;
    ++n;
  }
  benchmark::DoNotOptimize(plant.speed_mps());
}

BENCHMARK_CAPTURE(step, linear_envelope, plant::Tyre::kLinear, plant::Friction::kEnvelope, 0.1, 3.0);
BENCHMARK_CAPTURE(step, brush, plant::Tyre::kBrush, plant::Friction::kTyre, 0.1, 3.0);
BENCHMARK_CAPTURE(step, brush_slide, plant::Tyre::kBrush, plant::Friction::kTyre, 0.4, 5.0);
BENCHMARK_CAPTURE(step, magic_formula, plant::Tyre::kMagicFormula, plant::Friction::kTyre, 0.1, 3.0);
BENCHMARK_CAPTURE(step, magic_formula_slide, plant::Tyre::kMagicFormula, plant::Friction::kTyre, 0.4, 5.0);

}  // namespace
}  // namespace pitwall::bench
