// SPDX-License-Identifier: Apache-2.0
// bridge_controller for a machine with ROS 2: a lifecycle node. Messages, services and parameters on one thread, which the next message
// wakes.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <rclcpp/rclcpp.hpp>

#include "ros_bridge/ros2/lifecycle_controller.hpp"

namespace {

// An inactive node answers its services so often.
constexpr std::chrono::milliseconds kIdle{50};

volatile std::sig_atomic_t interrupted = 0;
void interrupt(int /*signal*/) { interrupted = 1; }

}  // namespace

int main(int argc, char** argv) {
  // Not rclcpp's handlers: they end the context before the stop is out.
  rclcpp::init(argc, argv, rclcpp::InitOptions(), rclcpp::SignalHandlerOptions::None);
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  int code = 0;
  try {
    const auto node = std::make_shared<pitwall::ros_bridge::LifecycleController>(rclcpp::NodeOptions(), PITWALL_DATA_FOLDER);
    rclcpp::executors::SingleThreadedExecutor executor;
    executor.add_node(node->get_node_base_interface());
    while (interrupted == 0 && rclcpp::ok()) {
      node->drives() ? executor.spin_some() : executor.spin_once(kIdle);
      node->step();
    }
    node->stop();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bridge_controller: %s\n", e.what());
    code = 2;
  }
  rclcpp::shutdown();
  return code;
}
