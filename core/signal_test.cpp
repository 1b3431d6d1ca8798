// SPDX-License-Identifier: Apache-2.0
#include "core/signal.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "core/test_response.hpp"

using namespace pitwall;
using namespace pitwall::signals;

namespace {

LagFit fit(const MadeResponse& with, bool offset = false) {
  const Made made = make_response(with);
  LagOptions options;
  options.offset = offset;
  return fit_lag(made.commanded(), made.measured(), options);
}

}  // namespace

TEST_CASE("resample holds a command and interpolates a measurement, and neither bridges a gap") {
  const std::vector<double> t{0.0, 1.0, 2.0, 5.0};
  const std::vector<double> v{1.0, 3.0, 2.0, 8.0};
  const std::vector<double> at{-0.1, 0.0, 0.5, 1.0, 1.25, 3.5, 5.0, 5.5, 7.0};
  const auto held = resample(t, v, at, Between::kHeld, 1.4);
  CHECK(std::isnan(held[0]));
  CHECK(std::vector<double>(held.begin() + 1, held.begin() + 5) == std::vector<double>{1.0, 1.0, 3.0, 3.0});
  CHECK(std::isnan(held[5]));
  CHECK(held[6] == 8.0);
  CHECK(held[7] == 8.0);
  CHECK(std::isnan(held[8]));
  const auto linear = resample(t, v, at, Between::kLinear, 1.4);
  CHECK(std::vector<double>(linear.begin() + 1, linear.begin() + 5) == std::vector<double>{1.0, 2.0, 3.0, 2.75});
  CHECK(std::isnan(linear[5]));
  CHECK(linear[6] == 8.0);
  CHECK(std::isnan(linear[7]));
}

TEST_CASE("Student's t as tabulated") {
  CHECK(student_t95(2) == doctest::Approx(4.303).epsilon(0.001));
  CHECK(student_t95(4) == doctest::Approx(2.776).epsilon(0.001));
  CHECK(student_t95(9) == doctest::Approx(2.262).epsilon(0.001));
  CHECK(student_t95(30) == doctest::Approx(2.042).epsilon(0.001));
  CHECK(std::isinf(student_t95(0)));
}

TEST_CASE("a delayed copy gives its delay and gain, and no first-order lag") {
  for (const double delay : {0.0, 0.137, 0.275, 0.5}) {
    MadeResponse with;
    with.delay_s = delay;
    with.gain = 1.3;
    with.length_s = 30.0;
    const LagFit found = fit(with);
    CHECK(found.lag_s.value == doctest::Approx(delay).epsilon(0.002).scale(1.0));
    CHECK(found.gain.value == doctest::Approx(1.3).epsilon(0.002));
    CHECK(found.lag_s.identifiable);
    CHECK_FALSE(found.first_order);
    CHECK(found.time_constant_s.value == 0.0);
  }
}

TEST_CASE("instants of a held command give the delay as means do, and where they are in step with it, how little they can say") {
  MadeResponse with;
  with.delay_s = 0.137;
  with.pair = 0;
  with.noise = 0.05;
  with.scan_period_s = 0.02;
  const LagFit found = fit(with);
  CHECK(std::abs(found.lag_s.value - 0.137) < 0.005);
  CHECK(std::abs(found.gain.value - 1.0) < 0.01);
  with.scan_period_s = with.command_period_s;
  const LagFit in_step = fit(with);
  CHECK(in_step.lag_s.low < 0.137);
  CHECK(in_step.lag_s.high > 0.137);
  CHECK(in_step.lag_s.high - in_step.lag_s.low > 0.02);
}

TEST_CASE("a smooth command that was sampled is taken as a line between its samples") {
  const Rng errors(3, "errors");
  std::vector<double> t, command, value;
  const auto wave = [](double at) { return 1.0 + 0.5 * math::sin(2.0 * at) + 0.3 * math::sin(5.3 * at + 1.0); };
  for (std::uint64_t i = 0; i < 1600; ++i) {
    t.push_back(0.025 * static_cast<double>(i));
    command.push_back(wave(t.back()));
    value.push_back(0.8 * wave(t.back() - 0.215) + 0.02 * errors.normal(i));
  }
  const LagFit found = fit_lag({t, command, Between::kLinear}, {t, t, value, {}, {}}, {});
  CHECK(std::abs(found.lag_s.value - 0.215) < 0.005);
  CHECK(std::abs(found.gain.value - 0.8) < 0.008);
}

