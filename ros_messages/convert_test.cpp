// SPDX-License-Identifier: Apache-2.0
#include "ros_messages/convert.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace pitwall::ros_messages {

TEST_CASE("a time comes back from its stamp, before and after the epoch") {
  for (const std::int64_t ns :
       {0LL, 1LL, 999'999'999LL, 1'000'000'000LL, 1'764'550'000'123'456'789LL, -1LL, -1'000'000'000LL, -1'500'000'000LL}) {
    const Stamp stamp = to_stamp({ns});
    CHECK(stamp.nanosec < 1'000'000'000U);
    CHECK(to_time(stamp).ns == ns);
  }
  CHECK(to_stamp({-1}) == Stamp{-1, 999'999'999});
  CHECK(to_stamp({std::numeric_limits<std::int64_t>::max()}).sec == std::numeric_limits<std::int32_t>::max());
  CHECK(to_time({1, 1'500'000'000U}).ns == 2'500'000'000);
}

TEST_CASE("what a controller sees comes back from the wire to the bit") {
  pitwall::LaserScan scan;
  scan.stamp = {1'234'567'890'123};
  scan.angle_min = -2.35F;
  scan.angle_max = 2.35F;
  scan.angle_increment = 0.00435F;
  scan.time_increment = 1e-5F;
  scan.scan_time = 0.025F;
  scan.range_min = 0.06F;
  scan.range_max = 10.0F;
  scan.ranges = {1.5F, INFINITY, NAN, 0.1F};
  const pitwall::LaserScan back = from_ros(*read<LaserScan>(write(to_ros(scan, "laser"))));
  CHECK(back.stamp == scan.stamp);
  CHECK(back.angle_min == scan.angle_min);
  CHECK(back.angle_max == scan.angle_max);
  CHECK(back.angle_increment == scan.angle_increment);
  CHECK(back.time_increment == scan.time_increment);
  CHECK(back.scan_time == scan.scan_time);
  CHECK(back.range_min == scan.range_min);
  CHECK(back.range_max == scan.range_max);
  REQUIRE(back.ranges.size() == scan.ranges.size());
  for (std::size_t i = 0; i < scan.ranges.size(); ++i) {
    CHECK(std::bit_cast<std::uint32_t>(back.ranges[i]) == std::bit_cast<std::uint32_t>(scan.ranges[i]));
  }

  const pitwall::Odometry odometry{{-7}, {0.1, -0.2}, to_quaternion(2.5), -1.0 / 3.0, 0.7};
  const pitwall::Odometry moved = from_ros(*read<Odometry>(write(to_ros(odometry, "odom", "base_link"))));
  CHECK(moved.stamp == odometry.stamp);
  CHECK(moved.position.x == odometry.position.x);
  CHECK(moved.position.y == odometry.position.y);
  CHECK(yaw_of(moved.orientation) == yaw_of(odometry.orientation));
  CHECK(moved.speed_mps == odometry.speed_mps);
  CHECK(moved.yaw_rate_radps == odometry.yaw_rate_radps);

  const PoseEstimate pose{{99}, {3.0, 4.0}, to_quaternion(-0.3)};
  const PoseEstimate seen = from_ros(*read<PoseStamped>(write(to_ros(pose, "map"))));
  CHECK(seen.stamp == pose.stamp);
  CHECK(seen.pose().x == pose.pose().x);
  CHECK(seen.pose().y == pose.pose().y);
  CHECK(seen.pose().yaw == pose.pose().yaw);

  const pitwall::Joy joy{{5}, {1, 0, 1}};
  CHECK(from_ros(*read<Joy>(write(to_ros(joy)))).buttons == joy.buttons);

  const pitwall::Imu imu{{7}, {0.1, -0.2, 0.3}, {-0.4, 0.5, 9.81}};
  const Imu wire = *read<Imu>(write(to_ros(imu, "base_link")));
  CHECK(wire.header.frame_id == "base_link");
  CHECK(wire.orientation_covariance[0] == -1.0);
  CHECK(from_ros(wire).stamp == imu.stamp);
  CHECK(from_ros(wire).angular_velocity_radps == imu.angular_velocity_radps);
  CHECK(from_ros(wire).linear_acceleration_mps2 == imu.linear_acceleration_mps2);
  CHECK(from_ros(to_ros(joy)).stamp == joy.stamp);
}

TEST_CASE("a command and the odometry's transform carry stamp, frames and values") {
  Command command;
  command.steering_angle_rad = 0.25F;
  command.speed_mps = 3.5F;
  const AckermannDriveStamped drive = to_ros(command, {2'000'000'001}, "base_link");
  CHECK(drive.header == Header{{2, 1}, "base_link"});
  CHECK(drive.drive == AckermannDrive{0.25F, 0.0F, 3.5F, 0.0F, 0.0F});

  const TransformStamped transform = to_transform({{3}, {1.0, 2.0}, {0.6, 0.8}, 0.0, 0.0}, "odom", "base_link");
  CHECK(transform.header == Header{{0, 3}, "odom"});
  CHECK(transform.child_frame_id == "base_link");
  CHECK(transform.transform == Transform{{1.0, 2.0, 0.0}, {0.0, 0.0, 0.6, 0.8}});
}

}  // namespace pitwall::ros_messages
