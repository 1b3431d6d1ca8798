// SPDX-License-Identifier: Apache-2.0
// Which parameters of a controller may change while the car drives, and between which bounds (spec: simulator_and_controllers 5.1 and
// 6.4). A batch is taken whole or not at all. Neither the deadman nor the reactive net can be switched off.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/controller.hpp"
#include "core/node.hpp"
#include "core/result.hpp"

namespace pitwall::ros_bridge {

/// A number between two bounds (SI), or a flag.
struct LiveParameter {
  std::string_view name;
  double min = 0.0;
  double max = 0.0;
  [[nodiscard]] bool flag() const { return min == max; }
};

/// Those of the controller of that name; none where it has none.
std::span<const LiveParameter> live_parameters(std::string_view controller);

/// Makes the changes (a map of name to value), or none of them. Gives them as "key=value", for the recorder. Errors name the parameter,
/// the value and what is allowed, or are those of the controller.
Result<std::vector<std::string>> change_live(Controller& controller, const Node& changes);

}  // namespace pitwall::ros_bridge
