// SPDX-License-Identifier: Apache-2.0
// What the programs of the ROS bridge do alike: choose what runs, read parameters, join the graph.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/fields.hpp"
#include "core/node.hpp"
#include "core/result.hpp"
#include "ros_bridge/graph.hpp"
#include "scenarios/resolve.hpp"

namespace CLI {
class App;
}

namespace pitwall::apps {

/// What runs: a scenario of a suite or a resolved one, or else a controller on a track.
struct BridgeChoice {
  std::string scenario;
  std::string controller = "gap_follow";
  std::string track;
  std::optional<std::string> car;
  std::vector<std::string> assignments;  ///< CONTROLLER.KEY=VALUE, or of the scenario
  std::string parameter_file;
  std::vector<std::string> parameters;  ///< KEY=VALUE of the node
  void add_options(CLI::App& app);
};

/// Whether the controller follows a line.
bool follows_a_line(const std::string& controller);

/// One run with nothing open. `of_suite`: what to add to a controller's scenario of our own making, as YAML. Errors: those of resolve(),
/// several runs, and a line follower without a track.
Result<scenarios::ResolvedRun> resolve_bridge(const BridgeChoice& choice, std::optional<scenarios::Localization> localization,
                                              std::optional<double> timeout_s);

/// The group `group` of the parameter file, then --param, into `into`; what else the file says of controllers goes to `choice`.
template <class Parameters>
Status load_bridge_parameters(BridgeChoice& choice, const std::string& group, Parameters& into);

/// The graph that the environment names (ROS_DOMAIN_ID, ...), as node "/`name`".
Result<std::unique_ptr<ros_bridge::Graph>> open_graph(const std::string& name);

namespace detail {
Result<Node> bridge_parameters(BridgeChoice& choice, const std::string& group);
}

template <class Parameters>
Status load_bridge_parameters(BridgeChoice& choice, const std::string& group, Parameters& into) {
  const Result<Node> node = detail::bridge_parameters(choice, group);
  if (!node) return node.error();
  return load_fields(*node, group, into);
}

}  // namespace pitwall::apps
