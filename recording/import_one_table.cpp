// SPDX-License-Identifier: Apache-2.0
// A log that is one table: a row each control period (import_run.hpp).
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/math.hpp"
#include "core/text.hpp"
#include "recording/import_log.hpp"
#include "recording/imu_units.hpp"

namespace pitwall::recording::detail {

namespace {

namespace ros = ros_messages;

// UST-10LX: beam 540 of 1081 looks ahead, a quarter of a degree apart; 65.533 m is its code for no return.
constexpr double kBeam_rad = 0.25 * math::kDegree;
constexpr double kAhead = 540.0;
constexpr double kNoReturn_m = 65.5;
constexpr double kLatestRow_s = 9e9;

/// The beams of the table: columns LIDAR_nnnn with their numbers.
struct Beams {
  std::vector<std::size_t> column;
  std::vector<double> number;
};

Beams beams_of(const CsvTable& table) {
  Beams beams;
  for (std::size_t k = 0; k < table.columns.size(); ++k) {
    const std::string_view column = table.columns[k];
    if (!column.starts_with("LIDAR_")) continue;
    const auto number = parse_int(column.substr(6));
    if (!number) continue;
    beams.column.push_back(k);
    beams.number.push_back(static_cast<double>(*number));
  }
  return beams;
}

bool evenly_spaced(const std::vector<double>& number) {
  if (number.size() < 2 || !(number[1] > number[0])) return false;
  for (std::size_t k = 2; k < number.size(); ++k) {
    if (number[k] - number[k - 1] != number[1] - number[0]) return false;
  }
  return true;
}

class Reader {
 public:
  Reader(const CsvTable& table, ImportedLog& log)
      : table_(table), log_(log), name_(std::filesystem::path(table.name).filename().string()) {}

  Status read(UnitChoice choice) {
    keep_rows();
    if (row_.empty()) return Error{table_.name + ": no row whose time, pose and velocity are numbers"};
    add_motion();
    if (const Status scans = add_scans(); !scans) return scans;
    add_controls();
    if (const Status imu = add_imu_columns(choice); !imu) return imu;
    name_left_out();
    return {};
  }

 private:
  [[nodiscard]] std::vector<double> column(std::string_view column_name) const {
    std::vector<double> values;
    const auto index = table_.column(column_name);
    for (const std::size_t row : row_) values.push_back(index ? table_.at(row, *index) : NAN);
    return values;
  }
  void keep_rows() {
    std::size_t backward = 0;
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      bool finite = true;
      for (const char* needed : {"time", "pose_x", "pose_y", "pose_theta", "linear_vel_x", "angular_vel_z"}) {
        finite = finite && std::isfinite(table_.at(row, *table_.column(needed)));
      }
      const double t_s = table_.at(row, *table_.column("time"));
      if (!finite || t_s < 0.0 || t_s > kLatestRow_s) continue;
      const Time stamp = Time{} + from_seconds(t_s);
      backward += !stamp_.empty() && stamp <= stamp_.back() ? 1 : 0;
      stamp_.push_back(stamp);
      row_.push_back(row);
    }
    note_lines(table_, log_.report);
    if (row_.size() < table_.rows()) {
      log_.report.left_out.push_back(std::to_string(table_.rows() - row_.size()) + " rows without time, pose or velocity");
    }
    if (backward > 0) log_.report.traps.push_back(std::to_string(backward) + " rows are not later than the one before; they are sorted");
  }

