// SPDX-License-Identifier: Apache-2.0
#include "analysis/odom_health.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tests/support/tracks.hpp"

using namespace pitwall;
using namespace pitwall::analysis;

namespace {
const localization::MotionEnvelope kRobot = localization::MotionEnvelope::differential(0.218, 0.22);
}

TEST_CASE("ways, turns and differences of a drive in closed form") {
  std::vector<Pose2> wheels(100, {0.020, 0.0, 0.01});
  std::vector<Pose2> scans(100, {0.016, 0.0, 0.02});
  wheels[50] = {0.0, 0.0, 0.0};  // below 0.02 m/s: no difference is taken
  scans[50] = {0.0, 0.0, 0.0};
  const OdomHealth h = health_of(tracks_of(wheels, scans), kRobot, 1.15);
  CHECK(h.intervals == 100);
  CHECK(h.duration_s == doctest::Approx(10.0));
  CHECK(h.wheel_way_m == doctest::Approx(1.98));
  CHECK(h.scan_way_m == doctest::Approx(1.584));
  CHECK(h.wheels_longer_percent() == doctest::Approx(25.0));
  CHECK(h.scan_turned_rad == doctest::Approx(1.98));
  CHECK(h.residual_mps.samples == 99);
  CHECK(h.residual_mps.p50 == doctest::Approx(0.04));
  CHECK(h.residual_radps.max == doctest::Approx(0.1));
  CHECK(h.scan_excursions == 0);
  CHECK(std::isnan(h.margins.excursion_mps));
}

TEST_CASE("excursions are counted with their runs, for scans, wheels and turns apart") {
  std::vector<Pose2> wheels(50, {0.010, 0.0, 0.0});
  std::vector<Pose2> scans = wheels;
  for (const int i : {5, 6, 7, 20}) scans[static_cast<std::size_t>(i)].x = 0.03;
  wheels[30].x = 0.026;
  scans[40].yaw = 0.3;  // 3 rad/s, the bound is 2.279
  const OdomHealth h = health_of(tracks_of(wheels, scans), kRobot, 1.15);
  CHECK(h.scan_excursions == 4);
  CHECK(h.runs == 2);
  CHECK(h.longest_run == 3);
  CHECK(h.isolated == 1);
  CHECK(h.wheel_excursions == 1);
  CHECK(h.scan_turns == 1);
}

TEST_CASE("the bound of the small robot lies 1.02 above its fastest drive and 1.09 below its slowest jump") {
  const auto folder = test_data("runs/mote");
  if (!folder) return;
  const auto rows = golden_rows(*folder / "icp_excursions_golden.csv");
  REQUIRE(rows.size() == 10);
  std::vector<double> speeds{0.0, 0.147, 0.226, 0.2453};  // what its gate let pass: median, p99 and maximum
  for (const Row& row : rows) speeds.push_back(value_of(row, "icp_speed_mps"));
  const BoundMargins m = margins_of(speeds, 1.15 * 0.218);
  CHECK(m.bound_mps == doctest::Approx(0.2507));
  CHECK(m.ordinary_mps == 0.2453);
  CHECK(m.excursion_mps == 0.273);
  CHECK(std::round(100.0 * m.over_ordinary()) == 102.0);
  CHECK(std::round(100.0 * m.under_excursion()) == 109.0);
  CHECK(m.histogram[0] == 1);
  CHECK(m.histogram[9] == 2);
  CHECK(m.histogram[10] == 1);  // 0.273; 0.276 is in the next
  CHECK(m.histogram[19] == 1);  // 1.197 m/s
}

TEST_CASE("a bound on the speed itself belongs to the ordinary ones") {
  const BoundMargins m = margins_of({0.5, 1.0, 1.5}, 1.0);
  CHECK(m.ordinary_mps == 1.0);
  CHECK(m.excursion_mps == 1.5);
}

TEST_CASE("the report is a gate, and goes on after a recording that is none") {
  const TempFolder folder("odom_health");
  std::vector<Pose2> steps(30, {0.02, 0.0, 0.0});
  const std::vector<Pose2> wheels = chain(steps);
  steps[10].x = 0.04;
  const auto bag = tracks_bag(folder.path() / "bag", wheels, chain(steps));
  OdomHealthOptions options;
  options.envelope = kRobot;
  GatedReport report = odom_health({folder.path() / "nothing", bag}, options);
  CHECK(report.refused.size() == 1);
  CHECK(report.gate.passed());
  REQUIRE(report.document.sections.size() == 1);
  const Section& section = report.document.sections[0];
  CHECK(fact(section, "excursions")->number == 1.0);
  CHECK(fact(section, "under_excursion")->number == doctest::Approx(0.4 / 0.2507));
  CHECK(section.tables[1].rows.size() == 20);
  options.max_excursions = 1;
  options.max_path_difference_percent = 3.5;
  options.max_residual_mps = 0.2;
  CHECK(odom_health({bag}, options).gate.passed());
  options.max_excursions = 0;
  CHECK(odom_health({bag}, options).gate.failures().size() == 1);
  options.max_path_difference_percent = 3.0;  // 0.60 m against 0.62 m: 3.2 %
  CHECK(odom_health({bag}, options).gate.failures().size() == 2);
  options.max_residual_mps = 0.1;
  CHECK(odom_health({bag}, options).gate.failures().size() == 3);
}
