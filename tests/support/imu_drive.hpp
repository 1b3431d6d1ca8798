// SPDX-License-Identifier: Apache-2.0
// A drive in closed form as a bag: commands, what the car did with them, and how its gyro and odometry saw that.
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>

#include "core/math.hpp"
#include "core/messages.hpp"
#include "ros_messages/convert.hpp"
#include "ros_messages/drive.hpp"
#include "ros_messages/graph.hpp"
#include "ros_messages/nav.hpp"
#include "ros_messages/sensors.hpp"
#include "tests/support/bags.hpp"

namespace pitwall {

struct ImuDrive {
  double duration_s = 60.0;
  double parked_s = 0.0;  ///< at the beginning
  double speed_mps = 2.0;
  double wheelbase_m = 0.33;
  double steering_lag_s = 0.1;
  double turning_gain = 0.9;
  double gyro_delay_s = 0.02;
  double gyro_scale = 1.03;
  double gyro_bias_radps = 0.01;
  double gravity = 9.80665;              ///< as the accelerometer reads it
  double rate_unit = 1.0;                ///< what the gyro reads for 1 rad/s
  bool odometry_rate = true;             ///< whether the odometry says its turn rate
  double localiser_drift_radps = 0.001;  ///< of the odometry's heading against the localiser's
  bool corrections_by_tf = false;        ///< the localiser is known by /tf map->odom, not by poses
  double vibration_hz = 0.0;
  double vibration_mps2 = 0.0;
  double noise = 0.0;  ///< of gyro (rad/s) and accelerometer (m/s^2), uniform in +-sqrt(3) of it

  [[nodiscard]] bool moves(double t) const { return t >= parked_s; }
  [[nodiscard]] double commanded_rate(double t) const {
    const double s = t - parked_s;
    return s < 0.0 ? 0.0 : 0.8 * math::sin(1.3 * s) + 0.4 * math::sin(3.1 * s);
  }
  [[nodiscard]] double rate(double t) const { return turning_gain * commanded_rate(t - steering_lag_s); }
  [[nodiscard]] double yaw(double t) const {
    const double s = t - steering_lag_s - parked_s;
    return s < 0.0 ? 0.0 : turning_gain * (0.8 / 1.3 * (1.0 - math::cos(1.3 * s)) + 0.4 / 3.1 * (1.0 - math::cos(3.1 * s)));
  }
};

/// Commands at 40 Hz on /drive, /odom at 50 Hz, /imu at 200 Hz, /slam_pose (or /tf) at 10 Hz.
inline void write_drive(const std::filesystem::path& folder, const ImuDrive& drive) {
  namespace ros = ros_messages;
  using recording::kMs;
  recording::BagWriter bag = recording::writer_at(folder);
  const std::size_t command_topic = *bag.add_topic(recording::topic_for<ros::AckermannDriveStamped>("/drive"));
  const std::size_t odometry_topic = *bag.add_topic(recording::topic_for<ros::Odometry>("/odom"));
  const std::size_t imu_topic = *bag.add_topic(recording::topic_for<ros::Imu>("/imu"));
  const std::size_t pose_topic = *bag.add_topic(drive.corrections_by_tf ? recording::topic_for<ros::TFMessage>("/tf")
                                                                        : recording::topic_for<ros::PoseStamped>("/slam_pose"));
  std::uint32_t state = 1;
  const auto noise = [&] {
    state = state * 1664525U + 1013904223U;
    return drive.noise * std::sqrt(3.0) * (static_cast<double>(state >> 8U) / 8388608.0 - 1.0);
  };
  const auto ticks = static_cast<std::int64_t>(drive.duration_s * 200.0);
  for (std::int64_t k = 0; k < ticks; ++k) {
    const std::int64_t ns = 1000 * kMs + k * 5 * kMs;
    const double t = 0.005 * static_cast<double>(k);
    const ros::Stamp stamp = ros::to_stamp({ns});
    const double speed = drive.moves(t) ? drive.speed_mps : 0.0;
    ros::Imu imu;
    imu.header.stamp = stamp;
    imu.angular_velocity = {drive.rate_unit * noise(), drive.rate_unit * noise(),
                            drive.rate_unit * (drive.gyro_scale * drive.rate(t - drive.gyro_delay_s) + drive.gyro_bias_radps + noise())};
    const double vibration = drive.moves(t) ? drive.vibration_mps2 * math::sin(2.0 * math::kPi * drive.vibration_hz * t) : 0.0;
    const double unit = drive.gravity / 9.80665;
    imu.linear_acceleration = {unit * noise(), unit * (speed * drive.rate(t) + noise()), unit * (9.80665 + vibration + noise())};
    recording::put(bag, imu_topic, ns, imu);
    if (k % 4 == 0) {
      ros::Odometry odometry;
      odometry.header.stamp = stamp;
      odometry.header.frame_id = "odom";
      const PlanarQuaternion q = to_quaternion(drive.yaw(t));
      odometry.pose.pose.orientation = {0.0, 0.0, q.z, q.w};
      odometry.twist.twist.linear.x = speed;
      odometry.twist.twist.angular.z = drive.odometry_rate ? drive.rate(t) : 0.0;
      recording::put(bag, odometry_topic, ns, odometry);
    }
    if (k % 5 == 0) {
      ros::AckermannDriveStamped command;
      command.header.stamp = stamp;
      command.drive.speed = static_cast<float>(speed);
      command.drive.steering_angle = static_cast<float>(math::atan(drive.commanded_rate(t) * drive.wheelbase_m / drive.speed_mps));
      recording::put(bag, command_topic, ns, command);
    }
    if (k % 20 == 0 && drive.corrections_by_tf) {
      ros::TransformStamped map_odom;
      map_odom.header.stamp = stamp;
      map_odom.header.frame_id = "map";
      map_odom.child_frame_id = "odom";
      const PlanarQuaternion q = to_quaternion(drive.localiser_drift_radps * t);
      map_odom.transform.rotation = {0.0, 0.0, q.z, q.w};
      recording::put(bag, pose_topic, ns, ros::TFMessage{{map_odom}});
    } else if (k % 20 == 0) {
      ros::PoseStamped pose;
      pose.header.stamp = stamp;
      const PlanarQuaternion q = to_quaternion(drive.yaw(t) + drive.localiser_drift_radps * t);
      pose.pose.orientation = {0.0, 0.0, q.z, q.w};
      recording::put(bag, pose_topic, ns, pose);
    }
  }
  REQUIRE(bag.close().ok());
}

}  // namespace pitwall
