// SPDX-License-Identifier: Apache-2.0
#include "analysis/imu_spectrum.hpp"

#include <doctest/doctest.h>

#include "core/math.hpp"

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
