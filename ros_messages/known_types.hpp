// SPDX-License-Identifier: Apache-2.0
// Every message type that Pitwall has a struct for, by name: what a recording without definitions is read with, and what a
// writer puts into its schemas.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ros_messages/definition.hpp"
#include "ros_messages/diagnostics.hpp"
#include "ros_messages/drive.hpp"
#include "ros_messages/geometry.hpp"
#include "ros_messages/graph.hpp"
#include "ros_messages/nav.hpp"
#include "ros_messages/sensors.hpp"
#include "ros_messages/standard.hpp"

namespace pitwall::ros_messages {

/// Calls `visit` with a default message of each type.
template <class Visit>
void for_each_known_type(Visit&& visit) {
  const auto all = [&](auto... messages) { (visit(messages), ...); };
  all(Stamp{}, Span{}, Header{}, Empty{}, String{}, Bool{}, Int32{}, Float32{}, Float64{}, Clock{}, ServiceEventInfo{});
  all(Vector3{}, Point{}, Point32{}, Quaternion{}, Pose{}, Twist{}, Transform{}, PointStamped{}, PoseStamped{}, PoseArray{},
      PoseWithCovariance{}, PoseWithCovarianceStamped{}, TwistStamped{}, TwistWithCovariance{}, TwistWithCovarianceStamped{}, Polygon{},
      PolygonStamped{}, TransformStamped{}, TFMessage{});
  all(LaserScan{}, Imu{}, Joy{}, JointState{}, PointField{}, PointCloud2{}, Odometry{}, Path{}, MapMetaData{}, OccupancyGrid{});
  all(AckermannDrive{}, AckermannDriveStamped{}, VescState{}, VescStateStamped{}, VescImu{}, VescImuStamped{});
  all(Log{}, ParameterValue{}, Parameter{}, ParameterEvent{}, Gid{}, NodeEntitiesInfo{}, ParticipantEntitiesInfo{}, KeyValue{},
      DiagnosticStatus{}, DiagnosticArray{});
}

/// The definition of "sensor_msgs/msg/LaserScan" (or "sensor_msgs/LaserScan"), or null.
const Definition* known_definition(std::string_view type);

/// Full names, sorted.
std::vector<std::string> known_types();

}  // namespace pitwall::ros_messages
