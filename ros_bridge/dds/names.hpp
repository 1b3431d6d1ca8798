// SPDX-License-Identifier: Apache-2.0
// What ROS 2 calls its topics and types on DDS (rmw_cyclonedds_cpp, namespace_prefix.hpp and demangle.cpp), and what it writes into
// USER_DATA.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "ros_bridge/graph.hpp"

namespace pitwall::ros_bridge {

/// "rt/scan" of "/scan".
std::string dds_topic(std::string_view ros_topic);
/// "sensor_msgs::msg::dds_::LaserScan_" of "sensor_msgs/msg/LaserScan".
std::string dds_type(std::string_view ros_type);
/// "/scan" of "rt/scan"; nothing of what is not a ROS topic (services, actions, plain DDS).
std::optional<std::string> ros_topic(std::string_view dds_topic);
/// "sensor_msgs/msg/LaserScan" of "sensor_msgs::msg::dds_::LaserScan_"; what does not look like it stays as it is.
std::string ros_type(std::string_view dds_type);

/// The hash that the topic is announced with: its own, or that of ros_messages; empty where neither knows one.
std::string type_hash_of(const TopicSpec& topic);
/// "value" of "key=value;" somewhere in `user_data`; empty where it is not there.
std::string user_data_value(std::string_view user_data, std::string_view key);

/// Whether name, type and hash are what ROS 2 allows.
Status check_topic(const TopicSpec& topic);
/// Whether "/namespace/name" is what ROS 2 allows for a node.
Status check_node(std::string_view full_name);

}  // namespace pitwall::ros_bridge
