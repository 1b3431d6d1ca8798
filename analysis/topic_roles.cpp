// SPDX-License-Identifier: Apache-2.0
#include "analysis/topic_roles.hpp"

#include <algorithm>

#include "core/text.hpp"
#include "ros_messages/drive.hpp"
#include "ros_messages/graph.hpp"
#include "ros_messages/nav.hpp"
#include "ros_messages/sensors.hpp"

namespace pitwall::analysis {

namespace {

namespace ros = ros_messages;

const std::vector<Role>& roles() {
  static const std::vector<Role> all{
      {"scan", {"/scan"}, {ros::LaserScan::kType}, "no measured motion, no replay of a controller that needs scans"},
      {"ackermann_cmd", {"/ackermann_cmd"}, {ros::AckermannDriveStamped::kType}, "", false},
      {"drive", {"/drive"}, {ros::AckermannDriveStamped::kType}, "no replay"},
      {"cmd_vel", {"/cmd_vel"}, {ros::Twist::kType, ros::TwistStamped::kType}, ""},
      {"teleop", {"/teleop"}, {ros::AckermannDriveStamped::kType}, "", false},
      {"odometry", {"/odom", "/wheel_odom"}, {ros::Odometry::kType}, "no odometry scale, no time to collision in the replay"},
      {"joy", {"/joy"}, {ros::Joy::kType}, "no deadman holds: the whole recording is one"},
      {"imu", {"/imu", "/imu/bno", "/sensors/imu/raw"}, {ros::Imu::kType}, "no turn rate from a gyro"},
      {"pose", {"/slam_pose", "/amcl_pose", "/pose"}, {ros::PoseStamped::kType, ros::PoseWithCovarianceStamped::kType}, ""},
      {"parameter_events", {"/parameter_events"}, {ros::ParameterEvent::kType}, ""},
      {"tf_static", {"/tf_static"}, {ros::TFMessage::kType}, "", false},
  };
  return all;
}

bool has_type(const Role& role, const recording::Topic& topic) {
  return std::find(role.types.begin(), role.types.end(), topic.type) != role.types.end();
}

Cast find_topic(const Role& role, const std::vector<recording::Topic>& topics, const std::string& prefix) {
  const auto named = [&](std::string_view name) -> const recording::Topic* {
    const std::string full = prefix + std::string(name);
    for (const recording::Topic& topic : topics) {
      if (topic.name == full || "/" + topic.name == full) return &topic;
    }
    return nullptr;
  };
  std::string why;
  for (const std::string_view name : role.topics) {
    const recording::Topic* topic = named(name);
    if (topic == nullptr) continue;
    if (!has_type(role, *topic)) {
      why = topic->name + " is of type " + topic->type + ", read is " + std::string(role.types.front());
    } else if (topic->message_count == 0) {
      why = topic->name + " has no messages";
    } else {
      return {&role, topic, ""};
    }
  }
  std::vector<std::string> same;
  const recording::Topic* only = nullptr;
  for (const recording::Topic& topic : topics) {
    if (!role.by_type || !prefix.empty() || !has_type(role, topic) || topic.message_count == 0) continue;
    only = &topic;
    same.push_back(topic.name);
  }
  if (same.size() == 1) return {&role, only, ""};
  if (same.size() > 1) return {&role, nullptr, "several may be meant: " + join(same) + " (--topic " + std::string(role.name) + "=NAME)"};
  if (why.empty()) {
    why = "no " + prefix + std::string(role.topics.front()) +
          (role.by_type ? ", and no other topic of type " + std::string(role.types.front()) : "");
  }
  return {&role, nullptr, why};
}

/// "scan=/front/scan".
Result<Cast> assigned_topic(const std::string& assignment, const std::vector<recording::Topic>& topics) {
  const std::size_t equals = assignment.find('=');
  const std::string name = assignment.substr(0, equals);
  const auto role = std::find_if(roles().begin(), roles().end(), [&](const Role& each) { return each.name == name; });
  if (role == roles().end() || equals == std::string::npos) {
    return Error{"--topic " + assignment + ": " + unknown_name("role", name, topic_roles())};
  }
  const std::string topic_name = assignment.substr(equals + 1);
  std::vector<std::string> names;
  for (const recording::Topic& topic : topics) {
    if (topic.name != topic_name) {
      names.push_back(topic.name);
    } else if (!has_type(*role, topic)) {
      return Error{"--topic " + assignment + ": it is of type " + topic.type + ", needed is " + std::string(role->types.front())};
    } else {
      return Cast{&*role, &topic, ""};
    }
  }
  return Error{"--topic " + assignment + ": " + unknown_name("topic", topic_name, names)};
}

}  // namespace

Result<std::vector<Cast>> cast_all(const std::vector<recording::Topic>& topics, const RunData& run, const LoadOptions& options) {
  std::vector<Cast> casts;
  for (const Role& role : roles()) {
    // /tf_static is one for all cars.
    casts.push_back(find_topic(role, topics, role.name == "tf_static" || role.name == "parameter_events" ? "" : run.car.prefix));
  }
  for (const std::string& assignment : options.topics) {
    const Result<Cast> given = assigned_topic(assignment, topics);
    if (!given) return given.error();
    for (Cast& cast : casts) {
      if (cast.role == given->role) cast = *given;
    }
  }
  return casts;
}

std::vector<std::string> topic_roles() {
  std::vector<std::string> names;
  for (const Role& role : roles()) names.emplace_back(role.name);
  return names;
}

}  // namespace pitwall::analysis
