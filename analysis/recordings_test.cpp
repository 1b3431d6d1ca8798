// SPDX-License-Identifier: Apache-2.0
// The reports on recordings of others: real bags and imported logs of real cars. What is missing degrades its own section or is refused by
// name; what can be said is pinned.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "analysis/estimator_replay.hpp"
#include "analysis/icp_gate_replay.hpp"
#include "analysis/imu_report.hpp"
#include "analysis/imu_spectrum.hpp"
#include "analysis/odom_health.hpp"
#include "analysis/path_report.hpp"
#include "analysis/slip_replay.hpp"
#include "analysis/yaw_tracking.hpp"
#include "core/files.hpp"
#include "recording/import_run.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/test_data.hpp"

using namespace pitwall;
using namespace pitwall::analysis;
namespace fs = std::filesystem;

namespace {

ImuRunOptions options_for(const fs::path& run, const TempFolder& out) {
  ImuRunOptions options;
  options.run = run;
  options.out = out.path() / (run.filename().string() + ".analysis");
  options.driver.data = data_folder();
  options.driver.profile = "f1tenth";
  return options;
}

fs::path imported(const fs::path& log, const fs::path& output) {
  recording::ImportOptions options;
  options.log = log;
  options.output = output;
  const auto done = recording::import_run(options);
  REQUIRE_MESSAGE(done.ok(), done.error().message);
  return output;
}

bool says(const Error& error, const std::string& part) { return error.message.find(part) != std::string::npos; }
bool says(const ReportResult& result, const std::string& part) { return to_markdown(result.document).find(part) != std::string::npos; }

double fact(const GatedReport& report, const std::string& key) {
  for (const Fact& each : report.document.sections.at(0).facts) {
    if (each.key == key) return each.value.number;
  }
  FAIL_CHECK(key);
  return NAN;
}

}  // namespace

TEST_CASE("a robot with a localiser: what SLAM put right, as counted by hand, and its way and turn") {
  const auto bag = test_data("bags/evo_nav2_turtlebot");
  if (!bag) return;
  const TempFolder folder("recordings");
  const auto run = load_imu_run(options_for(*bag, folder), false);
  REQUIRE_MESSAGE(run.ok(), run.error().message);
  REQUIRE(run->corrections.size() == 1);
  const Track& edge = run->corrections[0];
  CHECK(edge.source == "map->odom");
  CHECK(edge.size() + edge.left_out == 921);
  const HeadingCorrection c = heading_correction(edge);
  double largest_deg = 0.0, largest_m = 0.0;
  std::size_t changes = 0;
  for (std::size_t i = 1; i < edge.size(); ++i) {
    const double turn = std::abs(edge.pose[i].yaw - edge.pose[i - 1].yaw);
    const double move = distance(edge.pose[i].position(), edge.pose[i - 1].position());
    largest_deg = std::max(largest_deg, turn * 180.0 / math::kPi);
    largest_m = std::max(largest_m, move);
    changes += turn > 1e-6 || move > 1e-6 ? 1 : 0;
  }
  CHECK(changes == 132);
  CHECK(c.changes <= changes);
  CHECK(c.changes > 100);
  CHECK(largest_deg == doctest::Approx(2.12).epsilon(0.005));
  CHECK(largest_m == doctest::Approx(0.364).epsilon(0.002));
  CHECK(c.variation_rad >= std::abs(c.final_rad));
  const OdometrySeries& odometry = run->odometries.at(0).series;
  double way = 0.0, turned = 0.0;
  for (std::size_t i = 1; i < odometry.size(); ++i) {
    way += std::hypot(odometry.x_m[i] - odometry.x_m[i - 1], odometry.y_m[i] - odometry.y_m[i - 1]);
    turned += std::abs(wrap_angle(odometry.yaw_rad[i] - odometry.yaw_rad[i - 1]));
  }
  CHECK(way == doctest::Approx(34.32).epsilon(0.0005));
  CHECK(turned * 180.0 / math::kPi == doctest::Approx(806.9).epsilon(0.0005));
  // What lacks is refused by name.
  ImuReportOptions imu;
  imu.run = options_for(*bag, folder);
  CHECK(says(imu_report(imu).error(), "no IMU was recorded: no topic of type sensor_msgs/msg/Imu"));
  CHECK(path_report(*bag, {}).refused.at(0).find("no plan: there is no /plan") != std::string::npos);
  // The localiser's poses as the track, beside the wheels.
  OdomHealthOptions health;
  health.envelope = localization::MotionEnvelope::differential(0.6, 0.3);
  health.tracks.scans = "/amcl_pose";
  const GatedReport report = odom_health({*bag}, health);
  REQUIRE_MESSAGE(report.refused.empty(), report.refused.front());
}

