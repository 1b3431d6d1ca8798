// SPDX-License-Identifier: Apache-2.0
// What a fit makes of runs of `excite` by cars it does not know: a few of the 200 of excite_study_test.cpp, and what excite said before.
#include "calibration/fit/excite_run.hpp"

#include <doctest/doctest.h>

#include "calibration/fit/test_drives.hpp"
#include "calibration/fit/test_excite.hpp"

namespace pitwall::fit {
namespace {

/// Mean of a truth over [begin, end].
double mean_of(const ExciteRun& run, const std::vector<double>& truth, double begin_s, double end_s) {
  constexpr int kParts = 20;
  const double step = run.t_s[1] - run.t_s[0];
  double sum = 0.0;
  for (int i = 0; i < kParts; ++i) {
    const double place = (begin_s + (end_s - begin_s) * (i + 0.5) / kParts - run.t_s.front()) / step;
    const auto k = static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(truth.size()) - 2.0));
    sum += truth[k] + (place - static_cast<double>(k)) * (truth[k + 1] - truth[k]);
  }
  return sum / kParts;
}

/// Standard deviation of what was measured about the truth.
double noise_of(const ExciteRun& run, Quantity quantity) {
  const Series& series = *run.drive.find(quantity);
  const std::vector<double>& truth = quantity == Quantity::kSpeed ? run.speed_mps : run.yaw_rate_radps;
  std::vector<double> off;
  for (std::size_t i = 0; i < series.t_s.size(); ++i) {
    if (series.t_s[i] < 1.0) continue;
    const double half = 0.5 * series.span_s;
    off.push_back(std::abs(series.value[i] - mean_of(run, truth, series.t_s[i] - half, series.t_s[i] + half)));
  }
  const auto middle = off.begin() + static_cast<std::ptrdiff_t>(off.size() / 2);
  std::nth_element(off.begin(), middle, off.end());
  return 1.4826 * *middle;
}

}  // namespace

TEST_CASE("scan matching of simulated scans in the hall has no more noise than what stands in for it") {
  ExciteRunOptions options;
  options.data = data_folder();
  const ExciteRun quick = simulate_excite(options).value();
  options.match_scans = true;
  const ExciteRun whole = simulate_excite(options).value();
  REQUIRE(quick.outcome.passed);
  REQUIRE(whole.outcome.passed);
  CHECK(noise_of(whole, Quantity::kSpeed) < 1.1 * noise_of(quick, Quantity::kSpeed));
  CHECK(noise_of(whole, Quantity::kSpeed) > 0.6 * noise_of(quick, Quantity::kSpeed));
  CHECK(noise_of(whole, Quantity::kYawRate) < 1.1 * noise_of(quick, Quantity::kYawRate));
  CHECK(noise_of(whole, Quantity::kYawRate) > 0.3 * noise_of(quick, Quantity::kYawRate));
}

TEST_CASE("the same run gives the same fit, to the bit, with one thread and with two") {
  ExciteRunOptions options;
  options.data = data_folder();
  options.truth = unknown_car(profile_car(), 6);
  std::vector<std::vector<double>> values;
  for (const unsigned jobs : {1U, 2U}) {
    const ExciteRun run = simulate_excite(options).value();
    const Problem problem = make_problem(run.profile, {run.drive}, {}).value();
    std::vector<Parameter> parameters = parameters_of(run.profile);
    for (Parameter& p : parameters) p.free = p.name == "steering_delay_s" || p.name == "surface_friction";
    FitOptions quick;
    quick.starts = 2;
    quick.jobs = jobs;
    const FitResult result = fit(problem, parameters, quick).value();
    values.emplace_back();
    for (const Fitted& fitted : result.parameters) values.back().insert(values.back().end(), {fitted.value, fitted.low, fitted.high});
  }
  CHECK(values[0] == values[1]);
}

TEST_CASE("excite says beforehand what it will identify: all that it is for, nothing it does not reach") {
  ExciteRunOptions options;
  options.data = data_folder();
  const ExciteForecast forecast = forecast_excite(options, 1).value();
  const auto identifiable = [&](std::string_view name) { return forecast.identifiable(find_parameter(forecast.parameters, name).value()); };
  for (const std::string_view name : kExcited) {
    CAPTURE(name);
    CHECK(identifiable(name));
  }
  CHECK_FALSE(identifiable("speed_max_mps"));
  CHECK_FALSE(identifiable("drag_area_m2"));
}

TEST_CASE("a straight drive cannot tell the steering, a steady circle cannot tell what answers steps: both are named") {
  const CarParameters profile = profile_car();
  RecordOptions record_options;
  record_options.seconds = 30.0;
  Subject truth;
  const auto fitted = [&](std::uint64_t seed, const Script& script) {
    truth.car = unknown_car(profile, seed);
    const Problem problem = make_problem(profile, {record(truth, script, record_options)}, {}).value();
    std::vector<Parameter> parameters = parameters_of(profile);
    free_usual(problem, parameters);
    FitOptions quick;
    quick.starts = 1;
    return fit(problem, parameters, quick).value();
  };
  for (const double step_mps : {0.4, 1.0}) {
    CAPTURE(step_mps);
    const FitResult straight = fitted(7, [=](double t_s) {
      return Asked{0.0, static_cast<int>(t_s / 2.0) % 2 == 0 ? 1.5 : 1.5 + step_mps};
    });
    for (const std::string_view name : {"steering_delay_s", "steering_servo_gain_per_s", "steering_rate_max_radps", "steering_gain"}) {
      CAPTURE(name);
      CHECK(straight.find(name)->verdict != Verdict::kIdentified);
    }
    CHECK(straight.find("speed_delay_s")->verdict == Verdict::kIdentified);
    // Launches of 1 m/s reach the friction of this floor, and tell it.
    const Fitted& friction = *straight.find("surface_friction");
    CHECK((friction.verdict != Verdict::kIdentified || (step_mps == 1.0 && is_right(friction, truth))));
  }
  const FitResult circle = fitted(8, [](double) { return Asked{0.2, 1.8}; });
  for (const std::string_view name : {"steering_delay_s", "speed_delay_s", "steering_servo_gain_per_s", "steering_rate_max_radps",
                                      "speed_loop_accel_gain_per_s", "speed_loop_brake_gain_per_s", "surface_friction"}) {
    CAPTURE(name);
    CHECK(circle.find(name)->verdict != Verdict::kIdentified);
  }
}

}  // namespace pitwall::fit
