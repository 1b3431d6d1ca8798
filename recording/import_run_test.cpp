// SPDX-License-Identifier: Apache-2.0
#include "recording/import_run.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/files.hpp"
#include "core/math.hpp"
#include "recording/imu_units.hpp"
#include "recording/run_folder.hpp"
#include "ros_messages/drive.hpp"
#include "ros_messages/nav.hpp"
#include "ros_messages/sensors.hpp"
#include "tests/support/bags.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/test_data.hpp"

using namespace pitwall;
using namespace pitwall::recording;

namespace {

bool says(const std::vector<std::string>& lines, const std::string& part) {
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

ImportReport imported(const ImportOptions& options) {
  auto report = import_run(options);
  REQUIRE_MESSAGE(report.ok(), report.error().message);
  return *std::move(report);
}

template <class Message>
std::vector<Message> messages(const std::filesystem::path& run, const std::string& topic) {
  std::vector<Message> all;
  BagReader reader = reader_at(run);
  while (const BagMessage* message = reader.next()) {
    if (reader.topics()[message->topic].name != topic) continue;
    Message each;
    REQUIRE(ros_messages::read(as_text(message->data), each));
    all.push_back(std::move(each));
  }
  return all;
}

/// A car that turns left and right, its IMU at 50 Hz with accelerations times `g` and rates times `rate`.
void write_imu(const std::filesystem::path& folder, double g, double rate, bool turns) {
  std::string text = ",s,ns,ax,ay,az,wx,wy,wz,q.x,q.y,q.z,q.w\n";
  for (int i = 0; i < 500; ++i) {
    const double t = 0.02 * i;
    const double yaw = turns ? math::sin(t) : 0.0;
    const double w = turns ? math::cos(t) : 0.0;
    text += std::to_string(i) + "," + std::to_string(100 + i / 50) + "," + std::to_string(i % 50 * 20'000'000) + ",0,0," +
            std::to_string(g) + ",0,0," + std::to_string(rate * w) + ",0,0," + std::to_string(math::sin(0.5 * yaw)) + "," +
            std::to_string(math::cos(0.5 * yaw)) + "\n";
  }
  REQUIRE(write_file(folder / "imuData.csv", text).ok());
}

}  // namespace

TEST_CASE("g and deg/s are told from gravity and the IMU's own heading, and converted") {
  const TempFolder folder("import_units");
  write_imu(folder.path() / "log", 1.0, 1.0 / math::kDegree, true);
  ImportOptions options;
  options.log = folder.path() / "log";
  options.output = folder.path() / "run";
  const ImportReport report = imported(options);
  CHECK(says(report.traps, "acceleration in g: its median is 1; rates in deg/s: the gyro reads 57.3 times the turn rate"));
  const auto imu = messages<ros_messages::Imu>(options.output, "/imu");
  REQUIRE(imu.size() == 500);
  CHECK(imu[0].angular_velocity.z == doctest::Approx(1.0).epsilon(1e-5));
  CHECK(imu[0].linear_acceleration.z == doctest::Approx(9.80665));
  CHECK(imu[1].header.stamp.nanosec == 20'000'000);
  CHECK(load_manifest(options.output)->finished);
  CHECK(load_manifest(options.output)->files.size() == 1);
  CHECK(changed_files(options.output, *load_manifest(options.output)).empty());
  // What is SI already stays as it is.
  write_imu(folder.path() / "si", 9.81, 1.0, true);
  options.log = folder.path() / "si";
  options.output = folder.path() / "run_si";
  CHECK(says(imported(options).traps, "rates in rad/s: the gyro reads 1 times"));
  CHECK(messages<ros_messages::Imu>(options.output, "/imu")[0].angular_velocity.z == doctest::Approx(1.0).epsilon(1e-5));
}

TEST_CASE("a rate that nothing else saw goes with the unit of the acceleration, and that is said") {
  const TempFolder folder("import_assumed");
  write_imu(folder.path() / "log", 1.0, 1.0, false);
  ImportOptions options;
  options.log = folder.path() / "log";
  options.output = folder.path() / "run";
  CHECK(says(imported(options).traps, "rates in deg/s, assumed"));
  // Neither unit: refused, unless it is said.
  write_imu(folder.path() / "odd", 3.0, 1.0, false);
  options.log = folder.path() / "odd";
  options.output = folder.path() / "run_odd";
  CHECK(import_run(options).error().message.find("cannot be told") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(options.output));
  options.units = UnitChoice::kSi;
  CHECK(says(imported(options).traps, "as was said on the command line"));
}

TEST_CASE("a gyro that points down is noticed") {
  std::vector<double> rate, gyro;
  for (int i = 0; i < 100; ++i) {
    rate.push_back(math::sin(0.1 * i));
    gyro.push_back(-rate.back());
  }
  const std::vector<double> none(100, 0.0);
  const std::vector<double> g(100, 9.8);
  const ImuUnits units = detect_imu_units({none, none, gyro, none, none, g}, {{"truth", rate}});
  CHECK(units.rate == RateUnit::kRadiansPerSecond);
  CHECK(units.opposite_turn);
  CHECK(units.rate_over_reference == doctest::Approx(-1.0));
}

TEST_CASE("one table: pose, speed, executed and asked controls, beams") {
  const TempFolder folder("import_table");
  std::string text =
      "# a car\ntime,angular_vel_z,linear_vel_x,linear_vel_y,pose_theta,pose_x,pose_y,angular_control_calculated,"
      "translational_control_calculated,LIDAR_0500,LIDAR_0540,LIDAR_0580\n";
  for (int i = 0; i < 10; ++i) {
    text += std::to_string(1.0 + 0.04 * i) + ",0,2,0.1,0.5,3,4,0.2," + (i < 5 ? "0.1" : "0.3") + ",1.5,65.533,2.5\n";
  }
  text += "1.4,0,2";  // cut
  REQUIRE(write_file(folder.path() / "log.csv", text).ok());
  ImportOptions options;
  options.log = folder.path() / "log.csv";
  options.output = folder.path() / "run";
  options.car_id = "f1tenth";
  const ImportReport report = imported(options);
  CHECK(report.duration_s == doctest::Approx(0.36));
  CHECK(says(report.left_out, "log.csv: 1 lines that are not like the others, the first is line 13"));
  const auto odometry = messages<ros_messages::Odometry>(options.output, "/odom");
  REQUIRE(odometry.size() == 10);
  CHECK(odometry[9].pose.pose.position.x == doctest::Approx(0.72));
  CHECK(odometry[9].twist.twist.linear.y == 0.1);
  CHECK(messages<ros_messages::PoseStamped>(options.output, "/slam_pose")[0].pose.position.y == 4.0);
  // A control of a tenth of the speed is no speed.
  CHECK(says(report.traps, "translational_control_calculated is no speed"));
  const auto drive = messages<ros_messages::AckermannDriveStamped>(options.output, "/drive");
  CHECK(drive[0].drive.steering_angle == 0.2F);
  CHECK(std::isnan(drive[0].drive.speed));
  CHECK(drive[9].drive.acceleration == 0.3F);
  const auto scan = messages<ros_messages::LaserScan>(options.output, "/scan");
  CHECK(scan[0].angle_min == doctest::Approx(-10.0 * math::kDegree));
  CHECK(scan[0].angle_increment == doctest::Approx(10.0 * math::kDegree));
  CHECK(std::isinf(scan[0].ranges[1]));
  CHECK(load_manifest(options.output)->car_id == "f1tenth");
  // Not over something that is there.
  CHECK(import_run(options).error().message.find("not empty") != std::string::npos);
}

TEST_CASE("what is no log is refused, naming what it has") {
  const TempFolder folder("import_refused");
  ImportOptions options;
  options.output = folder.path() / "run";
  options.log = folder.path() / "none";
  CHECK(import_run(options).error().message.find("no such file or folder") != std::string::npos);
  options.log = folder.path();
  CHECK(import_run(options).error().message.find("none of commandData.csv") != std::string::npos);
  REQUIRE(write_file(folder.path() / "x.csv", "ax,ay,az\n1,2,3\n").ok());
  options.log = folder.path() / "x.csv";
  CHECK(import_run(options).error().message.find("its columns begin with ax, ay, az") != std::string::npos);
  REQUIRE(write_file(folder.path() / "commandData.csv", "s,ns,V,angle\n1,2,3,4\n").ok());
  options.log = folder.path();
  CHECK(import_run(options).error().message.find("no column 'delta'; there are: s, ns, V, angle") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(options.output));
}

TEST_CASE("real cars: FrictionMaps, with its units and a yaw rate that is not there") {
  const auto logs = test_data("runs/frictionmaps");
  if (!logs) return;
  const TempFolder folder("import_frictionmaps");
  for (const std::string name : {"DS1", "DS3", "DS5"}) {
    ImportOptions options;
    options.log = std::filesystem::path(*logs) / name;
    options.output = folder.path() / name;
    const ImportReport report = imported(options);
    CHECK(says(report.traps, "acceleration in g"));
    CHECK(says(report.traps, "rates in deg/s: the gyro reads 5"));
    CHECK(says(report.traps, "odomData.csv: wz is 0 throughout"));
    CHECK(says(report.traps, "odomData.csv: wx repeats vx"));
    CHECK(says(report.traps, "phi_y turns against the quaternion"));
    CHECK(messages<ros_messages::VescStateStamped>(options.output, "/sensors/core").size() == (name == "DS5" ? 2226 : 0));
  }
  const auto imu = messages<ros_messages::Imu>(folder.path() / "DS1", "/imu");
  REQUIRE(imu.size() == 1427);
  CHECK(imu[0].angular_velocity.z == doctest::Approx(5.0048828125 * math::kDegree));
  CHECK(imu[0].linear_acceleration.z == doctest::Approx(1.17822265625 * 9.80665));
}

TEST_CASE("real cars: F1Tenth-INI, whose second control is an acceleration and whose IMU columns are empty") {
  const auto logs = test_data("runs/f1tenth_ini");
  if (!logs) return;
  const TempFolder folder("import_ini");
  int count = 0;
  for (const auto& each : std::filesystem::directory_iterator(*logs)) {
    if (each.path().extension() != ".csv" || each.path().string().find("scaling") != std::string::npos) continue;
    ImportOptions options;
    options.log = each.path();
    options.output = folder.path() / std::to_string(count++);
    const ImportReport report = imported(options);
    CHECK(report.series.size() == 5);
    CHECK(says(report.traps, "translational_control_executed is no speed"));
    for (const auto& drive : messages<ros_messages::AckermannDriveStamped>(options.output, "/drive")) CHECK(std::isnan(drive.drive.speed));
    CHECK(says(report.left_out, each.path().string().find("2026") == std::string::npos ? "imu_av_z" : "0 throughout, no IMU"));
  }
  CHECK(count == 11);
}
