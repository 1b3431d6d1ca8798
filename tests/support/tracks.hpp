// SPDX-License-Identifier: Apache-2.0
// Drives made up for tests, as tracks and as recordings; and the ten recorded excursions of a small robot.
#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "analysis/document.hpp"
#include "analysis/odometry_tracks.hpp"
#include "ros_messages/geometry.hpp"
#include "ros_messages/nav.hpp"
#include "tests/support/bags.hpp"
#include "tests/support/test_data.hpp"

namespace pitwall::analysis {

/// Poses of steps that are each seen from the pose before, `dt_s` apart.
inline std::vector<Pose2> chain(const std::vector<Pose2>& steps) {
  std::vector<Pose2> poses{Pose2{}};
  for (const Pose2& step : steps) poses.push_back(poses.back() * step);
  return poses;
}

inline Track evenly(std::string source, const std::vector<Pose2>& poses, double dt_s) {
  std::vector<double> t_s;
  for (std::size_t i = 0; i < poses.size(); ++i) t_s.push_back(dt_s * static_cast<double>(i));
  return track_of(std::move(source), t_s, poses);
}

/// Both do these steps, `dt_s` apart.
inline OdometryTracks tracks_of(const std::vector<Pose2>& wheel_steps, const std::vector<Pose2>& scan_steps, double dt_s = 0.1) {
  OdometryTracks tracks;
  tracks.path = "made-up";
  tracks.wheels = evenly("wheels", chain(wheel_steps), dt_s);
  tracks.scans = evenly("scans", chain(scan_steps), dt_s);
  return tracks;
}

inline ros_messages::Header header_at(std::int64_t ns, const std::string& frame) {
  ros_messages::Header header;
  header.stamp = {static_cast<std::int32_t>(ns / 1'000'000'000), static_cast<std::uint32_t>(ns % 1'000'000'000)};
  header.frame_id = frame;
  return header;
}

inline ros_messages::Quaternion quaternion(double yaw) {
  const PlanarQuaternion q = to_quaternion(yaw);
  ros_messages::Quaternion out;
  out.z = q.z;
  out.w = q.w;
  return out;
}

inline ros_messages::Odometry odometry_at(std::int64_t ns, const Pose2& pose, double speed_mps = 0.0, const std::string& frame = "odom") {
  ros_messages::Odometry m;
  m.header = header_at(ns, frame);
  m.child_frame_id = "base_link";
  m.pose.pose.position.x = pose.x;
  m.pose.pose.position.y = pose.y;
  m.pose.pose.orientation = quaternion(pose.yaw);
  m.twist.twist.linear.x = speed_mps;
  return m;
}

inline ros_messages::TFMessage transform_at(std::int64_t ns, const std::string& parent, const std::string& child, const Pose2& pose) {
  ros_messages::TransformStamped t;
  t.header = header_at(ns, parent);
  t.child_frame_id = child;
  t.transform.translation.x = pose.x;
  t.transform.translation.y = pose.y;
  t.transform.rotation = quaternion(pose.yaw);
  ros_messages::TFMessage m;
  m.transforms = {t};
  return m;
}

/// A recording as a small robot makes it: wheels as the leaf base_footprint->odom_wheel, scans as odom->base_footprint, `dt_ns` apart.
inline std::filesystem::path tracks_bag(const std::filesystem::path& folder, const std::vector<Pose2>& wheels,
                                        const std::vector<Pose2>& scans, std::int64_t dt_ns = 100'000'000) {
  using namespace recording;
  BagWriter writer = writer_at(folder);
  const std::size_t tf = *writer.add_topic(topic_for<ros_messages::TFMessage>("/tf"));
  for (std::size_t i = 0; i < wheels.size() || i < scans.size(); ++i) {
    const std::int64_t ns = 1'000'000'000'000 + static_cast<std::int64_t>(i) * dt_ns;
    if (i < wheels.size()) put(writer, tf, ns, transform_at(ns, "base_footprint", "odom_wheel", inverse(wheels[i])));
    if (i < scans.size()) put(writer, tf, ns + 1'000'000, transform_at(ns, "odom", "base_footprint", scans[i]));
  }
  REQUIRE(writer.close().ok());
  return folder;
}

using Row = std::map<std::string, std::string>;

/// Rows by column names; the header is the last line that begins with "# ".
inline std::vector<Row> golden_rows(const std::filesystem::path& path) {
  std::ifstream in(path);
  REQUIRE(in.good());
  std::vector<std::string> names;
  std::vector<Row> rows;
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> cells;
    std::stringstream s(line[0] == '#' ? line.substr(2) : line);
    for (std::string cell; std::getline(s, cell, ',');) cells.push_back(cell);
    if (line[0] == '#') {
      names = cells;
      continue;
    }
    Row row;
    for (std::size_t i = 0; i < cells.size() && i < names.size(); ++i) row[names[i]] = cells[i];
    rows.push_back(row);
  }
  return rows;
}

inline double value_of(const Row& row, const std::string& name) { return std::stod(row.at(name)); }

/// The steps of both in a golden excursion.
inline Pose2 scan_step(const Row& row) {
  return {value_of(row, "icp_fwd_m"), value_of(row, "icp_lat_m"),
          value_of(row, "icp_yaw_rate_dps") * math::kPi / 180.0 * value_of(row, "dt_s")};
}
inline Pose2 wheel_step(const Row& row) {
  return {value_of(row, "wheel_dx_m"), value_of(row, "wheel_dy_m"), value_of(row, "wheel_dyaw_rad")};
}

inline const Cell* fact(const Section& section, const std::string& key) {
  for (const Fact& each : section.facts) {
    if (each.key == key) return &each.value;
  }
  return nullptr;
}

}  // namespace pitwall::analysis
