// SPDX-License-Identifier: Apache-2.0
// What sensors say, with exactly the precision that the ROS 2 message of the same name carries (float32 ranges,
// quaternions, nanosecond stamps), so that a simulated run, its recording and the car give a controller the same bits.
#pragma once

#include <array>
#include <vector>

#include "core/geometry.hpp"
#include "core/time.hpp"

namespace pitwall {

/// sensor_msgs/LaserScan. Beam i points at angle_min + i * angle_increment (rad, counter-clockwise from the sensor's
/// x axis) and leaves at stamp + i * time_increment: `stamp` is beam 0's instant, not always the earliest. A range of +inf is "no return";
/// NaN and values outside [range_min, range_max] are invalid.
struct LaserScan {
  Time stamp;
  float angle_min = 0.0F;
  float angle_max = 0.0F;
  float angle_increment = 0.0F;
  float time_increment = 0.0F;  ///< s from beam to beam; negative where the sensor turns clockwise
  float scan_time = 0.0F;       ///< s between scans
  float range_min = 0.0F;
  float range_max = 0.0F;
  std::vector<float> ranges;  ///< m
};

/// geometry_msgs/Quaternion, of a rotation about z: x = y = 0.
struct PlanarQuaternion {
  double z = 0.0;
  double w = 1.0;
};

/// The quaternion of a yaw angle.
inline PlanarQuaternion to_quaternion(double yaw) {
  const auto [s, c] = math::sincos(0.5 * yaw);
  return {s, c};
}
/// The yaw of a unit quaternion in [-pi, pi]. The one function by which simulator, replay and car derive yaw.
inline double yaw_of(PlanarQuaternion q) { return math::atan2(2.0 * q.w * q.z, 1.0 - 2.0 * q.z * q.z); }

/// nav_msgs/Odometry of base_link (rear axle, on the ground): dead-reckoned pose, and the twist in the body frame.
struct Odometry {
  Time stamp;
  Vec2 position;  ///< in the odom frame
  PlanarQuaternion orientation;
  double speed_mps = 0.0;       ///< along body x; negative in reverse
  double yaw_rate_radps = 0.0;  ///< of the driver's own model (steering command), not measured
};

/// geometry_msgs/PoseStamped: where a localiser believes base_link to be, in the map frame.
struct PoseEstimate {
  Time stamp;
  Vec2 position;
  PlanarQuaternion orientation;
  [[nodiscard]] Pose2 pose() const { return {position.x, position.y, yaw_of(orientation)}; }
};

/// sensor_msgs/Imu at base_link, in the axes of the car (x forward, y left, z up). Specific force: at rest z reads +g. It has no
/// orientation (covariance -1 on the wire).
struct Imu {
  Time stamp;
  std::array<double, 3> angular_velocity_radps{};
  std::array<double, 3> linear_acceleration_mps2{};
};

/// sensor_msgs/Joy, as far as controllers look: the operator's buttons.
struct Joy {
  Time stamp;
  std::vector<int> buttons;  ///< 1 = pressed
};

}  // namespace pitwall
