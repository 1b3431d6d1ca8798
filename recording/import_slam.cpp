// SPDX-License-Identifier: Apache-2.0
// Logs that are made for SLAM: CARMEN, BreezySLAM, pose graphs (import_run.hpp).
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/math.hpp"
#include "core/text.hpp"
#include "recording/carmen_log.hpp"
#include "recording/import_log.hpp"
#include "recording/pose_graph.hpp"

namespace pitwall::recording::detail {

namespace {

namespace ros = ros_messages;

// BreezySLAM's logs come from one robot of MINES ParisTech: a Hokuyo URG-04LX (682 beams over 240 degrees, up to 4 m, 145 mm ahead of the
// axle) on wheels of 77 mm, 330 mm apart, 2000 ticks a turn.
constexpr std::size_t kBreezyFirst = 24;
constexpr std::size_t kBreezyBeams = 682;
constexpr double kBreezyFov_rad = 240.0 * math::kDegree;
constexpr double kBreezyRange_m = 4.0;
constexpr double kBreezyTick_m = 2.0 * math::kPi * 0.077 / 2000.0;
constexpr double kBreezyTrack_m = 0.33;

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t begin = line.find_first_not_of(" \t\r", at);
    if (begin == std::string_view::npos) break;
    at = std::min(line.size(), line.find_first_of(" \t\r", begin));
    words.push_back(line.substr(begin, at - begin));
  }
  return words;
}

ros::Odometry odometry_at(Time stamp, const Pose2& T_odom_base, const std::string& child) {
  ros::Odometry odometry;
  odometry.header = header_at(stamp, "odom");
  odometry.child_frame_id = child;
  odometry.pose.pose.position = {T_odom_base.x, T_odom_base.y, 0.0};
  odometry.pose.pose.orientation = quaternion_about_z(T_odom_base.yaw);
  return odometry;
}

ros::PoseStamped pose_at(Time stamp, const Pose2& T_map_base) {
  ros::PoseStamped pose;
  pose.header = header_at(stamp, "map");
  pose.pose.position = {T_map_base.x, T_map_base.y, 0.0};
  pose.pose.orientation = quaternion_about_z(T_map_base.yaw);
  return pose;
}

Status read_carmen(std::string_view text, const std::string& name, ImportedLog& log) {
  const Result<CarmenLog> carmen = parse_carmen(text, name);
  if (!carmen) return carmen.error();
  log.report.format = "CARMEN log";
  if (carmen->stamps_replaced) log.report.traps.push_back("the stamps do not rise: scans are 0.1 s apart instead");
  log.report.traps.push_back("odometry and reference poses are of the laser, which stands for base_link");
  for (const CarmenScan& each : carmen->scans) {
    const Time stamp = each.scan.stamp;
    log.add(std::string(kScanTopic), name, stamp, ros::to_ros(each.scan, "base_link"));
    log.add(std::string(kOdometryTopic), name, stamp, odometry_at(stamp, each.T_odom, "base_link"));
    log.add(std::string(kPoseTopic), name, stamp, pose_at(stamp, each.T_corrected));
  }
  return {};
}

// Numbers of one line of BreezySLAM's.
struct BreezyLine {
  Time stamp;
  double left_ticks = 0.0;
  double right_ticks = 0.0;
  std::vector<float> ranges;
};

Result<BreezyLine> breezy_line(const std::vector<std::string_view>& words, const std::string& where) {
  if (words.size() < kBreezyFirst + kBreezyBeams)
    return Error{where + ": has " + std::to_string(words.size()) + " numbers, not 706 or more"};
  BreezyLine line;
  std::vector<double> values;
  for (std::size_t k = 0; k < kBreezyFirst + kBreezyBeams; ++k) {
    const auto value = parse_double(words[k]);
    if (!value || !std::isfinite(*value)) return Error{where + ": '" + std::string(words[k]) + "' is no finite number"};
    values.push_back(*value);
  }
  line.stamp = Time{} + from_seconds(1e-6 * values[0]);
  line.left_ticks = values[2];
  line.right_ticks = values[3];
  for (std::size_t k = kBreezyFirst; k < values.size(); ++k) {
    line.ranges.push_back(values[k] > 0.0 ? static_cast<float>(1e-3 * values[k]) : std::numeric_limits<float>::infinity());
  }
  return line;
}

