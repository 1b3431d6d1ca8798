// SPDX-License-Identifier: Apache-2.0
// Whether intervals hold, and whether the linearised bootstrap agrees with fitting again: drives that differ only in their noise.
#include <doctest/doctest.h>

#include "calibration/car_profile.hpp"
#include "calibration/fit/fit.hpp"
#include "calibration/fit/test_drives.hpp"
#include "tests/support/source_dir.hpp"

namespace pitwall::fit {

TEST_CASE("estimates of drives with other noise scatter as the intervals say") {
  const CarParameters base = calibration::load_car("rb2", source_dir() / "calibration/cars").value().parameters;
  Subject truth;
  truth.car = base;
  truth.car.steering_delay_s = 0.07;
  truth.car.speed_loop_accel_gain_per_s = 4.0;
  truth.car.surface_friction = 0.6;
  constexpr std::uint64_t kDrives = 16;
  const std::vector<const char*> names = {"steering_delay_s", "steering_servo_gain_per_s",   "steering_gain",
                                          "speed_delay_s",    "speed_loop_accel_gain_per_s", "surface_friction"};
  std::vector<double> square(names.size(), 0.0);
  std::vector<double> half_square(names.size(), 0.0);
  std::size_t inside = 0;
  for (std::uint64_t seed = 1; seed <= kDrives; ++seed) {
    RecordOptions options;
    options.seed = seed;
    const Problem problem = make_problem(base, {record(truth, lively, options)}, {}).value();
    std::vector<Parameter> parameters = parameters_of(base);
    free_usual(problem, parameters);
    FitOptions quick;
    quick.starts = 1;
    const FitResult result = fit(problem, parameters, quick).value();
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Fitted& f = *result.find(names[i]);
      const double true_value = value_in(truth, names[i]);
      inside += f.low < true_value && true_value < f.high ? 1 : 0;
      square[i] += (f.value - true_value) * (f.value - true_value) / kDrives;
      half_square[i] += 0.25 * (f.high - f.low) * (f.high - f.low) / kDrives;
    }
  }
  const double share = static_cast<double>(inside) / static_cast<double>(kDrives * names.size());
  MESSAGE("covered ", share);
  CHECK(share > 0.88);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double ratio = std::sqrt(half_square[i]) / (1.96 * std::sqrt(square[i]));
    CAPTURE(names[i]);
    MESSAGE(names[i], " half-width over 1.96 scatter ", ratio);
    CHECK(ratio > 0.6);
    CHECK(ratio < 2.0);
  }
}

}  // namespace pitwall::fit
