// SPDX-License-Identifier: Apache-2.0
// For tests: runs of `excite` by cars that nobody knows but the test, fitted, and what came of it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "calibration/car_profile.hpp"
#include "calibration/fit/excite_run.hpp"
#include "calibration/fit/fit.hpp"
#include "core/files.hpp"
#include "core/rng.hpp"

namespace pitwall::fit {

/// What a run of excite is to identify.
inline constexpr std::array<std::string_view, 10> kExcited = {
    "steering_delay_s",  "speed_delay_s",    "steering_servo_gain_per_s",   "steering_rate_max_radps",     "steering_gain",
    "steering_bias_rad", "surface_friction", "speed_loop_accel_gain_per_s", "speed_loop_brake_gain_per_s", "understeer_gradient"};

inline CarParameters profile_car(const char* name = "f1tenth") {
  return calibration::load_car(name, data_folder() / "cars").value().parameters;
}

/// A car of that profile with other actuators, tyres and floor, drawn from the seed.
inline CarParameters unknown_car(const CarParameters& profile, std::uint64_t seed) {
  const Rng draw(seed, "fit/unknown_car");
  std::uint32_t lane = 0;
  const auto between = [&](double low, double high) { return low + (high - low) * draw.uniform(0, lane++); };
  CarParameters car = profile;
  car.steering_delay_s = between(0.02, 0.12);
  car.speed_delay_s = between(0.02, 0.12);
  car.steering_servo_gain_per_s = between(12.0, 30.0);
  car.steering_rate_max_radps = between(2.0, 4.0);
  car.steering_gain = between(0.88, 1.1);
  car.steering_bias_rad = between(-0.03, 0.03);
  car.speed_loop_accel_gain_per_s = between(2.5, 8.0);
  car.speed_loop_brake_gain_per_s = between(2.5, 10.0);
  car.surface_friction = between(0.35, 0.9);
  // Softer ones do not slide within the steering's locks.
  car.cornering_stiffness_rear = between(8.0, 16.0);
  car.cornering_stiffness_front = car.cornering_stiffness_rear * between(0.75, 0.95);
  car.odometry_scale *= between(0.92, 1.05);
  car.yaw_inertia_kgm2 *= between(0.8, 1.5);
  return car;
}

struct ExciteFit {
  ExciteRun run;
  Subject truth;
  FitResult result;
};

/// Drives as that car, and fits from the profile.
inline ExciteFit drive_and_fit(const CarParameters& profile, std::uint64_t seed, bool match_scans) {
  ExciteFit out;
  out.truth.car = unknown_car(profile, seed);
  ExciteRunOptions options;
  options.data = data_folder();
  options.truth = out.truth.car;
  options.seed = static_cast<std::int64_t>(seed);
  options.match_scans = match_scans;
  out.run = simulate_excite(options).value();
  const Problem problem = make_problem(out.run.profile, {out.run.drive}, {}).value();
  std::vector<Parameter> parameters = parameters_of(out.run.profile);
  free_usual(problem, parameters);
  FitOptions quick;
  quick.starts = 1;
  quick.jobs = 1;
  out.result = fit(problem, parameters, quick).value();
  return out;
}

/// How far a fitted value is from the true one: relative where the parameter is.
inline double error_of(const Fitted& fitted, const Subject& truth) {
  const double true_value = value_in(truth, fitted.parameter.name);
  return std::abs(fitted.parameter.logarithmic ? std::log(fitted.value / true_value) : fitted.value - true_value);
}

/// Identified, and within the larger of 2 % and its own half-width; a delay within 3 ms.
inline bool is_right(const Fitted& fitted, const Subject& truth) {
  if (fitted.verdict != Verdict::kIdentified) return false;
  const double error = error_of(fitted, truth);
  if (fitted.parameter.unit == "s") return error <= 0.003;
  const double size = fitted.parameter.logarithmic ? 1.0 : std::abs(value_in(truth, fitted.parameter.name));
  return error <= std::max(0.02 * size, fitted.half_width);
}

inline bool covers(const Fitted& fitted, const Subject& truth) {
  const double true_value = value_in(truth, fitted.parameter.name);
  return fitted.low <= true_value && true_value <= fitted.high;
}

/// The plateau of the lateral acceleration that was measured: what the car holds for 0.4 s, at most (m/s^2).
inline double lateral_plateau_mps2(const Drive& drive) {
  const Series& speed = *drive.find(Quantity::kSpeed);
  const Series& turn = *drive.find(Quantity::kYawRate);
  constexpr std::size_t kHeld = 16;
  double best = 0.0;
  for (std::size_t i = 0; i + kHeld <= speed.value.size(); ++i) {
    std::vector<double> held;
    for (std::size_t k = i; k < i + kHeld; ++k) held.push_back(std::abs(speed.value[k] * turn.value[k]));
    std::nth_element(held.begin(), held.begin() + kHeld / 2, held.end());
    best = std::max(best, held[kHeld / 2]);
  }
  return best;
}

}  // namespace pitwall::fit
