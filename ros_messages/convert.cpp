// SPDX-License-Identifier: Apache-2.0
#include "ros_messages/convert.hpp"

#include <algorithm>
#include <limits>

namespace pitwall::ros_messages {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

Header header(Time stamp, std::string_view frame_id) { return {to_stamp(stamp), std::string(frame_id)}; }

Pose to_pose(Vec2 position, PlanarQuaternion q) { return {{position.x, position.y, 0.0}, {0.0, 0.0, q.z, q.w}}; }

}  // namespace

Stamp to_stamp(Time time) {
  std::int64_t seconds = time.ns / kSecond;
  std::int64_t rest = time.ns % kSecond;
  if (rest < 0) {
    --seconds;
    rest += kSecond;
  }
  using Limits = std::numeric_limits<std::int32_t>;
  seconds = std::clamp(seconds, std::int64_t{Limits::min()}, std::int64_t{Limits::max()});
  return {static_cast<std::int32_t>(seconds), static_cast<std::uint32_t>(rest)};
}

Time to_time(const Stamp& stamp) { return {stamp.sec * kSecond + stamp.nanosec}; }

namespace {

template <class From, class To>
void copy_beams(const From& from, To& to) {
  to.angle_min = from.angle_min;
  to.angle_max = from.angle_max;
  to.angle_increment = from.angle_increment;
  to.time_increment = from.time_increment;
  to.scan_time = from.scan_time;
  to.range_min = from.range_min;
  to.range_max = from.range_max;
  to.ranges = from.ranges;
}

}  // namespace

LaserScan to_ros(const pitwall::LaserScan& scan, std::string_view frame_id) {
  LaserScan out;
  out.header = header(scan.stamp, frame_id);
  copy_beams(scan, out);
  return out;
}

pitwall::LaserScan from_ros(const LaserScan& scan) {
  pitwall::LaserScan out;
  out.stamp = to_time(scan.header.stamp);
  copy_beams(scan, out);
  return out;
}

Odometry to_ros(const pitwall::Odometry& odometry, std::string_view frame_id, std::string_view child_frame_id) {
  Odometry out;
  out.header = header(odometry.stamp, frame_id);
  out.child_frame_id = child_frame_id;
  out.pose.pose = to_pose(odometry.position, odometry.orientation);
  out.twist.twist.linear.x = odometry.speed_mps;
  out.twist.twist.angular.z = odometry.yaw_rate_radps;
  return out;
}

pitwall::Odometry from_ros(const Odometry& odometry) {
  const Pose& pose = odometry.pose.pose;
  return {to_time(odometry.header.stamp),
          {pose.position.x, pose.position.y},
          {pose.orientation.z, pose.orientation.w},
          odometry.twist.twist.linear.x,
          odometry.twist.twist.angular.z};
}

PoseStamped to_ros(const PoseEstimate& pose, std::string_view frame_id) {
  return {header(pose.stamp, frame_id), to_pose(pose.position, pose.orientation)};
}

namespace {

PoseEstimate to_estimate(const Header& header, const Pose& pose) {
  return {to_time(header.stamp), {pose.position.x, pose.position.y}, {pose.orientation.z, pose.orientation.w}};
}

}  // namespace

PoseEstimate from_ros(const PoseStamped& pose) { return to_estimate(pose.header, pose.pose); }
PoseEstimate from_ros(const PoseWithCovarianceStamped& pose) { return to_estimate(pose.header, pose.pose.pose); }

Joy to_ros(const pitwall::Joy& joy) { return {header(joy.stamp, ""), {}, {joy.buttons.begin(), joy.buttons.end()}}; }

Imu to_ros(const pitwall::Imu& imu, std::string_view frame_id) {
  Imu out;
  out.header = header(imu.stamp, frame_id);
  out.orientation_covariance[0] = -1.0;
  const auto to_vector = [](const std::array<double, 3>& v) { return Vector3{v[0], v[1], v[2]}; };
  out.angular_velocity = to_vector(imu.angular_velocity_radps);
  out.linear_acceleration = to_vector(imu.linear_acceleration_mps2);
  return out;
}

pitwall::Imu from_ros(const Imu& imu) {
  const Vector3& rate = imu.angular_velocity;
  const Vector3& force = imu.linear_acceleration;
  return {to_time(imu.header.stamp), {rate.x, rate.y, rate.z}, {force.x, force.y, force.z}};
}

pitwall::Joy from_ros(const Joy& joy) { return {to_time(joy.header.stamp), {joy.buttons.begin(), joy.buttons.end()}}; }

AckermannDriveStamped to_ros(const Command& command, Time stamp, std::string_view frame_id) {
  AckermannDriveStamped out;
  out.header = header(stamp, frame_id);
  out.drive.steering_angle = command.steering_angle_rad;
  out.drive.speed = command.speed_mps;
  return out;
}

TransformStamped to_transform(const pitwall::Odometry& odometry, std::string_view frame_id, std::string_view child_frame_id) {
  const PlanarQuaternion q = odometry.orientation;
  return {header(odometry.stamp, frame_id),
          std::string(child_frame_id),
          {{odometry.position.x, odometry.position.y, 0.0}, {0.0, 0.0, q.z, q.w}}};
}

}  // namespace pitwall::ros_messages