TEST_CASE("a first-order lag is told from a delay, and both at once are told apart") {
  MadeResponse with;
  with.noise = 0.03;
  with.noise_time_s = 0.1;
  SUBCASE("first order alone") { with.time_constant_s = 0.2; }
  SUBCASE("delay and first order") {
    with.delay_s = 0.1;
    with.time_constant_s = 0.15;
  }
  SUBCASE("a slow one") { with.time_constant_s = 0.45; }
  const LagFit found = fit(with);
  CHECK(found.first_order);
  CHECK(std::abs(found.lag_s.value - with.delay_s - with.time_constant_s) < 0.01);
  CHECK(std::abs(found.delay_s.value - with.delay_s) < 0.015);
  CHECK(std::abs(found.time_constant_s.value - with.time_constant_s) < 0.02);
  CHECK(found.time_constant_s.low <= with.time_constant_s);
  CHECK(found.time_constant_s.high >= with.time_constant_s);
  // What one of them gains the other loses: their sum is better known than errors of their own would make it.
  const auto half = [](const Estimate& e) { return 0.5 * (e.high - e.low); };
  CHECK(half(found.lag_s) * half(found.lag_s) <
        half(found.delay_s) * half(found.delay_s) + half(found.time_constant_s) * half(found.time_constant_s));
}

TEST_CASE("a gain that is not 1 does not move the lag, and an offset is told from it") {
  MadeResponse with;
  with.delay_s = 0.2;
  with.gain = 0.5;
  with.offset = 0.3;
  with.noise = 0.02;
  const LagFit found = fit(with, true);
  CHECK(std::abs(found.lag_s.value - 0.2) < 0.005);
  CHECK(std::abs(found.gain.value - 0.5) < 0.005);
  CHECK(std::abs(found.offset.value - 0.3) < 0.01);
  CHECK(found.offset.low < 0.3);
  CHECK(found.offset.high > 0.3);
}

TEST_CASE("a factor multiplies what the command says") {
  MadeResponse with;
  with.delay_s = 0.15;
  Made made = make_response(with);
  std::vector<double> factor;
  for (std::size_t i = 0; i < made.value.size(); ++i) {
    factor.push_back(1.0 + 0.5 * math::sin(0.01 * static_cast<double>(i)));
    made.value[i] *= factor[i];
  }
  const LagFit found = fit_lag(made.commanded(), {made.begin, made.end, made.value, factor, {}}, {});
  CHECK(std::abs(found.lag_s.value - 0.15) < 0.002);
  CHECK(std::abs(found.gain.value - 1.0) < 0.002);
}

TEST_CASE("samples of no weight do not count") {
  MadeResponse with;
  with.delay_s = 0.15;
  with.noise = 0.02;
  Made made = make_response(with);
  std::vector<double> weight(made.value.size(), 1.0);
  for (std::size_t i = 0; i < made.value.size(); i += 3) {
    made.value[i] = 9.0;
    weight[i] = 0.0;
  }
  const LagFit found = fit_lag(made.commanded(), {made.begin, made.end, made.value, {}, weight}, {});
  CHECK(std::abs(found.lag_s.value - 0.15) < 0.005);
  CHECK(std::abs(found.gain.value - 1.0) < 0.01);
}

