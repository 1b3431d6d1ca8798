// SPDX-License-Identifier: Apache-2.0
#include "calibration/fit/fit.hpp"

#include <doctest/doctest.h>

#include "calibration/car_profile.hpp"
#include "calibration/fit/test_drives.hpp"
#include "tests/support/source_dir.hpp"

namespace pitwall::fit {
namespace {

CarParameters test_car() { return calibration::load_car("rb2", source_dir() / "calibration/cars").value().parameters; }

/// A car that differs from its profile in everything that is fitted.
Subject strange_car() {
  Subject subject;
  subject.car = test_car();
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

Problem problem_of(const Drive& drive) { return make_problem(test_car(), {drive}, {}).value(); }

}  // namespace

TEST_CASE("a minute of steps and sweeps gives back the parameters of the car that drove it") {
  const Subject truth = strange_car();
  const Problem problem = problem_of(record(truth, lively, {}));
  std::vector<Parameter> parameters = parameters_of(test_car());
  free_usual(problem, parameters);
  const FitResult result = fit(problem, parameters, {}).value();
  for (const Fitted& f : result.parameters) {
    if (!f.parameter.free) continue;
    MESSAGE(f.parameter.name, " ", f.value, " true ", value_in(truth, f.parameter.name), " +- ", f.half_width, " ",
            kVerdictNames[static_cast<std::size_t>(f.verdict)], " prior ", f.parameter.prior, " steps ", f.step_disagreement);
  }
  MESSAGE("simulations ", result.simulations, " iterations ", result.iterations);
  for (const char* name : {"steering_delay_s", "speed_delay_s", "steering_servo_gain_per_s", "steering_rate_max_radps", "steering_gain",
                           "steering_bias_rad", "speed_loop_accel_gain_per_s", "speed_loop_brake_gain_per_s", "surface_friction",
                           "understeer_gradient", "odometry_scale", "mount_yaw_rad"}) {
    const Fitted& fitted = *result.find(name);
    const double true_value = value_in(truth, name);
    CAPTURE(name);
    CHECK(fitted.verdict == Verdict::kIdentified);
    CHECK(fitted.low < true_value);
    CHECK(fitted.high > true_value);
  }
  CHECK(result.predicted_after.speed_mps < 0.5 * result.predicted_before.speed_mps);
  CHECK(result.predicted_after.yaw_rate_radps < 0.5 * result.predicted_before.yaw_rate_radps);
}

}  // namespace pitwall::fit
