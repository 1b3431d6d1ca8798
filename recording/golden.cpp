// SPDX-License-Identifier: Apache-2.0
#include "recording/golden.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "core/files.hpp"
#include "core/node.hpp"
#include "core/text.hpp"
#include "ros_messages/convert.hpp"
#include "ros_messages/nav.hpp"

namespace pitwall::recording {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> recordings_of(const GoldenScenario& scenario, const fs::path& data) {
  std::vector<fs::path> paths;
  for (const std::string_view name : split(scenario.bags, ' ')) {
    if (!name.empty()) paths.push_back(data / name);
  }
  return paths;
}

Result<Mapping> load_mapping(const fs::path& folder, const std::string& name) {
  const fs::path graph_file = folder / (name + ".g2o");
  const fs::path trajectory_file = folder / (name + ".tum");
  const auto graph_text = read_file(graph_file);
  if (!graph_text) return graph_text.error();
  auto graph = parse_g2o(*graph_text, graph_file.string());
  if (!graph) return graph.error();
  const auto trajectory_text = read_file(trajectory_file);
  if (!trajectory_text) return trajectory_text.error();
  auto trajectory = parse_tum(*trajectory_text, trajectory_file.string());
  if (!trajectory) return trajectory.error();
  Mapping mapping{std::move(*graph), std::move(*trajectory)};
  const fs::path map_file = folder / (name + ".map.yaml");
  std::error_code ignored;
  if (!fs::exists(map_file, ignored)) return mapping;
  const auto node = load_yaml(map_file);
  if (!node) return node.error();
  if (const Status loaded = load_fields(*node, "map", mapping.map.emplace()); !loaded) return loaded.error();
  return mapping;
}

Status save_mapping(const Mapping& mapping, const fs::path& folder, const std::string& name) {
  Status written = write_file(folder / (name + ".g2o"), to_g2o(mapping.graph));
  if (written) written = write_file(folder / (name + ".tum"), to_tum(mapping.trajectory));
  if (written && mapping.map) written = write_file(folder / (name + ".map.yaml"), to_yaml(save_fields(*mapping.map)));
  return written;
}

bool same(const Mapping& a, const Mapping& b) {
  return to_g2o(a.graph) == to_g2o(b.graph) && to_tum(a.trajectory) == to_tum(b.trajectory) && a.map == b.map;
}

std::string failed_checks(const std::vector<GoldenCheck>& checks) {
  std::vector<std::string> words;
  for (const GoldenCheck& check : checks) {
    if (check.passed) continue;
    words.push_back(check.name + " is " + format_number(check.value, 6) + ", golden " + format_number(check.golden, 6) +
                    ", allowed difference " + format_number(check.allowed, 4));
  }
  return join(words, "; ");
}

/// Compares with the golden files as they are on disk.
void judge(const Mapping& made, const GoldenScenario& scenario, const GoldenOptions& options, GoldenResult& result) {
  const auto golden = load_mapping(options.golden, scenario.name);
  if (!golden) {
    result.message = "no golden files to compare with: " + golden.error().message + " (--update makes them)";
    return;
  }
  result.checks = compare(made, *golden, scenario.tolerances);
  result.message = failed_checks(result.checks);
  if (result.message.empty()) result.status = GoldenStatus::kPassed;
}

/// The verdict, and beside it what was made where that is worth a look.
Status keep_results(const Mapping& made, const GoldenOptions& options, const GoldenResult& result) {
  if (options.results.empty()) return {};
  const Status written = write_file(options.results / (result.scenario + ".json"), to_json(result) + "\n");
  if (!written || result.status == GoldenStatus::kPassed) return written;
  return save_mapping(made, options.results, result.scenario);
}

}  // namespace

void GoldenScenario::fields(FieldVisitor& f) {
  f.text("system", system, "what maps");
  f.text("bags", bags, "recordings below the data folder, separated by spaces");
  f.text("topic", topic, "what the system listens to");
  f.flag("inject_golden", inject_golden, "give the golden trajectory to the system as transforms");
  f.number("node_distance_m", node_distance_m, {"m", 0.01, 1000.0, "system odometry: a node after so much way"});
  f.number("node_angle_rad", node_angle_rad, {"rad", 0.01, 7.0, "system odometry: a node after so much turn"});
  f.nested("tolerances", tolerances);
}

Result<std::vector<GoldenScenario>> load_golden_scenarios(const fs::path& folder) {
  const auto root = load_yaml(folder / "scenarios.yaml");
  if (!root) return root.error();
  if (!root->is_map()) return Error{root->where() + ": must be a map of scenarios by name"};
  std::vector<GoldenScenario> scenarios;
  for (const auto& [name, node] : root->entries) {
    GoldenScenario scenario;
    scenario.name = name;
    if (const Status loaded = load_fields(node, name, scenario); !loaded) return loaded.error();
    if (recordings_of(scenario, "").empty()) return Error{node.where() + ": " + name + ".bags names no recording"};
    scenarios.push_back(std::move(scenario));
  }
  return scenarios;
}

