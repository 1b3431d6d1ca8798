// SPDX-License-Identifier: Apache-2.0
// A folder of tables, one for each topic (import_run.hpp).
#include <array>
#include <cmath>
#include <functional>
#include <optional>

#include "core/files.hpp"
#include "core/geometry.hpp"
#include "core/math.hpp"
#include "core/text.hpp"
#include "recording/import_log.hpp"
#include "recording/imu_units.hpp"

namespace pitwall::recording::detail {

namespace {

namespace fs = std::filesystem;
namespace ros = ros_messages;

/// A table of the folder with its stamps; rows that are not finite in a needed column are left out.
struct Stamped {
  CsvTable table;
  std::string name;
  std::vector<Time> stamp;
  std::vector<std::size_t> row;

  [[nodiscard]] std::vector<double> column(std::string_view column_name) const {
    std::vector<double> values;
    const auto index = table.column(column_name);
    for (const std::size_t each : row) values.push_back(index ? table.at(each, *index) : 0.0);
    return values;
  }
};

Status needs(const CsvTable& table, std::span<const std::string_view> names) {
  std::vector<std::string> known;
  for (const std::string& each : table.columns) {
    if (!each.empty()) known.push_back(each);
  }
  for (const std::string_view column : names) {
    if (!table.has(column)) return Error{table.name + ": no column '" + std::string(column) + "'; there are: " + join(known)};
  }
  return {};
}

Result<std::optional<Stamped>> read_table(const fs::path& folder, const std::string& file, std::vector<std::string_view> columns,
                                          ImportReport& report) {
  std::error_code failed;
  if (!fs::exists(folder / file, failed)) return std::optional<Stamped>();
  const Result<std::string> text = read_file(folder / file);
  if (!text) return text.error();
  Result<CsvTable> table = parse_csv(*text, (folder / file).string());
  if (!table) return table.error();
  columns.insert(columns.begin(), {"s", "ns"});
  if (const Status complete = needs(*table, columns); !complete) return complete.error();
  Stamped stamped;
  stamped.table = *std::move(table);
  stamped.name = file;
  const CsvTable& t = stamped.table;
  const std::size_t s = *t.column("s");
  const std::size_t ns = *t.column("ns");
  constexpr double kLatest_s = 9e9;  // nanoseconds of 64 bits
  for (std::size_t row = 0; row < t.rows(); ++row) {
    bool finite = t.at(row, s) >= 0.0 && t.at(row, s) < kLatest_s && t.at(row, ns) >= 0.0 && t.at(row, ns) < 1e9;
    for (const std::string_view column : columns) finite = finite && std::isfinite(t.at(row, *t.column(column)));
    if (!finite) continue;
    stamped.stamp.push_back({static_cast<std::int64_t>(t.at(row, s)) * 1'000'000'000 + static_cast<std::int64_t>(t.at(row, ns))});
    stamped.row.push_back(row);
  }
  note_lines(t, report);
  if (stamped.row.size() < t.rows()) {
    report.left_out.push_back(file + ": " + std::to_string(t.rows() - stamped.row.size()) + " rows with values that are no numbers");
  }
  if (stamped.row.empty()) return std::optional<Stamped>();
  return std::optional<Stamped>(std::move(stamped));
}

std::vector<double> headings_of(const Stamped& from) {
  const std::array q{from.column("q.x"), from.column("q.y"), from.column("q.z"), from.column("q.w")};
  std::vector<double> yaw;
  for (std::size_t i = 0; i < from.row.size(); ++i) yaw.push_back(heading_of(q[0][i], q[1][i], q[2][i], q[3][i]));
  return yaw;
}

bool all_zero(const std::vector<double>& values) {
  for (const double each : values) {
    if (each != 0.0) return false;
  }
  return true;
}

void add_commands(const Stamped& from, ImportedLog& log) {
  const std::vector<double> speed = from.column("V");
  const std::vector<double> steering = from.column("delta");
  for (std::size_t i = 0; i < from.row.size(); ++i) {
    ros::AckermannDriveStamped command;
    command.header = header_at(from.stamp[i], "base_link");
    command.drive.speed = static_cast<float>(speed[i]);
    command.drive.steering_angle = static_cast<float>(steering[i]);
    log.add(std::string(kDriveTopic), from.name, from.stamp[i], command);
  }
}

/// Odometry whose twist may repeat its speed as a roll rate and have no yaw rate at all.
void add_odometry(const Stamped& from, const std::string& topic, const std::string& frame, ImportedLog& log) {
  const std::array columns{from.column("vx"), from.column("vy"), from.column("wx"), from.column("wz"), from.column("x"), from.column("y")};
  const auto& [vx, vy, wx, wz, x, y] = columns;
  const std::vector<double> yaw = headings_of(from);
  if (wx == vx && !all_zero(vx)) log.report.traps.push_back(from.name + ": wx repeats vx in every row; it is left out");
  std::vector<double> yaw_rate = wz;
  double turned = 0.0;
  for (std::size_t i = 1; i < yaw.size(); ++i) turned += std::abs(wrap_angle(yaw[i] - yaw[i - 1]));
  if (all_zero(wz) && turned > 0.1) {
    log.report.traps.push_back(from.name + ": wz is 0 throughout while its heading turns by " + format_number(turned / math::kDegree, 4) +
                               " deg in all; the yaw rate is taken from the heading");
    yaw_rate = turn_rate_of(seconds_of(from.stamp), yaw);
    for (double& each : yaw_rate) each = std::isfinite(each) ? each : 0.0;
  }
  for (std::size_t i = 0; i < from.row.size(); ++i) {
    ros::Odometry odometry;
    odometry.header = header_at(from.stamp[i], frame);
    odometry.child_frame_id = "base_link";
    odometry.pose.pose.position = {x[i], y[i], 0.0};
    odometry.pose.pose.orientation = quaternion_about_z(yaw[i]);
    odometry.twist.twist.linear = {vx[i], vy[i], 0.0};
    odometry.twist.twist.angular.z = yaw_rate[i];
    log.add(topic, from.name, from.stamp[i], odometry);
  }
}

void add_poses(const Stamped& from, ImportedLog& log) {
  const std::vector<double> x = from.column("x");
  const std::vector<double> y = from.column("y");
  const std::vector<double> yaw = headings_of(from);
  for (std::size_t i = 0; i < from.row.size(); ++i) {
    ros::PoseStamped pose;
    pose.header = header_at(from.stamp[i], "map");
    pose.pose.position = {x[i], y[i], 0.0};
    pose.pose.orientation = quaternion_about_z(yaw[i]);
    log.add(std::string(kPoseTopic), from.name, from.stamp[i], pose);
  }
}

/// The Euler yaw of these logs runs against the quaternion's.
void check_euler(const Stamped& from, const std::vector<double>& turn, ImportReport& report) {
  if (!from.table.has("phi_y")) return;
  std::vector<double> euler = from.column("phi_y");
  for (double& each : euler) each *= math::kDegree;
  const std::vector<double> rate = turn_rate_of(seconds_of(from.stamp), euler);
  double products = 0.0;
  for (std::size_t i = 0; i < rate.size(); ++i) {
    if (std::isfinite(rate[i]) && std::isfinite(turn[i])) products += rate[i] * turn[i];
  }
  if (products < 0.0) report.traps.push_back(from.name + ": phi_y turns against the quaternion, to the right; the quaternion is taken");
}

Status add_imu_table(const Stamped& from, UnitChoice choice, ImportedLog& log) {
  ImuTable imu;
  imu.stamp = from.stamp;
  imu.gyro_x = from.column("wx");
  imu.gyro_y = from.column("wy");
  imu.gyro_z = from.column("wz");
  imu.accel_x = from.column("ax");
  imu.accel_y = from.column("ay");
  imu.accel_z = from.column("az");
  const std::array q{from.column("q.x"), from.column("q.y"), from.column("q.z"), from.column("q.w")};
  for (std::size_t i = 0; i < from.row.size(); ++i) imu.orientation.push_back({q[0][i], q[1][i], q[2][i], q[3][i]});
  const std::vector<double> t_s = seconds_of(from.stamp);
  const std::vector<double> turn = turn_rate_of(t_s, headings_of(from));
  check_euler(from, turn, log.report);
  return add_imu(log, from.name, imu, {{"the IMU's own heading", t_s, turn}}, choice);
}

void add_core(const Stamped& from, ImportedLog& log) {
  const std::array columns{from.column("cM"), from.column("cI"), from.column("DC"), from.column("RPM"),
                           from.column("VI"), from.column("ED"), from.column("ER")};
  for (std::size_t i = 0; i < from.row.size(); ++i) {
    ros::VescStateStamped state;
    state.header = header_at(from.stamp[i], "");
    state.state.current_motor = columns[0][i];
    state.state.current_input = columns[1][i];
    state.state.duty_cycle = columns[2][i];
    state.state.speed = columns[3][i];
    state.state.voltage_input = columns[4][i];
    state.state.energy_drawn = columns[5][i];
    state.state.energy_regen = columns[6][i];
    log.add("/sensors/core", from.name, from.stamp[i], state);
  }
}

}  // namespace

Status read_folder_of_tables(const fs::path& folder, UnitChoice choice, ImportedLog& log) {
  log.report.format = "folder of tables";
  const std::vector<std::string_view> odometry{"vx", "vy", "wx", "wz", "x", "y", "q.x", "q.y", "q.z", "q.w"};
  struct Kind {
    std::string file;
    std::vector<std::string_view> columns;
    std::function<Status(const Stamped&)> add;
  };
  const std::string odom_topic(kOdometryTopic);
  const auto done = [](auto add) {
    return [add](const Stamped& from) {
      add(from);
      return Status();
    };
  };
  const std::vector<Kind> kinds{
      {"commandData.csv", {"V", "delta"}, done([&](const Stamped& from) { add_commands(from, log); })},
      {"odomData.csv", odometry, done([&](const Stamped& from) { add_odometry(from, odom_topic, "odom", log); })},
      {"pfOdomData.csv", odometry, done([&](const Stamped& from) { add_odometry(from, "/pf/odom", "map", log); })},
      {"pfPoseData.csv", {"x", "y", "q.x", "q.y", "q.z", "q.w"}, done([&](const Stamped& from) { add_poses(from, log); })},
      {"imuData.csv",
       {"ax", "ay", "az", "wx", "wy", "wz", "q.x", "q.y", "q.z", "q.w"},
       [&](const Stamped& from) { return add_imu_table(from, choice, log); }},
      {"coreData.csv", {"cM", "cI", "DC", "RPM", "VI", "ED", "ER"}, done([&](const Stamped& from) { add_core(from, log); })},
  };
  std::vector<std::string> names;
  bool any = false;
  for (const Kind& kind : kinds) {
    names.push_back(kind.file);
    const auto table = read_table(folder, kind.file, kind.columns, log.report);
    if (!table) return table.error();
    if (!table->has_value()) continue;
    any = true;
    if (const Status added = kind.add(**table); !added) return added;
  }
  if (!any) return Error{folder.string() + ": no log of a car in it: none of " + join(names)};
  return {};
}

}  // namespace pitwall::recording::detail