  void add_motion() {
    const std::vector<double> x = column("pose_x");
    const std::vector<double> y = column("pose_y");
    const std::vector<double> theta = column("pose_theta");
    const std::vector<double> speed = column("linear_vel_x");
    const std::vector<double> sideways = column("linear_vel_y");
    const std::vector<double> turn = column("angular_vel_z");
    Pose2 at;
    for (std::size_t i = 0; i < row_.size(); ++i) {
      ros::PoseStamped pose;
      pose.header = header_at(stamp_[i], "map");
      pose.pose.position = {x[i], y[i], 0.0};
      pose.pose.orientation = quaternion_about_z(theta[i]);
      log_.add(std::string(kPoseTopic), name_, stamp_[i], pose);
      if (i > 0) {
        const double dt = std::max(0.0, (stamp_[i] - stamp_[i - 1]).seconds());
        at.x += dt * speed[i - 1] * math::cos(at.yaw);
        at.y += dt * speed[i - 1] * math::sin(at.yaw);
        at.yaw = wrap_angle(at.yaw + dt * turn[i - 1]);
      }
      ros::Odometry odometry;
      odometry.header = header_at(stamp_[i], "odom");
      odometry.child_frame_id = "base_link";
      odometry.pose.pose.position = {at.x, at.y, 0.0};
      odometry.pose.pose.orientation = quaternion_about_z(at.yaw);
      odometry.twist.twist.linear = {speed[i], std::isfinite(sideways[i]) ? sideways[i] : 0.0, 0.0};
      odometry.twist.twist.angular.z = turn[i];
      log_.add(std::string(kOdometryTopic), name_, stamp_[i], odometry);
    }
    log_.report.traps.push_back("the pose is a localiser's; the pose of the odometry is dead-reckoned from speed and turn rate");
  }

  Status add_scans() {
    const Beams beams = beams_of(table_);
    if (beams.column.empty()) return {};
    if (!evenly_spaced(beams.number)) {
      log_.report.left_out.push_back("the beams are not evenly spaced: no scans");
      return {};
    }
    std::size_t none = 0;
    for (std::size_t i = 0; i < row_.size(); ++i) {
      ros::LaserScan scan;
      scan.header = header_at(stamp_[i], "laser");
      scan.angle_min = static_cast<float>((beams.number.front() - kAhead) * kBeam_rad);
      scan.angle_max = static_cast<float>((beams.number.back() - kAhead) * kBeam_rad);
      scan.angle_increment = static_cast<float>((beams.number[1] - beams.number[0]) * kBeam_rad);
      scan.range_min = 0.02F;
      scan.range_max = 30.0F;
      for (const std::size_t k : beams.column) {
        const double range = table_.at(row_[i], k);
        none += range >= kNoReturn_m ? 1 : 0;
        scan.ranges.push_back(range >= kNoReturn_m ? std::numeric_limits<float>::infinity() : static_cast<float>(range));
      }
      log_.add(std::string(kScanTopic), name_, stamp_[i], scan);
    }
    if (none > 0)
      log_.report.traps.push_back(std::to_string(none) + " ranges of 65.533 m are the scanner's code for no return; infinite now");
    log_.report.traps.push_back("a scan is every " + format_number(beams.number[1] - beams.number[0], 4) + "th beam of a UST-10LX (" +
                                std::to_string(beams.column.size()) + " of 1081), too few to match scans");
    return {};
  }

  /// Whether a control is of the size of the speed; otherwise it is what makes the car gather it.
  [[nodiscard]] bool is_speed(const char* control) const {
    constexpr double kLeast = 0.75;
    const std::vector<double> speed = column("linear_vel_x");
    const std::vector<double> value = column(control);
    double asked = 0.0;
    double driven = 0.0;
    for (std::size_t i = 0; i < value.size(); ++i) {
      asked += value[i];
      driven += speed[i];
    }
    return asked > kLeast * driven && asked * kLeast < driven;
  }

  void add_controls() {
    constexpr const char* kExecuted = "translational_control_executed";
    constexpr const char* kAsked = "translational_control_calculated";
    bool speed = true;
    for (const char* control : {kExecuted, kAsked}) {
      if (!table_.has(control) || is_speed(control)) continue;
      speed = false;
      log_.report.traps.push_back(std::string(control) +
                                  " is no speed, the car drives far from it: taken for an acceleration; the commanded speed is unknown");
    }
    add_commands("angular_control_executed", kExecuted, speed, "/ackermann_cmd");
    add_commands("angular_control_calculated", kAsked, speed, std::string(kDriveTopic));
  }