Result<Mapping> map_by_odometry(const GoldenScenario& scenario, const std::vector<fs::path>& recordings, const PlayerOptions& how) {
  Mapping mapping;
  mapping.graph.has_links = true;
  std::optional<Pose2> last;
  std::optional<Error> failed;
  Bus bus;
  bus.subscribe(scenario.topic, [&](const BusMessage& message) {
    const auto read = ros_messages::read<ros_messages::Odometry>(as_text(message.data));
    if (!read) {
      if (!failed) failed = Error{message.topic + ": " + read.error().message};
      return;
    }
    const ros_messages::Pose& pose = read->pose.pose;
    const Pose2 at =
        Pose3{pose.position.x, pose.position.y, 0.0, pose.orientation.x, pose.orientation.y, pose.orientation.z, pose.orientation.w}
            .planar();
    const Time stamp = ros_messages::to_time(read->header.stamp);
    const Pose2 moved = last ? inverse(*last) * at : Pose2{};
    if (last && norm(moved.position()) < scenario.node_distance_m && std::fabs(moved.yaw) < scenario.node_angle_rad) return;
    if (!mapping.trajectory.empty() && stamp <= mapping.trajectory.back().stamp) return;
    const auto id = static_cast<std::int64_t>(mapping.graph.nodes.size()) + 1;
    mapping.graph.nodes.push_back({id, Pose3::of(at)});
    if (last) mapping.graph.edges.push_back({id - 1, id, Pose3::of(moved), {1.0, 0.0, 0.0, 1.0, 0.0, 1.0}, 0});
    mapping.trajectory.push_back({stamp, Pose3::of(at)});
    last = at;
  });
  const auto played = play(recordings, bus, how);
  if (!played) return played.error();
  if (failed) return *failed;
  if (mapping.graph.nodes.empty()) return Error{"no message on " + scenario.topic};
  return mapping;
}

Result<GoldenResult> run_golden(const GoldenScenario& scenario, const GoldenOptions& options) {
  GoldenResult result;
  result.scenario = scenario.name;
  const auto system = options.systems.find(scenario.system);
  if (system == options.systems.end()) {
    std::vector<std::string> known;
    for (const auto& [name, unused] : options.systems) known.push_back(name);
    return Error{scenario.name + ": " + unknown_name("system", scenario.system, known)};
  }
  const std::vector<fs::path> recordings = recordings_of(scenario, options.data);
  std::error_code ignored;
  for (const fs::path& recording : recordings) {
    if (fs::exists(recording, ignored)) continue;
    result.status = GoldenStatus::kSkipped;
    result.message = "no recording at " + recording.string();
    return result;
  }
  PlayerOptions how;
  how.mode = options.mode;
  if (scenario.inject_golden) {
    const auto golden = load_mapping(options.golden, scenario.name);
    if (!golden) {
      result.message = "no golden trajectory to inject: " + golden.error().message;
      return result;
    }
    how.injected = golden->trajectory;
  }
  const auto made = system->second(scenario, recordings, how);
  if (!made) {
    result.message = made.error().message;
    return result;
  }
  result.summary = summarize(made->graph);
  if (options.update) {
    if (const Status written = save_mapping(*made, options.golden, scenario.name); !written) return written.error();
  }
  const auto again = system->second(scenario, recordings, how);
  if (!again || !same(*made, *again)) {
    result.message = again ? "two runs differ" : again.error().message;
  } else {
    judge(*again, scenario, options, result);
    if (options.update && result.status == GoldenStatus::kPassed) result.message = "wrote the golden files; one more run matches them";
  }
  if (const Status kept = keep_results(*made, options, result); !kept) return kept.error();
  return result;
}

std::string to_json(const GoldenResult& result) {
  constexpr std::array<const char*, 3> kNames = {"passed", "failed", "skipped"};
  nlohmann::ordered_json json = {{"scenario", result.scenario},
                                 {"status", kNames[static_cast<std::size_t>(result.status)]},
                                 {"message", result.message},
                                 {"nodes", result.summary.nodes},
                                 {"global_closures", result.summary.global_closures},
                                 {"local_closures", result.summary.local_closures},
                                 {"path_length_m", std::round(result.summary.path_length_m * 100.0) / 100.0}};
  json["checks"] = nlohmann::ordered_json::array();
  for (const GoldenCheck& check : result.checks) {
    json["checks"].push_back(
        {{"name", check.name}, {"value", check.value}, {"golden", check.golden}, {"allowed", check.allowed}, {"passed", check.passed}});
  }
  return json.dump();
}

}  // namespace pitwall::recording
