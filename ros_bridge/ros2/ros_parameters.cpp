// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/ros2/ros_parameters.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "controllers/make.hpp"
#include "core/text.hpp"
#include "ros_bridge/live_parameters.hpp"

namespace pitwall::ros_bridge {
namespace {

using Descriptor = rcl_interfaces::msg::ParameterDescriptor;

constexpr double kUnbounded = std::numeric_limits<double>::max();

Descriptor described(std::string_view doc, std::string_view unit = {}) {
  Descriptor descriptor;
  descriptor.description = std::string(doc) + (unit.empty() ? "" : " [" + std::string(unit) + "]");
  return descriptor;
}

void bound(Descriptor& descriptor, double min, double max) {
  rcl_interfaces::msg::FloatingPointRange range;
  range.from_value = min;
  range.to_value = max;
  descriptor.floating_point_range.push_back(range);
}

// The leaves that a ROS parameter can be, dotted.
void leaves(const Node& node, const std::string& path, std::vector<std::pair<std::string, std::string>>& into) {
  if (node.is_scalar()) into.emplace_back(path, node.scalar);
  for (const auto& [key, value] : node.entries) leaves(value, path.empty() ? key : path + "." + key, into);
}

rclcpp::ParameterValue value_of(const std::string& scalar) {
  if (scalar == "true" || scalar == "false") return rclcpp::ParameterValue(scalar == "true");
  if (const std::optional<double> number = parse_double(scalar)) return rclcpp::ParameterValue(*number);
  return rclcpp::ParameterValue(scalar);
}

}  // namespace

template <class Value>
void RosParameters::exchange(std::string_view name, Value& value, const Descriptor& descriptor) {
  const std::string path = prefix_ + std::string(name);
  if (!node_.has_parameter(path)) node_.declare_parameter(path, rclcpp::ParameterValue(value), descriptor);
  value = node_.get_parameter(path).template get_value<Value>();
}

void RosParameters::number(std::string_view name, double& value, const FieldInfo& info) {
  Descriptor descriptor = described(info.doc, info.unit);
  if (info.min > -kUnbounded || info.max < kUnbounded) bound(descriptor, info.min, info.max);
  exchange(name, value, descriptor);
}

void RosParameters::integer(std::string_view name, std::int64_t& value, const FieldInfo& info) {
  Descriptor descriptor = described(info.doc, info.unit);
  if (info.min > -kUnbounded && info.max < kUnbounded) {
    rcl_interfaces::msg::IntegerRange range;
    range.from_value = static_cast<std::int64_t>(info.min);
    range.to_value = static_cast<std::int64_t>(info.max);
    range.step = 1;
    descriptor.integer_range.push_back(range);
  }
  exchange(name, value, descriptor);
}

void RosParameters::flag(std::string_view name, bool& value, std::string_view doc) { exchange(name, value, described(doc)); }

void RosParameters::text(std::string_view name, std::string& value, std::string_view doc) { exchange(name, value, described(doc)); }

void RosParameters::choice(std::string_view name, int& index, std::span<const std::string_view> names, std::string_view doc) {
  const std::vector<std::string> known(names.begin(), names.end());
  Descriptor descriptor = described(doc);
  descriptor.additional_constraints = "one of: " + join(known);
  std::string value = known.at(static_cast<std::size_t>(index));
  exchange(name, value, descriptor);
  const auto at = std::find(known.begin(), known.end(), value);
  if (at != known.end()) {
    index = static_cast<int>(at - known.begin());
  } else if (status_) {
    status_ = Error{prefix_ + std::string(name) + ": " + unknown_name("choice", value, known)};
  }
}

void RosParameters::subtree(std::string_view /*name*/, Node& /*value*/, std::string_view /*doc*/) {}

void RosParameters::group(std::string_view name, const std::function<void(FieldVisitor&)>& visit_group) {
  RosParameters nested(node_, prefix_ + std::string(name) + ".");
  visit_group(nested);
  if (status_) status_ = nested.status_;
}

Result<std::vector<std::string>> controller_parameters(rclcpp_lifecycle::LifecycleNode& node, const std::string& controller) {
  const Result<Node> defaults = controllers::complete_parameters(controller, Node::map());
  if (!defaults) return defaults.error();
  const Result<std::vector<FieldDescription>> rows = controllers::describe(controller);
  if (!rows) return rows.error();
  std::vector<std::pair<std::string, std::string>> all;
  leaves(*defaults, "", all);
  std::vector<std::string> assignments;
  for (const auto& [key, scalar] : all) {
    const std::string path = controller + "." + key;
    const rclcpp::ParameterValue by_default = value_of(scalar);
    if (!node.has_parameter(path)) {
      Descriptor descriptor;
      const auto row = std::find_if(rows->begin(), rows->end(), [&](const FieldDescription& each) { return each.name == key; });
      if (row != rows->end()) {
        descriptor = described(row->doc, row->unit);
        descriptor.additional_constraints = row->range;
      }
      for (const LiveParameter& live : live_parameters(controller)) {
        if (live.name == key && !live.flag()) bound(descriptor, live.min, live.max);
      }
      node.declare_parameter(path, by_default, descriptor);
    }
    const rclcpp::Parameter now = node.get_parameter(path);
    if (now.get_parameter_value() != by_default) assignments.push_back(path + "=" + scalar_of(now));
  }
  return assignments;
}

std::string scalar_of(const rclcpp::Parameter& parameter) {
  switch (parameter.get_type()) {
    case rclcpp::ParameterType::PARAMETER_BOOL:
      return parameter.as_bool() ? "true" : "false";
    case rclcpp::ParameterType::PARAMETER_INTEGER:
      return std::to_string(parameter.as_int());
    case rclcpp::ParameterType::PARAMETER_DOUBLE:
      return format_exact(parameter.as_double());
    case rclcpp::ParameterType::PARAMETER_STRING:
      return parameter.as_string();
    default:
      return parameter.value_to_string();
  }
}

}  // namespace pitwall::ros_bridge
