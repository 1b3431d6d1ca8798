// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/interlock.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "core/text.hpp"

namespace pitwall::ros_bridge {
namespace {

// As the f1tenth stack launches them, and what others call the same.
constexpr std::array<std::string_view, 11> kDrivers{"vesc_driver_node",  "vesc_driver",       "ackermann_to_vesc_node",
                                                    "ackermann_to_vesc", "vesc_to_odom_node", "vesc_to_odom",
                                                    "urg_node",          "urg_node_driver",   "urg_node2",
                                                    "sick_scan",         "sllidar_node"};
constexpr std::array<std::string_view, 4> kJoysticks{"joy", "joy_node", "game_controller_node", "joy_linux_node"};

template <std::size_t N>
bool among(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::vector<std::string> real_drivers(const Graph& graph, bool joystick) {
  std::set<std::string> found;
  for (const Endpoint& endpoint : graph.endpoints()) {
    if (endpoint.ours) continue;
    const std::string_view name = std::string_view(endpoint.node).substr(endpoint.node.rfind('/') + 1);
    if (among(kDrivers, name) || (joystick && among(kJoysticks, name))) found.insert(endpoint.node);
  }
  return {found.begin(), found.end()};
}

std::string interlock_refusal(const Graph& graph, bool joystick) {
  const std::vector<std::string> drivers = real_drivers(graph, joystick);
  if (drivers.empty()) return "";
  return "real drivers are on the graph: " + join(drivers) + "; end them, or use another ROS_DOMAIN_ID";
}

}  // namespace pitwall::ros_bridge