TEST_CASE("an IMU alone: its spectrum says what it lacks, and the report compares it with the localiser's heading only") {
  const auto bag = test_data("bags/reductstore_demo");
  if (!bag) return;
  const TempFolder folder("recordings");
  ImuSpectrumOptions spectrum;
  spectrum.run = options_for(*bag, folder);
  const auto lines = imu_spectrum(spectrum);
  REQUIRE_MESSAGE(lines.ok(), lines.error().message);
  CHECK(says(*lines, "skipped: neither the motor's revolutions (sensors/core) nor an odometry were recorded"));
  CHECK(says(*lines, "no commands were recorded"));
  CHECK(says(*lines, "neither scans nor a truth tell the turn"));
  ImuReportOptions report;
  report.run = options_for(*bag, folder);
  const auto compared = imu_report(report);
  REQUIRE_MESSAGE(compared.ok(), compared.error().message);
  CHECK(says(*compared, "not available: no odometry, no scans and no second gyro"));
  CHECK(says(*compared, "| gyro /nissan/gps/duro/imu |"));
  EstimatorReplayOptions estimator;
  estimator.run = options_for(*bag, folder);
  CHECK(says(estimator_replay(estimator).error(), "no odometry was recorded (/odom): the estimator needs the wheels"));
  YawTrackingOptions yaw;
  yaw.run = options_for(*bag, folder);
  CHECK(says(yaw_tracking(yaw).error(), "no commands were recorded"));
}

TEST_CASE("logs of a racing car: units told, gyro beside the particle filter, estimator, turns") {
  const auto logs = test_data("runs/frictionmaps");
  if (!logs) return;
  const TempFolder folder("recordings");
  for (const std::string name : {"DS1", "DS3", "DS5"}) {
    CAPTURE(name);
    const fs::path run = imported(*logs / name, folder.path() / name);
    ImuReportOptions report;
    report.run = options_for(run, folder);
    report.run.driver.profile = "f1tenth";
    const auto compared = imu_report(report);
    REQUIRE_MESSAGE(compared.ok(), compared.error().message);
    CHECK(says(*compared, "acceleration in m/s^2"));
    CHECK(says(*compared, "| odometry /odom "));
    ImuSpectrumOptions spectrum;
    spectrum.run = report.run;
    CHECK(imu_spectrum(spectrum).ok());
    YawTrackingOptions yaw;
    yaw.run = report.run;
    CHECK(yaw_tracking(yaw).ok());
    EstimatorReplayOptions estimator;
    estimator.run = report.run;
    estimator.car_given = true;
    CHECK(estimator_replay(estimator).ok());
    CHECK_FALSE(odom_health({run}, {}).refused.empty());
  }
  // The particle filter and the gyro of the first, which both measure: one scale.
  const auto run = load_imu_run(options_for(folder.path() / "DS1", folder), true);
  const auto sources = rate_sources(*run);
  const auto gyro = std::find_if(sources.begin(), sources.end(), [](const RateSource& s) { return s.name == "gyro /imu"; });
  const auto filter = std::find_if(sources.begin(), sources.end(), [](const RateSource& s) { return s.name == "odometry /pf/odom"; });
  REQUIRE(gyro != sources.end());
  REQUIRE(filter != sources.end());
  const RatePair pair = compare_rates(*gyro, *filter);
  CHECK(pair.scale.value == doctest::Approx(0.986).epsilon(0.01));
  CHECK(pair.scale.low < 1.0);
  CHECK(pair.scale.high > 1.0);
}

TEST_CASE("a particle filter that jumps through the gate of the car: within the bound, and on the wheels' way where nothing slips") {
  const auto log = test_data("runs/frictionmaps/DS1");
  if (!log) return;
  const TempFolder folder("recordings");
  const fs::path run = imported(*log, folder.path() / "DS1");
  GateReplayOptions options;
  options.tracks.wheels = "/odom";
  options.tracks.scans = "/slam_pose";
  // Neither servo nor floor of this car is known: it is judged by the fastest speed of its wheels.
  options.gate.envelope = {4.859, 10.0, 0.0, 0.0};
  options.gate.catch_up_s = 1.0;
  options.max_quiet_percent = 5.0;
  options.out = folder.path() / "gated";
  const GatedReport report = icp_gate_replay(run, options);
  REQUIRE_MESSAGE(report.refused.empty(), report.refused.front());
  CHECK(report.gate.passed());
  const double bound = 1.15 * 4.859;
  CHECK(fact(report, "raw_fastest_mps") > 25.0);
  CHECK(fact(report, "gated_fastest_mps") <= bound * (1.0 + 1e-9));
  CHECK(std::abs(fact(report, "quiet_off_percent")) <= 5.0);
  CHECK(fact(report, "quiet_windows") >= 35.0);
  CHECK(fact(report, "quiet_wheels_m") > 90.0);
  MESSAGE("fastest " << fact(report, "raw_fastest_mps") << " -> " << fact(report, "gated_fastest_mps")
                     << " m/s; way where nothing slips: wheels " << fact(report, "quiet_wheels_m") << ", raw "
                     << fact(report, "quiet_raw_m") << ", gated " << fact(report, "quiet_gated_m") << " m");
  // Without leave to catch up it loses way, and the gate says so.
  options.gate.catch_up_s = 0.0;
  options.out.clear();
  CHECK_FALSE(icp_gate_replay(run, options).gate.passed());
  // What was written has no excursion left.
  OdomHealthOptions health;
  health.envelope = options.gate.envelope;
  health.tolerance = 1.1501;  // replaced steps lie on the bound itself
  health.max_excursions = 0.0;
  const GatedReport after = odom_health({folder.path() / "gated"}, health);
  REQUIRE_MESSAGE(after.refused.empty(), after.refused.front());
  CHECK(after.gate.passed());
}