  void add_commands(const char* angle, const char* second, bool speed, const std::string& topic) {
    if (!table_.has(angle) || !table_.has(second)) return;
    const std::vector<double> steering = column(angle);
    const std::vector<double> control = column(second);
    for (std::size_t i = 0; i < row_.size(); ++i) {
      ros::AckermannDriveStamped command;
      command.header = header_at(stamp_[i], "base_link");
      command.drive.steering_angle = static_cast<float>(steering[i]);
      command.drive.speed = speed ? static_cast<float>(control[i]) : std::numeric_limits<float>::quiet_NaN();
      command.drive.acceleration = speed ? 0.0F : static_cast<float>(control[i]);
      log_.add(topic, name_, stamp_[i], command);
    }
  }

  Status add_imu_columns(UnitChoice choice) {
    ImuTable imu;
    imu.stamp = stamp_;
    imu.gyro_x = column("imu_gyro_x");
    imu.gyro_y = column("imu_gyro_y");
    imu.gyro_z = column("imu_gyro_z");
    imu.accel_x = column("imu_a_x");
    imu.accel_y = column("imu_a_y");
    imu.accel_z = column("imu_a_z");
    for (const auto* each : {&imu.gyro_x, &imu.gyro_y, &imu.gyro_z, &imu.accel_x, &imu.accel_y, &imu.accel_z}) {
      if (std::any_of(each->begin(), each->end(), [](double v) { return !std::isfinite(v); })) return {};
    }
    const auto zero = [](const std::vector<double>& values) {
      return std::all_of(values.begin(), values.end(), [](double v) { return v == 0.0; });
    };
    if (zero(imu.gyro_z) && zero(imu.accel_z)) {
      log_.report.left_out.push_back("imu_*: 0 throughout, no IMU was recorded");
      return {};
    }
    return add_imu(log_, name_, imu, {{"the odometry", seconds_of(stamp_), column("angular_vel_z")}}, choice);
  }

  void name_left_out() {
    if (table_.has("imu_av_z") && !table_.has("imu_gyro_z")) {
      log_.report.left_out.push_back("imu_a_x, imu_a_y, imu_av_z: no vertical acceleration, so gravity cannot tell their units");
    }
    if (table_.has("imu1_av_z")) {
      log_.report.left_out.push_back("imu1_*: no vertical acceleration, so gravity cannot tell their units; derived values");
    }
    std::size_t planned = 0;
    for (const std::string& each : table_.columns) planned += each.starts_with("WYPT_") || each.starts_with("cs_") ? 1 : 0;
    if (planned > 0) log_.report.left_out.push_back(std::to_string(planned) + " columns of the planner (WYPT_*, cs_*)");
  }

  const CsvTable& table_;
  ImportedLog& log_;
  std::string name_;
  std::vector<Time> stamp_;
  std::vector<std::size_t> row_;
};

}  // namespace

Status read_one_table(const CsvTable& table, UnitChoice choice, ImportedLog& log) {
  log.report.format = "one table";
  std::vector<std::string> missing;
  for (const char* needed : {"time", "pose_x", "pose_y", "pose_theta", "linear_vel_x", "angular_vel_z"}) {
    if (!table.has(needed)) missing.emplace_back(needed);
  }
  if (!missing.empty()) {
    std::vector<std::string> first(table.columns.begin(),
                                   table.columns.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(12, table.columns.size())));
    return Error{table.name + ": no log of a car that is known: it lacks " + join(missing) + " (its columns begin with " + join(first) +
                 "); known are one table with those, and a folder with commandData.csv, imuData.csv, odomData.csv"};
  }
  return Reader(table, log).read(choice);
}

}  // namespace pitwall::recording::detail
