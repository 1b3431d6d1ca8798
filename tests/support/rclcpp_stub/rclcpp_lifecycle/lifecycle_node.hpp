// SPDX-License-Identifier: Apache-2.0
// What ros_bridge/ros2 uses of rclcpp_lifecycle; see rclcpp/rclcpp.hpp beside it. Transitions are called by the test itself.
#pragma once

#include <rclcpp/rclcpp.hpp>

namespace rclcpp_lifecycle {

class State {};

namespace node_interfaces {
class LifecycleNodeInterface {
 public:
  enum class CallbackReturn : std::uint8_t { SUCCESS = 97, FAILURE = 98, ERROR = 99 };
  virtual ~LifecycleNodeInterface() = default;
  virtual CallbackReturn on_configure(const State&) { return CallbackReturn::SUCCESS; }
  virtual CallbackReturn on_cleanup(const State&) { return CallbackReturn::SUCCESS; }
  virtual CallbackReturn on_shutdown(const State&) { return CallbackReturn::SUCCESS; }
  virtual CallbackReturn on_activate(const State&) { return CallbackReturn::SUCCESS; }
  virtual CallbackReturn on_deactivate(const State&) { return CallbackReturn::SUCCESS; }
  virtual CallbackReturn on_error(const State&) { return CallbackReturn::FAILURE; }
};
}  // namespace node_interfaces

class LifecycleNode : public node_interfaces::LifecycleNodeInterface, public std::enable_shared_from_this<LifecycleNode> {
 public:
  explicit LifecycleNode(const std::string& node_name, const rclcpp::NodeOptions& options = rclcpp::NodeOptions(),
                         bool /*enable_communication_interface*/ = true)
      : name_(node_name), options_(options) {
    topics_->name = name_;
    topics_->name_space = "/";
    declare_parameter("use_sim_time", rclcpp::ParameterValue(false));
  }
  [[nodiscard]] const char* get_name() const { return name_.c_str(); }
  [[nodiscard]] const char* get_namespace() const { return "/"; }
  [[nodiscard]] rclcpp::Logger get_logger() const { return {}; }
  rclcpp::CallbackGroup::SharedPtr create_callback_group(rclcpp::CallbackGroupType, bool automatically_add_to_executor_with_node = true) {
    return std::make_shared<rclcpp::CallbackGroup>(rclcpp::CallbackGroup{automatically_add_to_executor_with_node});
  }
  rclcpp::node_interfaces::NodeBaseInterface::SharedPtr get_node_base_interface() { return nullptr; }
  rclcpp::node_interfaces::NodeTopicsInterface::SharedPtr get_node_topics_interface() { return topics_; }
  rclcpp::node_interfaces::NodeGraphInterface::SharedPtr get_node_graph_interface() {
    return std::make_shared<rclcpp::node_interfaces::NodeGraphInterface>();
  }

  const rclcpp::ParameterValue& declare_parameter(
      const std::string& name, const rclcpp::ParameterValue& default_value,
      const rcl_interfaces::msg::ParameterDescriptor& parameter_descriptor = rcl_interfaces::msg::ParameterDescriptor(),
      bool ignore_override = false) {
    rclcpp::ParameterValue value = default_value;
    for (const rclcpp::Parameter& each : options_.parameter_overrides()) {
      if (!ignore_override && each.get_name() == name) value = each.get_parameter_value();
    }
    if (value.type != default_value.type) throw std::runtime_error("parameter '" + name + "' has invalid type");
    if (const auto wrong = out_of_range(value, parameter_descriptor); !wrong.empty()) throw std::runtime_error(name + wrong);
    descriptors_[name] = parameter_descriptor;
    return values_[name] = value;
  }
  [[nodiscard]] bool has_parameter(const std::string& name) const { return values_.count(name) > 0; }
  [[nodiscard]] rclcpp::Parameter get_parameter(const std::string& name) const { return {name, values_.at(name)}; }
  [[nodiscard]] rcl_interfaces::msg::ParameterDescriptor describe_parameter(const std::string& name) const { return descriptors_.at(name); }
  using OnSetParametersCallbackType =
      std::function<rcl_interfaces::msg::SetParametersResult(const std::vector<rclcpp::Parameter>& parameters)>;
  [[nodiscard]] rclcpp::node_interfaces::OnSetParametersCallbackHandle::SharedPtr add_on_set_parameters_callback(
      OnSetParametersCallbackType callback) {
    callback_ = std::move(callback);
    return std::make_shared<rclcpp::node_interfaces::OnSetParametersCallbackHandle>();
  }
  rcl_interfaces::msg::SetParametersResult set_parameters_atomically(const std::vector<rclcpp::Parameter>& parameters) {
    for (const rclcpp::Parameter& each : parameters) {
      const auto wrong = out_of_range(each.get_parameter_value(), descriptors_.at(each.get_name()));
      if (!wrong.empty()) return {false, each.get_name() + wrong};
    }
    rcl_interfaces::msg::SetParametersResult result{true, ""};
    if (callback_) result = callback_(parameters);
    for (const rclcpp::Parameter& each : parameters) {
      if (result.successful) values_[each.get_name()] = each.get_parameter_value();
    }
    return result;
  }

 private:
  static std::string out_of_range(const rclcpp::ParameterValue& value, const rcl_interfaces::msg::ParameterDescriptor& descriptor) {
    for (const auto& range : descriptor.floating_point_range) {
      if (value.type == rclcpp::PARAMETER_DOUBLE && !(value.number >= range.from_value && value.number <= range.to_value))
        return ": doesn't comply with floating point range";
    }
    return {};
  }

  std::string name_;
  rclcpp::NodeOptions options_;
  rclcpp::node_interfaces::NodeTopicsInterface::SharedPtr topics_ = std::make_shared<rclcpp::node_interfaces::NodeTopicsInterface>();
  std::map<std::string, rclcpp::ParameterValue> values_;
  std::map<std::string, rcl_interfaces::msg::ParameterDescriptor> descriptors_;
  OnSetParametersCallbackType callback_;
};

}  // namespace rclcpp_lifecycle
