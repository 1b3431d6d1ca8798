// SPDX-License-Identifier: Apache-2.0
#include "analysis/spectrum.hpp"

#include <doctest/doctest.h>

#include "core/math.hpp"
#include "core/rng.hpp"

using namespace pitwall;
using namespace pitwall::analysis;

TEST_CASE("the power of a line is that of its sine, at its frequency") {
  std::vector<double> samples;
  for (int i = 0; i < 2000; ++i)
    samples.push_back(3.0 + 0.2 * math::sin(2.0 * math::kPi * 30.0 * i / 200.0) + 1e-3 * math::sin(7.7 * i * i));
  const Spectrum spectrum = welch(samples, 200.0);
  double power = 0.0;
  for (const double d : spectrum.density) power += d * spectrum.step_hz;
  CHECK(power == doctest::Approx(0.02).epsilon(0.01));
  const auto peaks = peaks_of(spectrum);
  REQUIRE_FALSE(peaks.empty());
  double loudest = 0.0, at = 0.0;
  for (const SpectrumPeak& peak : peaks) {
    if (peak.level_db > loudest) {
      loudest = peak.level_db;
      at = peak.frequency_hz;
    }
  }
  CHECK(at == doctest::Approx(30.0));
  CHECK(loudest > 30.0);
  CHECK(aliased(130.0, 200.0) == doctest::Approx(70.0));
  CHECK(aliased(30.0, 200.0) == doctest::Approx(30.0));
}

TEST_CASE("the Allan deviation of a ramp and of alternating samples, in closed form") {
  std::vector<double> ramp, alternating;
  for (int i = 0; i < 100; ++i) {
    ramp.push_back(0.5 * i);
    alternating.push_back(i % 2 == 0 ? 1.0 : -1.0);
  }
  CHECK(allan_deviation(ramp, 4) == doctest::Approx(0.5 * 4.0 / std::sqrt(2.0)));
  CHECK(allan_deviation(alternating, 1) == doctest::Approx(std::sqrt(2.0)));
  CHECK(allan_deviation(alternating, 2) == doctest::Approx(0.0));
  CHECK(std::isnan(allan_deviation(ramp, 50)));
}

TEST_CASE("a line at an order of the motor or a wheel is named, aliased ones where they fold to") {
  // At 200 Hz: the motor turns at 60 (120 is seen at 80, 180 at 20, 240 at 40), the wheel at 7.
  CHECK(order_near(60.4, 60.0, 7.0, 200.0, 1.0).name == "motor x1");
  CHECK(std::isnan(order_near(60.4, 60.0, 7.0, 200.0, 1.0).from_hz));
  const Order folded = order_near(80.0, 60.0, 7.0, 200.0, 1.0);
  CHECK(folded.name == "motor x2");
  CHECK(folded.expected_hz == doctest::Approx(80.0));
  CHECK(folded.from_hz == doctest::Approx(120.0));
  CHECK(order_near(20.3, 60.0, 7.0, 200.0, 1.0).name == "motor x3");
  CHECK(order_near(21.2, 60.0, 7.0, 200.0, 1.5).name == "wheel x3");
  CHECK(order_near(40.0, 60.0, 7.0, 200.0, 1.0).name == "motor x4");
  CHECK(order_near(27.9, 60.0, 7.0, 200.0, 1.0).name == "wheel x4");
  CHECK(order_near(34.9, 60.0, 7.0, 200.0, 1.0).name == "none");  // a fifth order is none
  CHECK(order_near(61.0, 60.0, 7.0, 200.0, 1.0).name == "none");
  CHECK(order_near(60.0, NAN, 7.0, 200.0, 1.0).name == "none");
}

namespace {

constexpr double kRate_hz = 100.0;
constexpr double kKeep = 0.9;  // of the answer from sample to sample: a time constant of 95 ms
constexpr int kLate = 3;       // samples

/// White noise through gain * (1 - keep) / (1 - keep z^-1) z^-late, with noise upon the answer.
struct Answered {
  std::vector<double> x, y;
  Answered(double gain, double keep, double noise, std::uint64_t seed, std::size_t n) {
    const Rng input(seed, "input"), error(seed, "error");
    double state = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      x.push_back(input.normal(i));
      state = keep * state + (i >= kLate ? (1.0 - keep) * x[i - kLate] : 0.0);
      y.push_back(gain * state + noise * error.normal(i));
    }
  }
};

}  // namespace