TEST_CASE("what the data cannot say is said to be so") {
  MadeResponse with;
  with.delay_s = 0.2;
  with.noise = 0.05;
  SUBCASE("a constant command") {
    with.constant = true;
    const LagFit found = fit(with);
    CHECK_FALSE(found.lag_s.identifiable);
    CHECK_FALSE(found.gain.identifiable);
    CHECK(found.lag_s.why.find("hardly varies") != std::string::npos);
  }
  SUBCASE("a lag beyond the range") {
    with.delay_s = 1.1;
    const LagFit found = fit(with);
    CHECK_FALSE(found.lag_s.identifiable);
    CHECK(found.lag_s.why.find("end of the range") != std::string::npos);
  }
  SUBCASE("a response that is none") {
    with.gain = 0.0;
    const LagFit found = fit(with);
    CHECK_FALSE(found.lag_s.identifiable);
  }
  SUBCASE("too short") {
    with.length_s = 3.0;
    const LagFit found = fit(with);
    CHECK_FALSE(found.lag_s.identifiable);
    CHECK(found.lag_s.why.find("too short") != std::string::npos);
  }
  SUBCASE("no samples") {
    const LagFit found = fit_lag({}, {}, {});
    CHECK_FALSE(found.lag_s.identifiable);
    CHECK(found.lag_s.why == "no commands");
  }
}

TEST_CASE("aligned says what the fit saw") {
  MadeResponse with;
  with.delay_s = 0.2;
  with.time_constant_s = 0.1;
  const Made made = make_response(with);
  const std::vector<double> f = aligned(made.commanded(), made.measured(), 0.2, 0.1);
  double worst = 0.0;
  for (std::size_t i = 0; i < f.size(); ++i) {
    if (std::isfinite(f[i])) worst = std::max(worst, std::abs(f[i] - made.value[i]));
  }
  CHECK(worst < 0.005);
  CHECK(std::isnan(f[0]));
}

TEST_CASE("the mean of a line over an interval is that of its middle, of a held command that of its pieces") {
  const std::vector<double> t{0.0, 1.0, 2.0, 3.0, 4.0};
  const std::vector<double> v{0.0, 2.0, 4.0, 6.0, 8.0};
  const std::vector<double> begin{1.2};
  const std::vector<double> end{2.8};
  const MeasuredSignal interval{begin, end, begin, {}, {}};
  CHECK(aligned({t, v, Between::kLinear}, interval, 0.0, 0.0)[0] == doctest::Approx(4.0));
  CHECK(aligned({t, v, Between::kLinear}, interval, 0.5, 0.0)[0] == doctest::Approx(3.0));
  CHECK(aligned({t, v, Between::kHeld}, interval, 0.0, 0.0)[0] == doctest::Approx((0.8 * 2.0 + 0.8 * 4.0) / 1.6));
  // A ramp behind a lag is late by it once the beginning is forgotten.
  CHECK(aligned({t, v, Between::kLinear}, {std::vector<double>{3.0}, std::vector<double>{3.5}, begin, {}, {}}, 0.0, 0.1)[0] ==
        doctest::Approx(6.5 - 0.2));
}

TEST_CASE("a gain through zero, with an interval that widens with correlated errors") {
  const Rng errors(7, "errors");
  std::vector<double> t, x, white, slow;
  double error = 0.0;
  for (std::uint64_t i = 0; i < 1600; ++i) {
    t.push_back(0.025 * static_cast<double>(i));
    x.push_back(2.0 + math::sin(0.02 * static_cast<double>(i)));
    error = 0.98 * error + std::sqrt(1.0 - 0.98 * 0.98) * errors.normal(i);
    white.push_back(0.9 * x.back() + 0.1 * errors.normal(i, 1));
    slow.push_back(0.9 * x.back() + 0.1 * error);
  }
  const Estimate a = fit_gain(t, x, white, 0.1);
  const Estimate b = fit_gain(t, x, slow, 0.1);
  CHECK(a.identifiable);
  CHECK(a.low < 0.9);
  CHECK(a.high > 0.9);
  CHECK(b.low < 0.9);
  CHECK(b.high > 0.9);
  CHECK(b.high - b.low > 3.0 * (a.high - a.low));
  CHECK_FALSE(fit_gain(t, x, white, 3.0).identifiable);
  CHECK(mean_of(t, x).value == doctest::Approx(2.05).epsilon(0.05));
}
