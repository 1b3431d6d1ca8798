// SPDX-License-Identifier: Apache-2.0
#include "calibration/fit/fit.hpp"

#include <doctest/doctest.h>

#include "calibration/car_profile.hpp"
#include "calibration/fit/intervals.hpp"
#include "calibration/fit/test_drives.hpp"
#include "tests/support/source_dir.hpp"

namespace pitwall::fit {
namespace {

CarParameters rb2() { return calibration::load_car("rb2", source_dir() / "calibration/cars").value().parameters; }

/// A car that differs from its profile in everything that is fitted.
Subject strange_car() {
  Subject subject;
  subject.car = rb2();
  subject.car.steering_delay_s = 0.062;
  subject.car.speed_delay_s = 0.111;
  subject.car.steering_servo_gain_per_s = 14.0;
  subject.car.steering_rate_max_radps = 2.2;
  subject.car.steering_gain = 0.93;
  subject.car.steering_bias_rad = 0.012;
  subject.car.speed_loop_accel_gain_per_s = 3.7;
  subject.car.speed_loop_brake_gain_per_s = 6.5;
  subject.car.surface_friction = 0.55;
  subject.car.cornering_stiffness_front = 6.5;
  subject.car.cornering_stiffness_rear = 9.0;
  subject.car.odometry_scale = 0.91;
  subject.mount_yaw_rad = 0.02;
  return subject;
}

FitResult fitted(const Drive& drive, const FitOptions& options) {
  const Problem problem = make_problem(rb2(), {drive}, {}).value();
  std::vector<Parameter> parameters = parameters_of(rb2());
  free_usual(problem, parameters);
  return fit(problem, parameters, options).value();
}

FitOptions quick() {
  FitOptions options;
  options.starts = 1;
  options.iterations = 8;
  return options;
}

Verdict verdict_of(const FitResult& result, std::string_view name) { return result.find(name)->verdict; }

}  // namespace

TEST_CASE("a minute of steps and sweeps gives back the parameters of the car that drove it") {
  const Subject truth = strange_car();
  const FitResult result = fitted(record(truth, lively, {}), {});
  for (const char* name : {"steering_delay_s", "speed_delay_s", "steering_servo_gain_per_s", "steering_rate_max_radps", "steering_gain",
                           "steering_bias_rad", "speed_loop_accel_gain_per_s", "speed_loop_brake_gain_per_s", "surface_friction",
                           "understeer_gradient", "odometry_scale", "mount_yaw_rad"}) {
    const Fitted& f = *result.find(name);
    const double true_value = value_in(truth, name);
    CAPTURE(name);
    CHECK(f.verdict == Verdict::kIdentified);
    // One interval in twenty may miss; none may miss by much.
    const double half = 0.5 * (f.high - f.low);
    CHECK(std::abs(f.value - true_value) < 2.0 * half);
  }
  // Nothing in the drive reaches these: no speed near the ceiling, no drive beyond what the floor passes on.
  for (const char* name : {"speed_max_mps", "acceleration_max_mps2", "braking_max_mps2"}) {
    CAPTURE(name);
    CHECK(verdict_of(result, name) == Verdict::kUnidentified);
    CHECK(result.find(name)->value == result.find(name)->parameter.prior);
  }
  CHECK(result.predicted_after.speed_mps < 0.5 * result.predicted_before.speed_mps);
  CHECK(result.predicted_after.yaw_rate_radps < 0.5 * result.predicted_before.yaw_rate_radps);
}

TEST_CASE("the number of threads changes nothing") {
  RecordOptions options;
  options.seconds = 20.0;
  const Drive drive = record(strange_car(), lively, options);
  FitOptions one = quick();
  one.jobs = 1;
  FitOptions three = quick();
  three.jobs = 3;
  const FitResult a = fitted(drive, one);
  const FitResult b = fitted(drive, three);
  for (std::size_t i = 0; i < a.parameters.size(); ++i) {
    CHECK(a.parameters[i].value == b.parameters[i].value);
    CHECK(a.parameters[i].half_width == b.parameters[i].half_width);
  }
}

TEST_CASE("a steady circle tells neither delays nor gains, and straight driving no steering; both are named") {
  RecordOptions options;
  options.seconds = 30.0;
  const FitResult circle = fitted(record(
                                      strange_car(),
                                      [](double) {
                                        return Asked{0.12, 1.8};
                                      },
                                      options),
                                  quick());
  for (const char* name : {"steering_delay_s", "speed_delay_s", "steering_servo_gain_per_s", "steering_rate_max_radps",
                           "speed_loop_accel_gain_per_s", "speed_loop_brake_gain_per_s", "surface_friction", "understeer_gradient"}) {
    CAPTURE(name);
    CHECK(verdict_of(circle, name) != Verdict::kIdentified);
  }
  const Script straight = [](double t_s) { return Asked{0.0, static_cast<int>(t_s / 2.0) % 2 == 0 ? 1.5 : 2.5}; };
  const FitResult ahead = fitted(record(strange_car(), straight, options), quick());
  CHECK(verdict_of(ahead, "speed_delay_s") == Verdict::kIdentified);
  for (const char* name :
       {"steering_delay_s", "steering_servo_gain_per_s", "steering_rate_max_radps", "steering_gain", "understeer_gradient"}) {
    CAPTURE(name);
    CHECK(verdict_of(ahead, name) == Verdict::kUnidentified);
    CHECK(ahead.find(name)->value == ahead.find(name)->parameter.prior);
  }
}

TEST_CASE("a ceiling is found and not taken for a gain") {
  Subject truth = strange_car();
  truth.car.speed_max_mps = 1.4;
  RecordOptions options;
  options.seconds = 30.0;
  const FitResult result = fitted(record(truth, lively, options), {});
  CHECK(verdict_of(result, "speed_max_mps") == Verdict::kIdentified);
  CHECK(result.find("speed_max_mps")->value == doctest::Approx(1.4).epsilon(0.02));
}

TEST_CASE("the bootstrap of a straight line gives the standard errors that theory has") {
  // y = a + b t with unit noise, every row a block of its own.
  const Rng noise(3, "line");
  std::vector<double> f, jacobian;
  std::vector<std::size_t> block;
  double st = 0.0, stt = 0.0;
  for (std::size_t i = 0; i < 400; ++i) {
    const double t = 20.0 * (static_cast<double>(i) / 400.0 - 0.5);
    f.push_back(noise.normal(i));
    jacobian.insert(jacobian.end(), {1.0, t});
    block.push_back(i);
    st += t;
    stt += t * t;
  }
  const Uncertainty known = bootstrap(f, jacobian, block, {0.0, 0.0}, 2000, 1);
  CHECK(known.half_width[0] == doctest::Approx(1.96 / std::sqrt(400.0)).epsilon(0.1));
  CHECK(known.half_width[1] == doctest::Approx(1.96 / std::sqrt(stt)).epsilon(0.1));
  // Blocks that repeat their noise tell less: four equal rows are one.
  for (std::size_t i = 0; i < f.size(); ++i) {
    f[i] = noise.normal(i / 4);
    block[i] = i / 4;
  }
  CHECK(bootstrap(f, jacobian, block, {0.0, 0.0}, 2000, 1).half_width[0] == doctest::Approx(1.96 / std::sqrt(100.0)).epsilon(0.15));
}

TEST_CASE("bad input is named") {
  RecordOptions options;
  options.seconds = 20.0;
  const Problem problem = make_problem(rb2(), {record(strange_car(), lively, options)}, {}).value();
  std::vector<Parameter> parameters = parameters_of(rb2());
  CHECK(fit(problem, parameters, quick()).error().message == "no parameter is free");
  parameters[0].free = true;
  parameters[0].low = 1.0;
  CHECK(fit(problem, parameters, quick()).error().message.find("wrong way about") != std::string::npos);
  parameters = parameters_of(rb2());
  parameters[0].free = true;
  FitOptions stopped = quick();
  stopped.progress = [](double) { return false; };
  CHECK(fit(problem, parameters, stopped).error().message == "interrupted");
}

}  // namespace pitwall::fit
