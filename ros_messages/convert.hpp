// SPDX-License-Identifier: Apache-2.0
// Between the words of the controllers (core/messages.hpp) and the ROS 2 messages that carry them. What core holds comes
// back to the bit; what it does not hold (frames, covariances, x and y of a quaternion) is given or dropped here.
#pragma once

#include <optional>
#include <string_view>

#include "core/controller.hpp"
#include "core/messages.hpp"
#include "core/time.hpp"
#include "ros_messages/drive.hpp"
#include "ros_messages/nav.hpp"
#include "ros_messages/sensors.hpp"

namespace pitwall::ros_messages {

/// Nanoseconds to whole seconds (rounded down) and the rest. Seconds beyond 32 bits (the year 2038) are held at the end.
Stamp to_stamp(Time time);
/// A nanosec of 1e9 or more (not allowed, but seen) counts on.
Time to_time(const Stamp& stamp);

LaserScan to_ros(const pitwall::LaserScan& scan, std::string_view frame_id);
Odometry to_ros(const pitwall::Odometry& odometry, std::string_view frame_id, std::string_view child_frame_id);
PoseStamped to_ros(const PoseEstimate& pose, std::string_view frame_id);
Joy to_ros(const pitwall::Joy& joy);
/// Without orientation: its covariance says -1.
Imu to_ros(const pitwall::Imu& imu, std::string_view frame_id);
/// `stamp` is when the command was given.
AckermannDriveStamped to_ros(const Command& command, Time stamp, std::string_view frame_id);
TransformStamped to_transform(const pitwall::Odometry& odometry, std::string_view frame_id, std::string_view child_frame_id);

pitwall::LaserScan from_ros(const LaserScan& scan);
/// Position x, y; the rotation as it is about z (the others are dropped); twist x and yaw rate.
pitwall::Odometry from_ros(const Odometry& odometry);
PoseEstimate from_ros(const PoseStamped& pose);
PoseEstimate from_ros(const PoseWithCovarianceStamped& pose);
pitwall::Joy from_ros(const Joy& joy);
pitwall::Imu from_ros(const Imu& imu);

}  // namespace pitwall::ros_messages
