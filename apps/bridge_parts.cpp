// SPDX-License-Identifier: Apache-2.0
#include "apps/bridge_parts.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/car_choice.hpp"
#include "controllers/make.hpp"
#include "core/files.hpp"
#include "core/text.hpp"
#include "ros_bridge/dds/dds_graph.hpp"

namespace pitwall::apps {
namespace {

// gap_follow needs no track, a scenario does.
constexpr const char* kNoTrack = "indoor_oval";

void collect(const Node& node, const std::string& path, std::vector<std::string>& assignments) {
  if (node.is_map()) {
    for (const auto& [key, value] : node.entries) collect(value, path.empty() ? key : path + "." + key, assignments);
  } else {
    assignments.push_back(path + "=" + node.scalar);
  }
}

}  // namespace

void BridgeChoice::add_options(CLI::App& app) {
  app.add_option("--scenario", scenario, "A scenario that ships, or a file (a resolved.yaml of run_validation)");
  app.add_option("--controller", controller, "Without --scenario: " + join(controllers::names()))->capture_default_str();
  app.add_option("--track", track, "Map and line: a track that ships, or a folder");
  app.add_option("--car", car, "Car profile (default: $PITWALL_CAR, else f1tenth)");
  app.add_option("--set", assignments, "A parameter of controller or scenario, CONTROLLER.KEY=VALUE (may be repeated)")
      ->allow_extra_args(false);
  app.add_option("--params", parameter_file, "YAML file of parameters: groups by the node's and the controllers' names");
  app.add_option("--param", parameters, "A parameter of the node, KEY=VALUE such as gate.release_first=false (may be repeated)")
      ->allow_extra_args(false);
}

bool follows_a_line(const std::string& controller) { return controller != "gap_follow" && controller != "excite"; }

Result<scenarios::ResolvedRun> resolve_bridge(const BridgeChoice& choice, std::optional<scenarios::Localization> localization,
                                              std::optional<double> timeout_s) {
  scenarios::ValidationOptions options;
  options.data = data_folder();
  options.own_tracks = "tracks";
  options.car = chosen_car(choice.car);
  options.car_given = choice.car.has_value();
  options.assignments = choice.assignments;
  options.localization = localization;
  options.timeout_s = timeout_s;
  options.quick = true;
  if (!choice.track.empty()) options.tracks = {choice.track};
  if (choice.scenario.empty()) {
    const std::vector<std::string> known = controllers::names();
    if (std::find(known.begin(), known.end(), choice.controller) == known.end())
      return Error{"--controller: " + unknown_name("controller", choice.controller, known)};
    if (follows_a_line(choice.controller) && choice.track.empty())
      return Error{"--controller " + choice.controller + " follows a line: give its --track"};
    // No criterion but contact ends it: laps without end.
    options.suite_text = "bridge:\n  id: bridge\n  cars:\n    ego: {controller: " + choice.controller +
                         "}\n  criteria: {laps_at_least: 1000}\n  timeout_s: 100000\n";
    if (choice.track.empty()) options.tracks = {kNoTrack};
  } else {
    options.scenario = choice.scenario;
  }
  auto runs = scenarios::resolve(options);
  if (!runs) return runs.error();
  if (runs->size() != 1) return Error{"--scenario " + choice.scenario + ": " + std::to_string(runs->size()) + " runs, one is wanted"};
  return std::move(runs->front());
}

Result<Node> detail::bridge_parameters(BridgeChoice& choice, const std::string& group) {
  Node node = Node::map();
  if (!choice.parameter_file.empty()) {
    const Result<Node> file = load_yaml(choice.parameter_file);
    if (!file) return file.error();
    if (!file->is_map()) return Error{choice.parameter_file + ": groups of parameters are wanted, " + group + " and those of controllers"};
    std::vector<std::string> known = controllers::names();
    known.push_back(group);
    std::vector<std::string> of_controllers;
    for (const auto& [key, value] : file->entries) {
      if (std::find(known.begin(), known.end(), key) == known.end()) return Error{value.where() + ": " + unknown_name("group", key, known)};
      if (key == group) {
        node = value;
      } else {
        collect(value, key, of_controllers);
      }
    }
    choice.assignments.insert(choice.assignments.begin(), of_controllers.begin(), of_controllers.end());
  }
  for (const std::string& assignment : choice.parameters) {
    if (const Status set = set_by_path(node, assignment); !set) return set.error();
  }
  return node;
}

Result<std::unique_ptr<ros_bridge::Graph>> open_graph(const std::string& name) {
  const auto settings = ros_bridge::settings_from_environment();
  if (!settings) return settings.error();
  auto graph = ros_bridge::DdsGraph::make({"/" + name, *settings});
  if (!graph) return graph.error();
  return std::unique_ptr<ros_bridge::Graph>(*std::move(graph));
}

}  // namespace pitwall::apps