Status read_breezy(std::string_view text, const std::string& name, ImportedLog& log) {
  log.report.format = "BreezySLAM log";
  log.report.traps.push_back(
      "ranges of 0 are no return: infinite now; odometry is made of the wheels' ticks (wheels of 77 mm, 330 mm apart)");
  log.report.left_out.push_back("columns 2 and 5 to 24: not documented");
  Pose2 at;
  std::optional<BreezyLine> before;
  int number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.size(), text.find('\n', begin));
    const std::vector<std::string_view> words = words_of(text.substr(begin, end - begin));
    begin = end + 1;
    ++number;
    if (words.empty()) continue;
    Result<BreezyLine> line = breezy_line(words, name + ":" + std::to_string(number));
    if (!line) return line.error();
    if (before) {
      const double left = kBreezyTick_m * (line->left_ticks - before->left_ticks);
      const double right = kBreezyTick_m * (line->right_ticks - before->right_ticks);
      const double turn = (right - left) / kBreezyTrack_m;
      at = at * Pose2{0.0, 0.0, 0.5 * turn} * Pose2{0.5 * (left + right), 0.0, 0.5 * turn};
    }
    pitwall::LaserScan scan;
    scan.stamp = line->stamp;
    scan.angle_min = static_cast<float>(-0.5 * kBreezyFov_rad);
    scan.angle_max = static_cast<float>(0.5 * kBreezyFov_rad);
    scan.angle_increment = static_cast<float>(kBreezyFov_rad / static_cast<double>(kBreezyBeams - 1));
    scan.range_min = 0.02F;
    scan.range_max = static_cast<float>(kBreezyRange_m);
    scan.ranges = line->ranges;
    log.add(std::string(kScanTopic), name, line->stamp, ros::to_ros(scan, "laser"));
    log.add(std::string(kOdometryTopic), name, line->stamp, odometry_at(line->stamp, at, "base_link"));
    before = std::move(*line);
  }
  return {};
}

Status read_graph(std::string_view text, const std::string& name, ImportedLog& log) {
  const Result<PoseGraph> graph = parse_g2o(text, name);
  if (!graph) return graph.error();
  if (graph->nodes.empty()) return Error{name + ": a pose graph without poses (edges alone): there is no run in it"};
  log.report.format = "pose graph";
  log.report.traps.push_back("a graph has no times: the poses are 1 s apart, in the order of their ids; the edges stay in the file");
  for (std::size_t k = 0; k < graph->nodes.size(); ++k) {
    const Time stamp = Time{} + from_seconds(static_cast<double>(k));
    log.add(std::string(kPoseTopic), name, stamp, pose_at(stamp, graph->nodes[k].pose.planar()));
  }
  return {};
}

}  // namespace

std::optional<Status> read_slam_log(std::string_view text, const std::string& name, ImportedLog& log) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size() && (words.empty() || words.front().starts_with('#'));) {
    const std::size_t end = std::min(text.size(), text.find('\n', at));
    words = words_of(text.substr(at, end - at));
    at = end + 1;
  }
  if (words.empty()) return std::nullopt;
  const std::string_view first = words.front();
  for (const std::string_view word : {"PARAM", "SYNC", "ODOM", "FLASER", "RLASER", "TRUEPOS", "NEFF"}) {
    if (first == word) return read_carmen(text, name, log);
  }
  if (first.starts_with("VERTEX_") || first.starts_with("EDGE_") || first.starts_with("PARAMS_")) return read_graph(text, name, log);
  if (words.size() >= kBreezyFirst + kBreezyBeams && parse_int(first)) return read_breezy(text, name, log);
  return std::nullopt;
}

}  // namespace pitwall::recording::detail
