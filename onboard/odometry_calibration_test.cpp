// SPDX-License-Identifier: Apache-2.0
#include "onboard/odometry_calibration.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/math.hpp"
#include "onboard/pad_watch.hpp"

using namespace pitwall;
using namespace pitwall::onboard;

namespace {

// A run with a triangle of speed (its integral by trapezoids is exact) along `way_m`, as a car of that gain and offset reports it.
TapeTrial trial(double gain, double offset, double way_m, double tape_m) {
  TapeTrial out{"trial", {}, tape_m};
  const double peak_mps = way_m / 2.0;  // 4 s long
  for (int k = 0; k <= 100; ++k) {
    const double t = 0.05 * k;
    const double speed = std::max(0.0, peak_mps * (1.0 - std::abs(t - 2.5) / 2.0));
    out.series.t_s.push_back(100.0 + t);
    out.series.erpm.push_back(gain * speed + offset);
  }
  return out;
}

std::string complaint(const std::vector<TapeTrial>& trials, double offset = 0.0) {
  const auto gain = measure_gain(trials, offset);
  return gain ? "" : gain.error().message;
}
bool has(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

CircleTrial circle(double servo, double gain, double offset, double wheelbase) {
  const double angle = (servo - offset) / gain;
  return {servo, angle == 0.0 ? std::numeric_limits<double>::infinity() : 2.0 * wheelbase / std::abs(math::tan(angle)), angle > 0.0};
}

}  // namespace

TEST_CASE("gain is the median over the trials of the integral over the tape, offset taken off") {
  const auto gain = measure_gain({trial(4614, 30, 5.0, 5.0), trial(4614, 30, 5.1, 5.0), trial(4614, 30, 4.95, 5.0)}, 30.0);
  REQUIRE(gain.ok());
  CHECK(gain->gain == doctest::Approx(4614));
  CHECK(gain->trials[1] == doctest::Approx(4614 * 1.02));
  CHECK(gain->spread == doctest::Approx(4614 * 0.01));
}

TEST_CASE("a negative gain is a fault of direction, not a gain") {
  const std::vector<TapeTrial> backwards(3, trial(-4614, 0, 5.0, 5.0));
  CHECK(has(complaint(backwards), "fault of direction"));
}

TEST_CASE("too few, too short, not at rest, with gaps or with slip: refused with the reason") {
  const TapeTrial good = trial(4614, 0, 5.0, 5.0);
  CHECK(complaint({good, good, good}).empty());
  CHECK(has(complaint({good, good}), "at least 3"));
  CHECK(has(complaint({good, good, trial(4614, 0, 0.5, 0.5)}), "at least 1 m"));
  TapeTrial rolling = good;
  rolling.series.erpm.back() = 500;
  CHECK(has(complaint({good, good, rolling}), "begin and end standing"));
  TapeTrial gap = good;
  for (std::size_t k = 50; k < gap.series.t_s.size(); ++k) gap.series.t_s[k] += 0.3;
  CHECK(has(complaint({good, good, gap}), "apart"));
  CHECK(has(complaint({good, good, trial(4614, 0, 5.5, 5.0)}), "differ"));
}

TEST_CASE("offset is the median at rest over 5 s, and a car that moved has none") {
  ErpmSeries rest;
  for (int k = 0; k <= 250; ++k) {
    rest.t_s.push_back(0.02 * k);
    rest.erpm.push_back(k % 5 == 0 ? 50.0 : 12.0);
  }
  const auto offset = measure_offset(rest);
  REQUIRE(offset.ok());
  CHECK(*offset == 12.0);
  rest.erpm[100] = 900.0;
  CHECK_FALSE(measure_offset(rest).ok());
  rest.erpm[100] = 12.0;
  rest.t_s.back() = 4.9;
  CHECK_FALSE(measure_offset(rest).ok());
}

TEST_CASE("steering comes back from the circles that it gives") {
  const double gain = -1.2135;
  const double offset = 0.5304;
  const auto measured = measure_steering({circle(0.2, gain, offset, 0.36), circle(0.4, gain, offset, 0.36),
                                          circle(offset, gain, offset, 0.36), circle(0.8, gain, offset, 0.36)},
                                         0.36);
  REQUIRE(measured.ok());
  CHECK(measured->gain_per_rad == doctest::Approx(gain));
  CHECK(measured->offset == doctest::Approx(offset));
  CHECK(measured->residual_rad < 1e-9);
  CHECK_FALSE(
      measure_steering({circle(0.2, gain, offset, 0.36), circle(0.3, gain, offset, 0.36), circle(0.4, gain, offset, 0.36)}, 0.36).ok());
  CHECK_FALSE(measure_steering({{0.5, 2.0, true}, {0.5, 2.0, true}, {0.5, 2.0, false}}, 0.36).ok());
  CHECK_FALSE(measure_steering({circle(0.2, gain, offset, 0.36), circle(0.8, gain, offset, 0.36), {0.5, 1.0, true}}, 0.36).ok());
}

TEST_CASE("a measured value replaces its line of the profile and no other") {
  const std::string profile =
      "a: {value: 1, unit: m, provenance: SPEC, source: \"x\"}\n# note\nab: {value: 2, unit: eRPM s/m, provenance: STOCK, source: \"y\"}\n";
  const auto out = with_measured(profile, "ab", 4711.25, "tape 5 m");
  REQUIRE(out.ok());
  CHECK(*out ==
        "a: {value: 1, unit: m, provenance: SPEC, source: \"x\"}\n# note\nab: {value: 4711.25, unit: eRPM s/m, provenance: MEASURED, "
        "source: \"tape 5 m\"}\n");
  CHECK_FALSE(with_measured(profile, "b", 1.0, "z").ok());
}

TEST_CASE("a pad counts as streaming only after 5 s at rest without a gap, and keeps that while it is silent in motion") {
  PadWatch pad;
  Time now;
  const auto events_for = [&](std::int64_t ms, std::int64_t period_ms, bool at_rest) {
    for (std::int64_t t = 0; t < ms; t += period_ms) {
      now = now + from_milliseconds(period_ms);
      pad.look(now, now, true, at_rest);
    }
  };
  events_for(4900, 100, true);
  CHECK_FALSE(pad.streams());
  pad.look(now + from_milliseconds(500), now, true, true);
  now = now + from_milliseconds(500);
  events_for(4900, 100, true);
  CHECK_FALSE(pad.streams());
  events_for(300, 100, true);
  CHECK(pad.streams());
  pad.look(now + from_milliseconds(3000), now, true, false);
  CHECK(pad.streams());
  pad.reset();
  events_for(20000, 100, false);
  CHECK_FALSE(pad.streams());  // a hand that drives proves nothing
}
