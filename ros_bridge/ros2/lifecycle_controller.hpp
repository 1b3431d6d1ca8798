// SPDX-License-Identifier: Apache-2.0
// ControllerNode as a lifecycle node of ROS 2. All behaviour is the adapter's; here are states, parameters and the loop's one step.
//
//   configure   car, track and controller from the parameters
//   activate    topics, and decisions from now on; the deadman has to be seen released first
//   deactivate  stops first (zeros, then silence), then leaves the topics
//   cleanup     forgets the controller
#pragma once

#include <memory>
#include <rclcpp_lifecycle/lifecycle_node.hpp>
#include <string>
#include <vector>

#include "core/controller.hpp"
#include "core/localiser.hpp"
#include "core/result.hpp"
#include "onboard/scribe.hpp"
#include "ros_bridge/controller_node.hpp"
#include "ros_bridge/ros2/rclcpp_graph.hpp"

namespace pitwall::ros_bridge {

/// What drives, and where.
struct LifecycleChoice {
  std::string controller = "gap_follow";
  std::string track;
  std::string car = "f1tenth";
  std::string data;  ///< folder with tracks, cars and suites
  bool localise = false;
  void fields(FieldVisitor& f);
};

/// Everything on one thread: its owner spins the node's executor (services, parameters) and calls step() in between.
class LifecycleController final : public rclcpp_lifecycle::LifecycleNode {
 public:
  using Done = rclcpp_lifecycle::node_interfaces::LifecycleNodeInterface::CallbackReturn;

  /// Declares all parameters. Throws what rclcpp throws for values that cannot be, std::invalid_argument for an unknown controller.
  /// `data`: default of the parameter.
  LifecycleController(const rclcpp::NodeOptions& options, const std::string& data);
  ~LifecycleController() override;

  Done on_configure(const rclcpp_lifecycle::State& previous) override;
  Done on_activate(const rclcpp_lifecycle::State& previous) override;
  Done on_deactivate(const rclcpp_lifecycle::State& previous) override;
  Done on_cleanup(const rclcpp_lifecycle::State& previous) override;
  Done on_shutdown(const rclcpp_lifecycle::State& previous) override;

  [[nodiscard]] bool drives() const { return node_ != nullptr; }
  /// Waits for messages, 10 ms at most, and decides; while it drives.
  void step();
  /// The stop, and 0.3 s for it to get out; then no topics any more. While it does not drive, nothing.
  void stop();

 private:
  Status configure_all();
  Status activate_all();
  Done told(const Status& status, const char* what);
  rcl_interfaces::msg::SetParametersResult on_parameters(const std::vector<rclcpp::Parameter>& parameters);
  Status change(const std::vector<rclcpp::Parameter>& parameters);

  LifecycleChoice choice_;
  ControllerNodeSetup setup_;
  std::unique_ptr<Controller> controller_;
  std::unique_ptr<Localiser> localiser_;
  std::unique_ptr<onboard::Scribe> scribe_;
  std::unique_ptr<RclcppGraph> graph_;
  std::unique_ptr<ControllerNode> node_;
  rclcpp::node_interfaces::OnSetParametersCallbackHandle::SharedPtr parameters_;
};

}  // namespace pitwall::ros_bridge
