// SPDX-License-Identifier: Apache-2.0
// A simulator, or a player of recordings, and a real car must never be on one graph: what one says would move the other. Both refuse to
// start while the nodes of real drivers are there, and look again while they run.
#pragma once

#include <string>
#include <vector>

#include "ros_bridge/graph.hpp"

namespace pitwall::ros_bridge {

/// Nodes on the graph, not of this process, that drive real hardware (motor controller, LiDAR, joystick), each once; `joystick`: that of a
/// joystick counts.
std::vector<std::string> real_drivers(const Graph& graph, bool joystick = true);

/// "real drivers are on the graph: /a, /b; ..." for people; empty where there are none.
std::string interlock_refusal(const Graph& graph, bool joystick = true);

}  // namespace pitwall::ros_bridge
