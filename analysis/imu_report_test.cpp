// SPDX-License-Identifier: Apache-2.0
#include "analysis/imu_report.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "analysis/turn_rates.hpp"
#include "core/files.hpp"
#include "recording/import_run.hpp"
#include "tests/support/imu_drive.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/test_data.hpp"

using namespace pitwall;
using namespace pitwall::analysis;

namespace {

ImuRunOptions report_options_for(const std::filesystem::path& run) {
  ImuRunOptions options;
  options.run = run;
  options.driver.data = data_folder();
  return options;
}

ReportResult reported(const ImuReportOptions& options) {
  auto result = imu_report(options);
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  return *std::move(result);
}

const Section& section(const ReportResult& result, const std::string& key) {
  const auto& all = result.document.sections;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Section& each) { return each.key == key; });
  REQUIRE_MESSAGE(found != all.end(), key);
  return *found;
}

bool warned(const ReportResult& result, const std::string& part) {
  const auto& all = result.document.warnings;
  return std::any_of(all.begin(), all.end(), [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

}  // namespace

TEST_CASE("delay, scale and bias of a gyro against another rate are those put in") {
  const TempFolder folder("imu_pairs");
  const ImuDrive drive;
  write_drive(folder.path() / "bag", drive);
  const auto run = load_imu_run(report_options_for(folder.path() / "bag"), true);
  REQUIRE_MESSAGE(run.ok(), run.error().message);
  const std::vector<RateSource> sources = rate_sources(*run);
  REQUIRE(sources.size() == 2);
  CHECK(sources[0].name == "gyro /imu");
  // The odometry is what the gyro should have read: it leads by the gyro's delay.
  const RatePair pair = compare_rates(sources[0], sources[1]);
  CHECK(pair.delay_s.identifiable);
  CHECK(pair.delay_s.value == doctest::Approx(-drive.gyro_delay_s).epsilon(0.05));
  CHECK(pair.scale.value == doctest::Approx(1.0 / drive.gyro_scale).epsilon(0.002));
  CHECK(pair.bias_radps.value == doctest::Approx(-drive.gyro_bias_radps / drive.gyro_scale).epsilon(0.05));
  CHECK(pair.correlation > 0.999);
}

TEST_CASE("steering lag and turning gain by the gyro, and the heading a localiser put right") {
  const TempFolder folder("imu_steering");
  ImuDrive drive;
  drive.gyro_delay_s = 0.0;
  drive.gyro_scale = 1.0;
  write_drive(folder.path() / "bag", drive);
  ImuReportOptions options;
  options.run = report_options_for(folder.path() / "bag");
  const ReportResult result = reported(options);
  const Table& steering = section(result, "steering").tables.at(0);
  // The car of this bag has a wheelbase of its own; the profile's is taken.
  const auto run = load_imu_run(options.run, true);
  const double wheelbase = run->car.wheelbase_m;
  for (const auto& row : steering.rows) {
    if (row[1].text == "steering_lag_s") CHECK(row[3].number == doctest::Approx(drive.steering_lag_s).epsilon(0.05));
    if (row[1].text == "steering_gain") {
      CHECK(row[3].number == doctest::Approx(drive.turning_gain * wheelbase / drive.wheelbase_m).epsilon(0.02));
    }
  }
  const Table& headings = section(result, "headings").tables.at(0);
  CHECK(headings.rows.at(0).at(0).text == "odometry /odom");
  CHECK(headings.rows.at(0).at(3).number == doctest::Approx(0.001 * 59.9 * 180.0 / math::kPi).epsilon(0.01));
  CHECK(headings.rows.at(0).at(6).number == doctest::Approx(headings.rows.at(0).at(3).number).epsilon(0.01));
}

TEST_CASE("what SLAM put right is read from /tf, too, and the same for each odometry and gyro") {
  const TempFolder folder("imu_tf");
  ImuDrive drive;
  drive.gyro_bias_radps = 0.002;
  drive.gyro_scale = 1.0;
  drive.gyro_delay_s = 0.0;
  drive.corrections_by_tf = true;
  write_drive(folder.path() / "bag", drive);
  ImuReportOptions options;
  options.run = report_options_for(folder.path() / "bag");
  options.max_heading_deg = 4.0;
  const ReportResult result = reported(options);
  CHECK(result.gate.passed());
  const Section& headings = section(result, "headings");
  REQUIRE(headings.tables.size() == 2);
  // A turn of 0.001 rad/s for 59.9 s, ten times a second.
  const double end_deg = 0.001 * 59.9 * 180.0 / math::kPi;
  const auto& edge = headings.tables[0].rows.at(0);
  CHECK(edge[0].text == "map->odom");
  CHECK(edge[1].number == 600.0);
  CHECK(edge[2].number == 599.0);
  CHECK(edge[3].number == doctest::Approx(end_deg).epsilon(1e-6));
  CHECK(edge[5].number == doctest::Approx(end_deg / std::sqrt(3.0)).epsilon(0.01));
  CHECK(edge[6].number == doctest::Approx(end_deg).epsilon(1e-6));
  CHECK(headings.facts.at(0).value.text == "map->odom on top of /odom");
  CHECK(headings.tables[1].rows.at(0)[3].number == doctest::Approx(end_deg).epsilon(0.01));
  // The gyro turns too far by its bias, the odometry too little.
  CHECK(headings.tables[1].rows.at(1)[3].number == doctest::Approx(-end_deg).epsilon(0.05));
  options.max_heading_deg = 1.0;
  CHECK_FALSE(reported(options).gate.passed());
}

TEST_CASE("of headings: changes, end, largest, rms and the sum of all changes, the short way round") {
  Track correction;
  for (const double yaw : {3.0, 3.0, 3.2, 3.1, 3.1}) correction.pose.push_back({0.0, 0.0, yaw});
  const HeadingCorrection c = heading_correction(correction);
  CHECK(c.samples == 5);
  CHECK(c.changes == 2);
  CHECK(c.final_rad == doctest::Approx(0.1));
  CHECK(c.max_rad == doctest::Approx(0.2));
  CHECK(c.rms_rad == doctest::Approx(std::sqrt((0.04 + 0.01 + 0.01) / 4.0)));
  CHECK(c.variation_rad == doctest::Approx(0.3));
  correction.pose.resize(1);
  CHECK(std::isnan(heading_correction(correction).final_rad));
}

TEST_CASE("an IMU in g and deg/s gives the same numbers, with a warning") {
  const TempFolder folder("imu_g");
  ImuDrive drive;
  drive.gravity = 1.0;
  drive.rate_unit = 180.0 / math::kPi;
  write_drive(folder.path() / "bag", drive);
  const auto run = load_imu_run(report_options_for(folder.path() / "bag"), true);
  REQUIRE(run.ok());
  CHECK(run->imus[0].units.rate == recording::RateUnit::kDegreesPerSecond);
  CHECK(run->imus[0].series.accel_z[0] == doctest::Approx(9.80665));
  const std::vector<RateSource> sources = rate_sources(*run);
  CHECK(compare_rates(sources[0], sources[1]).scale.value == doctest::Approx(1.0 / drive.gyro_scale).epsilon(0.002));
  REQUIRE(run->warnings.size() == 1);
  CHECK(run->warnings[0].find("acceleration in g") != std::string::npos);
}

TEST_CASE("an odometry without turn rate is read by its heading, and that is said") {
  const TempFolder folder("imu_no_rate");
  ImuDrive drive;
  drive.odometry_rate = false;
  write_drive(folder.path() / "bag", drive);
  ImuReportOptions options;
  options.run = report_options_for(folder.path() / "bag");
  const ReportResult result = reported(options);
  CHECK(warned(result, "/odom: it says no turn rate while its heading turns"));
  CHECK(section(result, "rates").tables.at(0).rows.at(0).at(6).number == doctest::Approx(1.0 / drive.gyro_scale).epsilon(0.005));
}

TEST_CASE("limits hold or not, and what is not known does not") {
  const TempFolder folder("imu_gate");
  write_drive(folder.path() / "bag", {});
  ImuReportOptions options;
  options.run = report_options_for(folder.path() / "bag");
  options.max_scale_error = 0.05;
  options.max_bias_dps = 1.0;
  options.max_delay_ms = 30.0;
  options.max_heading_deg = 4.0;
  CHECK(reported(options).gate.passed());
  options.max_scale_error = 0.02;
  CHECK_FALSE(reported(options).gate.passed());
  ImuDrive straight;
  straight.turning_gain = 0.0;
  write_drive(folder.path() / "straight", straight);
  options = {};
  options.run = report_options_for(folder.path() / "straight");
  CHECK(reported(options).gate.passed());
  options.max_scale_error = 0.5;
  CHECK_FALSE(reported(options).gate.passed());
}

TEST_CASE("a recording without an IMU names what was looked for") {
  const TempFolder folder("imu_none");
  ImuReportOptions options;
  options.run = report_options_for(recording::small_bag(folder, "bag"));
  const auto result = imu_report(options);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().message.find("no IMU was recorded: no topic of type sensor_msgs/msg/Imu or vesc_msgs/msg/VescImuStamped") !=
        std::string::npos);
}

TEST_CASE("the accelerometer of a real VESC, to the published digits") {
  const auto poses = test_data("runs/vesc_imu/vesc_accel_poses.csv");
  if (!poses) return;
  ImuReportOptions options;
  options.accelerometer = *poses;
  const std::string markdown = to_markdown(reported(options).document);
  for (const char* line : {"bias x [m/s^2]: -0.01287\n", "bias y [m/s^2]: 0.14552\n", "bias z [m/s^2]: 0.07897\n", "raw [m/s^2]: 0.1190\n",
                           "calibrated [m/s^2]: 0.00666\n", "| 0.99520  | -0.00050 | 0.00684 |", "| -0.00050 | 1.00083  | 0.00045 |",
                           "| 0.00684  | 0.00045  | 0.99124 |", "| none            | 0.119", "| bias            | 0.091",
                           "| bias and scales | 0.065", "| full            | 0.033"}) {
    CHECK_MESSAGE(markdown.find(line) != std::string::npos, line);
  }
}

TEST_CASE("a real car whose gyro agrees with its particle filter") {
  const auto log = test_data("runs/frictionmaps/DS1");
  if (!log) return;
  const TempFolder folder("imu_real");
  recording::ImportOptions import;
  import.log = *log;
  import.output = folder.path() / "run";
  REQUIRE(recording::import_run(import).ok());
  const auto run = load_imu_run(report_options_for(import.output), true);
  REQUIRE(run.ok());
  const std::vector<RateSource> sources = rate_sources(*run);
  REQUIRE(sources.size() == 3);
  CHECK(sources[2].name == "odometry /pf/odom");
  const RatePair pair = compare_rates(sources[0], sources[2]);
  CHECK(pair.scale.value == doctest::Approx(1.0).epsilon(0.03));
  CHECK(pair.correlation > 0.9);
}
