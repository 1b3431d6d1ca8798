// SPDX-License-Identifier: Apache-2.0
// A drive in circles through a room with boxes in it, as a bag without any SLAM: scans, an odometry that goes too far, its transforms.
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>

#include "localization/test_scenes.hpp"
#include "ros_messages/convert.hpp"
#include "ros_messages/graph.hpp"
#include "ros_messages/nav.hpp"
#include "ros_messages/sensors.hpp"
#include "tests/support/bags.hpp"

namespace pitwall {

struct SlamDrive {
  double duration_s = 40.0;
  double radius_m = 3.0;
  double speed_mps = 1.2;
  double speed_scale = 1.03;  ///< of the odometry
  double turn_scale = 1.02;
  Pose2 T_base_laser{0.25, 0.0, 0.0};
  std::size_t beams = 360;

  [[nodiscard]] double rate_radps() const { return speed_mps / radius_m; }
  /// Where base_link really is, from where it began.
  [[nodiscard]] Pose2 truth(double t_s) const { return localization::travelled({speed_mps, 0.0, rate_radps()}, t_s); }
  [[nodiscard]] Pose2 odometry(double t_s) const {
    return localization::travelled({speed_scale * speed_mps, 0.0, turn_scale * rate_radps()}, t_s);
  }
};

inline localization::scenes::Scene drive_room() {
  localization::scenes::Scene scene;
  scene.range_max_m = 15.0;
  const auto box = [&](double x0, double y0, double x1, double y1) {
    const Vec2 c[4] = {{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}};
    for (int k = 0; k < 4; ++k) scene.panels.push_back({c[k], c[(k + 1) % 4]});
  };
  box(-6.0, -2.0, 5.0, 8.0);
  box(-1.0, 2.5, 0.5, 3.5);
  box(3.8, -1.5, 4.6, 0.2);
  box(-5.5, 5.0, -4.2, 7.0);
  return scene;
}

inline ros_messages::TFMessage tf_message(Time stamp, const char* parent, const char* child, const Pose2& pose) {
  const PlanarQuaternion q = to_quaternion(pose.yaw);
  ros_messages::TransformStamped t;
  t.header.stamp = ros_messages::to_stamp(stamp);
  t.header.frame_id = parent;
  t.child_frame_id = child;
  t.transform.translation = {pose.x, pose.y, 0.0};
  t.transform.rotation = {0.0, 0.0, q.z, q.w};
  ros_messages::TFMessage m;
  m.transforms.push_back(t);
  return m;
}

/// /scan at 10 Hz, received 10 ms late; /odom and odom -> base_link at 50 Hz; /tf_static.
inline void write_slam_drive(const std::filesystem::path& folder, const SlamDrive& drive) {
  namespace ros = ros_messages;
  using recording::kMs;
  recording::BagWriter bag = recording::writer_at(folder);
  const std::size_t scan_topic = *bag.add_topic(recording::topic_for<ros::LaserScan>("/scan"));
  const std::size_t odometry_topic = *bag.add_topic(recording::topic_for<ros::Odometry>("/odom"));
  const std::size_t tf_topic = *bag.add_topic(recording::topic_for<ros::TFMessage>("/tf"));
  const std::size_t static_topic = *bag.add_topic(recording::topic_for<ros::TFMessage>("/tf_static", true));
  const Time start{1'700'000'000'000'000'000};
  recording::put(bag, static_topic, start.ns, tf_message(start, "base_link", "laser", drive.T_base_laser));
  const localization::scenes::Scene scene = drive_room();
  const localization::scenes::Scanner scanner{drive.beams, 1.5 * math::kPi, 0.01, 0.0};
  const auto steps = static_cast<std::int64_t>(drive.duration_s * 50.0);
  for (std::int64_t k = 0; k <= steps; ++k) {
    const double t_s = 0.02 * static_cast<double>(k);
    const Time now = start + Duration{k * 20 * kMs};
    const Pose2 T = drive.odometry(t_s);
    pitwall::Odometry m;
    m.stamp = now;
    m.position = T.position();
    m.orientation = to_quaternion(T.yaw);
    m.speed_mps = drive.speed_scale * drive.speed_mps;
    m.yaw_rate_radps = drive.turn_scale * drive.rate_radps();
    recording::put(bag, odometry_topic, now.ns, ros::to_ros(m, "odom", "base_link"));
    recording::put(bag, tf_topic, now.ns, tf_message(now, "odom", "base_link", T));
    if (k % 5 != 0 || k == steps) continue;
    const LaserScan scan =
        localization::scenes::scan(scene, scanner, drive.truth(t_s) * drive.T_base_laser, {}, now, static_cast<std::uint64_t>(k));
    recording::put(bag, scan_topic, now.ns + 10 * kMs, ros::to_ros(scan, "laser"));
  }
  REQUIRE(bag.close().ok());
}

}  // namespace pitwall
