// SPDX-License-Identifier: Apache-2.0
// Our parameter structs as real ROS parameters: declared with unit, range and meaning, then read. A group is a prefix: "gate.zeros_s".
#pragma once

#include <rclcpp_lifecycle/lifecycle_node.hpp>
#include <string>
#include <vector>

#include "core/fields.hpp"
#include "core/result.hpp"

namespace pitwall::ros_bridge {

/// Declares each field that is not there yet, with its value as default, and gives it the parameter's value. A value that rclcpp refuses
/// is its exception.
class RosParameters final : public FieldVisitor {
 public:
  explicit RosParameters(rclcpp_lifecycle::LifecycleNode& node, std::string prefix = {}) : node_(node), prefix_(std::move(prefix)) {}

  void number(std::string_view name, double& value, const FieldInfo& info) override;
  void integer(std::string_view name, std::int64_t& value, const FieldInfo& info) override;
  void flag(std::string_view name, bool& value, std::string_view doc) override;
  void text(std::string_view name, std::string& value, std::string_view doc) override;
  void choice(std::string_view name, int& index, std::span<const std::string_view> names, std::string_view doc) override;
  /// Not for ROS: of another reader.
  void subtree(std::string_view name, Node& value, std::string_view doc) override;
  void group(std::string_view name, const std::function<void(FieldVisitor&)>& visit_group) override;

  /// The first choice that is none.
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  template <class Value>
  void exchange(std::string_view name, Value& value, const rcl_interfaces::msg::ParameterDescriptor& descriptor);

  rclcpp_lifecycle::LifecycleNode& node_;
  std::string prefix_;
  Status status_;
};

/// The parameters of the controller `controller`, under its name: numbers, flags and texts; those that may change while it drives have the
/// bounds of live_parameters. Gives what differs from its defaults as "controller.key=value", as a scenario takes it. Errors: an unknown
/// controller; a value that rclcpp refuses is its exception.
Result<std::vector<std::string>> controller_parameters(rclcpp_lifecycle::LifecycleNode& node, const std::string& controller);

/// Of one parameter, as YAML has it.
std::string scalar_of(const rclcpp::Parameter& parameter);

}  // namespace pitwall::ros_bridge
