// SPDX-License-Identifier: Apache-2.0
#include "analysis/icp_excursions.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/tracks.hpp"

using namespace pitwall;
using namespace pitwall::analysis;

namespace {
constexpr double kBound = 1.15 * 0.218;
}

TEST_CASE("a kept step is retained, a spike is taken back") {
  std::vector<Pose2> wheels(100, {0.02, 0.0, 0.0});
  std::vector<Pose2> scans = wheels;
  scans[30].x = 0.12;
  scans[70].x = 0.12;
  scans[71].x = -0.08;
  const Excursions x = excursions_of(tracks_of(wheels, scans), kBound, 2.0);
  CHECK(x.window == 20);
  REQUIRE(x.found.size() == 3);  // the way back is one, too
  const Excursion& kept = x.found[0];
  CHECK(kept.t_s == doctest::Approx(3.0));
  CHECK(kept.jump_m == doctest::Approx(0.1));
  CHECK(kept.before_m == doctest::Approx(0.0));
  CHECK(kept.after_m == doctest::Approx(0.0));
  CHECK(kept.retained_m() == doctest::Approx(0.1));
  CHECK_FALSE(kept.taken_back());
  CHECK(x.found[1].after_m == doctest::Approx(-0.1));
  CHECK(x.found[1].taken_back());
  CHECK(x.ordinary_gap_m.max < 1e-12);
}

TEST_CASE("a window that is not covered says nothing, a loop does not shorten it") {
  std::vector<Pose2> wheels(60, {0.02, 0.0, 0.0});
  std::vector<Pose2> scans = wheels;
  scans[5].x = 0.05;
  scans[55].x = 0.05;
  const Excursions x = excursions_of(tracks_of(wheels, scans), kBound, 2.0);
  REQUIRE(x.found.size() == 2);
  CHECK(std::isnan(x.found[0].before_m));
  CHECK(x.found[0].after_m == doctest::Approx(0.0));
  CHECK(std::isnan(x.found[1].after_m));
  CHECK(x.retained_m == doctest::Approx(0.03));

  // A full circle within the window, the scans tell 10 % more.
  std::vector<Pose2> round(60, {0.02, 0.0, math::kPi / 10.0});
  std::vector<Pose2> more(60, {0.022, 0.0, math::kPi / 10.0});
  more[30].x = 0.05;
  CHECK(excursions_of(tracks_of(round, more), kBound, 2.0).found[0].after_m == doctest::Approx(20 * 0.002));
}

TEST_CASE("no excursion is a result; the joint bound of the wheels is one of a vehicle with two") {
  const std::vector<Pose2> steps(40, {0.02, 0.0, 0.06});
  const Excursions x = excursions_of(tracks_of(steps, steps), kBound, 2.0, 0.22);
  CHECK(x.found.empty());
  CHECK(std::isnan(x.jump_m.p50));
  REQUIRE(x.faster_wheel);
  CHECK(x.faster_wheel->p50 == doctest::Approx(0.2 + 0.11 * 0.6));
  CHECK(x.wheel_over_joint == 40);
  CHECK_FALSE(excursions_of(tracks_of(steps, steps), kBound, 2.0).faster_wheel);
}

TEST_CASE("the ten recorded excursions: jumps and what is retained as recorded, to the millimetre") {
  const auto folder = test_data("runs/mote");
  if (!folder) return;
  for (const Row& row : golden_rows(*folder / "icp_excursions_golden.csv")) {
    CAPTURE(row.at("t_s"));
    // Windows of 20 steps that hold the recorded gaps.
    const double dt_s = value_of(row, "dt_s");
    std::vector<Pose2> wheels(20, {0.01, 0.0, 0.0});
    std::vector<Pose2> scans(20, {0.01 + value_of(row, "gap_before_m") / 20.0, 0.0, 0.0});
    wheels.push_back(wheel_step(row));
    scans.push_back(scan_step(row));
    wheels.insert(wheels.end(), 20, {0.01, 0.0, 0.0});
    scans.insert(scans.end(), 20, {0.01 + value_of(row, "gap_after_m") / 20.0, 0.0, 0.0});
    const Excursions x = excursions_of(tracks_of(wheels, scans, dt_s), kBound, 20.0 * dt_s);
    REQUIRE(x.found.size() == 1);
    const Excursion& e = x.found[0];
    CHECK(e.scan_mps == doctest::Approx(value_of(row, "icp_speed_mps")).epsilon(0.01));
    CHECK(std::abs(e.jump_m - value_of(row, "jump_m")) < 1.1e-3);
    CHECK(std::abs(e.before_m - value_of(row, "gap_before_m")) < 1e-9);
    CHECK(std::abs(e.after_m - value_of(row, "gap_after_m")) < 1e-9);
    CHECK(std::abs(e.retained_m() - value_of(row, "retained_m")) < 1.6e-3);
    CHECK(e.yaw_rate_radps * 180.0 / math::kPi == doctest::Approx(value_of(row, "icp_yaw_rate_dps")));
  }
}

TEST_CASE("the report of excursions is a gate") {
  const TempFolder folder("icp_excursions");
  std::vector<Pose2> steps(60, {0.02, 0.0, 0.0});
  const std::vector<Pose2> wheels = chain(steps);
  steps[30].x = 0.05;
  const auto bag = tracks_bag(folder.path() / "bag", wheels, chain(steps));
  ExcursionOptions options;
  options.envelope = localization::MotionEnvelope::differential(0.218, 0.22);
  options.max_excursions = 1;
  options.max_retained_m = 0.031;
  const GatedReport report = icp_excursions({bag, folder.path() / "nothing"}, options);
  CHECK(report.gate.passed());
  CHECK(report.refused.size() == 1);
  CHECK(fact(report.document.sections.at(0), "retained_m")->number == doctest::Approx(0.03));
  options.max_excursions = 0;
  options.max_retained_m = 0.029;
  CHECK(icp_excursions({bag}, options).gate.failures().size() == 2);
}