TEST_CASE("gain, phase and coherence of a first-order lag with delay and noise are those of its closed form") {
  const Answered made(0.8, kKeep, 0.05, 1, 60'000);
  const TransferFunction transfer = transfer_function(made.x, made.y, kRate_hz, {});
  REQUIRE(transfer.windows == 299);
  REQUIRE(transfer.points.size() == 39);
  CHECK(transfer.points[0].frequency_hz == doctest::Approx(0.5));
  int outside = 0;
  for (const TransferPoint& p : transfer.points) {
    const double w = 2.0 * math::kPi * p.frequency_hz / kRate_hz;
    const double re = 1.0 - kKeep * math::cos(w), im = kKeep * math::sin(w);
    const double gain = 0.8 * (1.0 - kKeep) / math::hypot(re, im);
    const double phase = -math::atan2(im, re) - kLate * w;
    CHECK(p.coherence == doctest::Approx(gain * gain / (gain * gain + 0.05 * 0.05)).epsilon(0.03));
    CHECK(std::abs(p.gain / gain - 1.0) < 5.0 * p.sigma);
    CHECK(std::abs(p.phase_rad - phase) < 5.0 * p.sigma);
    outside += std::abs(p.phase_rad - phase) > 1.96 * p.sigma ? 1 : 0;
  }
  CHECK(outside <= 6);  // of 39; 2 are to be expected, neighbours together
}

TEST_CASE("the delay and the gain of a whole response are covered by their intervals, which are not wider than need be") {
  int delay_covered = 0, gain_covered = 0;
  double squares = 0.0, widths = 0.0;
  constexpr int kRuns = 100;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    const Answered made(0.8, 0.0, 0.3, seed, 6'000);
    const SteadyResponse r = steady_response(transfer_function(made.x, made.y, kRate_hz, {}));
    REQUIRE(r.delay_s.identifiable);
    REQUIRE(r.gain.samples == 3);
    const double error = r.delay_s.value - kLate / kRate_hz;
    delay_covered += std::abs(error) <= r.delay_s.high - r.delay_s.value ? 1 : 0;
    gain_covered += r.gain.low <= 0.8 && 0.8 <= r.gain.high ? 1 : 0;
    squares += error * error / kRuns;
    widths += (r.delay_s.high - r.delay_s.low) / (2.0 * 1.96) / kRuns;
  }
  MESSAGE("covered: delay " << delay_covered << ", gain " << gain_covered << " of 100; delay rms " << 1e3 * std::sqrt(squares)
                            << " ms, taken for " << 1e3 * widths);
  CHECK(delay_covered >= 90);
  CHECK(gain_covered >= 90);
  CHECK(widths < 1.2 * std::sqrt(squares));
}

TEST_CASE("windows with holes or without input are left out, and too few windows say nothing") {
  Answered made(1.0, 0.0, 0.0, 3, 4'000);
  CHECK(transfer_function(made.x, made.y, kRate_hz, {}).windows == 19);
  // The hole spoils the windows 1400 to 1800; the next begin behind it: 1501, ..., 3501.
  made.y[1500] = NAN;
  const TransferFunction holed = transfer_function(made.x, made.y, kRate_hz, {});
  CHECK(holed.windows == 6 + 11);
  CHECK(holed.points[3].gain == doctest::Approx(1.0).epsilon(0.02));
  for (std::size_t i = 1501; i < 4'000; ++i) made.x[i] = 0.0;
  TransferOptions options;
  options.least_input = 0.1;
  const TransferFunction few = transfer_function(made.x, made.y, kRate_hz, options);
  CHECK(few.windows == 6);
  const SteadyResponse r = steady_response(few);
  CHECK_FALSE(r.delay_s.identifiable);
  CHECK(r.delay_s.why == "fewer than 8 windows of turning");
  // Signals that have nothing in common.
  const Answered other(1.0, 0.0, 0.0, 4, 4'000);
  const SteadyResponse none = steady_response(transfer_function(Answered(1.0, 0.0, 0.0, 5, 4'000).x, other.y, kRate_hz, {}));
  CHECK_FALSE(none.delay_s.identifiable);
  CHECK(std::isnan(none.gain.value));
  CHECK(transfer_function({1.0, 2.0}, {1.0, 2.0}, kRate_hz, {}).windows == 0);
}

TEST_CASE("only coherent points count: three above 0.6 say a delay, two do not") {
  const auto point = [](double frequency_hz, double coherence, double delay_s) {
    return TransferPoint{frequency_hz, coherence, 1.0, -2.0 * math::kPi * frequency_hz * delay_s, 0.01};
  };
  TransferFunction transfer{20, {point(0.5, 0.7, 0.1), point(0.75, 0.61, 0.1), point(1.0, 0.9, 0.1), point(1.25, 0.59, 0.5)}};
  CHECK(steady_response(transfer).delay_s.samples == 3);
  CHECK(steady_response(transfer).delay_s.value == doctest::Approx(0.1));
  CHECK(steady_response(transfer).gain.value == doctest::Approx(1.0));
  transfer.points[1].coherence = 0.6;
  CHECK_FALSE(steady_response(transfer).delay_s.identifiable);
  CHECK(steady_response(transfer).delay_s.why == "coherence is above 0.6 at fewer than 3 frequencies");
}