TEST_CASE("logs with every 25th beam cannot be matched, and that is said instead of a speed") {
  const auto logs = test_data("runs/f1tenth_ini");
  if (!logs) return;
  const TempFolder folder("recordings");
  const fs::path run = imported(*logs / "2025_10_10__Circles__2025-10-10_04-49-55_IPZ8_pp.csv", folder.path() / "circles");
  OdomHealthOptions options;
  options.envelope = localization::MotionEnvelope::differential(20.0, 0.3);
  const GatedReport matched = odom_health({run}, options);
  REQUIRE(matched.refused.size() == 1);
  CHECK(matched.refused[0].find("pairs of scans the walls do not tell the speed; name another source (--scans SOURCE)") !=
        std::string::npos);
  // The localiser's poses can be compared: the reported speed is 11 to 14 % too high in these logs.
  options.tracks.scans = "/slam_pose";
  const GatedReport posed = odom_health({run}, options);
  REQUIRE_MESSAGE(posed.refused.empty(), posed.refused.front());
  const double by_poses = fact(posed, "scan_path_m"), by_wheels = fact(posed, "wheel_path_m");
  MESSAGE("poses " << by_poses << " m, wheels " << by_wheels << " m");
  CHECK(by_poses / by_wheels > 0.86);
  CHECK(by_poses / by_wheels < 0.93);
  const auto compared = imu_report({options_for(run, folder), {}, {}, {}, {}, {}});
  CHECK(says(compared.error(), "no IMU was recorded"));
}

TEST_CASE("the verdicts that a small robot's monitor raised follow from what was seen, by the same words") {
  const auto folder = test_data("runs/mote");
  if (!folder) return;
  const localization::SlipMonitorParameters thresholds;
  // Speeds over the window in each row's evidence: wheels, scans.
  struct Seen {
    double wheel_mps, scan_mps;
  };
  const std::vector<std::pair<std::string, std::vector<Seen>>> evidence{
      {"59.1", {{0.0, 0.12}}},                            // wheels zero translation, scans jump 0.12 m
      {"17.5", {{0.2, 0.356}}},                           // scans 0.356 m/s above 0.251
      {"295.5", {{0.2, 0.326}}},                          // 0.326 m/s
      {"321.2", {{0.2, 0.3}, {0.15, 0.0}, {0.22, 0.0}}},  // stuck: scans frozen while the wheels report 0.15 to 0.22
      {"46.1", {{0.21, 0.0}}},                            // jammed: scans frozen, wheels 0.21
      {"", {{0.1, 0.1}}}};
  std::ifstream in(*folder / "slip_verdicts_golden.csv");
  std::size_t rows = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    std::vector<std::string> cells;
    std::stringstream split(line);
    for (std::string cell; std::getline(split, cell, ',');) cells.push_back(cell);
    CAPTURE(line);
    const auto seen = std::find_if(evidence.begin(), evidence.end(), [&](const auto& each) { return each.first == cells[1]; });
    REQUIRE(seen != evidence.end());
    std::string words;
    for (const Seen& each : seen->second) {
      localization::SlipResidual residual;
      residual.wheel_mps = each.wheel_mps;
      residual.scan_mps = each.scan_mps;
      residual.missing = localization::NoResidual::kNone;
      const std::string word(to_string(localization::classify(thresholds, residual, std::nullopt)));
      if (words.ends_with(word)) continue;
      words += (words.empty() ? "" : "_then_") + word;
    }
    CHECK((words == "ok" ? "none" : words) == cells[3]);
    // No verdict is shorter than the two seconds of quiet after which it is withdrawn.
    if (!cells[1].empty()) CHECK(std::stod(cells[2]) - std::stod(cells[1]) >= thresholds.release_s);
    ++rows;
  }
  CHECK(rows == 7);
}
