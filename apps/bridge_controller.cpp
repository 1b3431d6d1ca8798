// SPDX-License-Identifier: Apache-2.0
// bridge_controller: a controller as a node of a ROS 2 graph, without ROS.
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "apps/bridge_parts.hpp"
#include "apps/interrupt.hpp"
#include "apps/program.hpp"
#include "core/files.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "localization/localizer/localizer.hpp"
#include "onboard/runner.hpp"
#include "ros_bridge/controller_node.hpp"
#include "ros_bridge/in_order.hpp"
#include "scenarios/map_message.hpp"
#include "scenarios/run.hpp"
#include "tracks/raycast.hpp"

namespace {

using namespace pitwall;

constexpr const char* kFooter =
    "Example:\n"
    "  bridge_controller --car rb1 --controller gap_follow --set gap_follow.max_speed_mps=1.5 --record runs\n"
    "  bridge_controller --car rb1 --controller pure_pursuit --track ./lab --param inputs.pose_source=tf\n"
    "  bridge_controller --controller pure_pursuit --track ./lab --localise    # poses from the scans, by ourselves\n"
    "  bridge_controller --scenario resolved.yaml --lockstep                   # beside bridge_sim --lockstep\n"
    "\n"
    "Hold the deadman button to drive. ROS_DOMAIN_ID and its like say which graph; docs/ros.md says the rest.\n"
    "Exit code: 0 ended; 1 the recording is not complete; 2 bad usage or input; 3 internal error.";

// What was decided before it ends has to get out, and the stop after it.
constexpr Duration kFarewell = from_milliseconds(300);
constexpr Duration kMapTimeout = from_milliseconds(30'000);

struct Arguments {
  apps::BridgeChoice choice;
  std::string record;
  double seconds = 0.0;
  std::string map_topic;
  bool localise = false;
  bool sim_time = false;
  bool lockstep = false;
  bool json = false;
  bool quiet = false;
};

Result<std::unique_ptr<recording::Recorder>> begin_recording(const Arguments& arguments, const scenarios::ResolvedRun& run, bool sim_time,
                                                             Time now) {
  if (arguments.record.empty()) return std::unique_ptr<recording::Recorder>();
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  recording::RunManifest manifest;
  manifest.run_id = std::to_string(now.ns / 1'000'000) + "-" + run.cars.front().controller;
  manifest.car_id = run.scenario.car;
  manifest.scenario = run.scenario.id;
  manifest.track = run.track->name;
  manifest.clock = sim_time ? "simulated" : "system";
  manifest.start = sim_time ? Time{} : now;
  manifest.host = host.data();
  manifest.cars.push_back({run.cars.front().name, run.cars.front().controller, ""});
  auto recorder =
      recording::Recorder::create(std::filesystem::path(arguments.record) / manifest.run_id, manifest, {run.parameters.lidar_mount()});
  if (!recorder) return recorder.error();
  (*recorder)->add_file("scenario.yaml", "resolved scenario", scenarios::to_suite_yaml(run.scenario, run.scenario.id));
  if (const auto car = read_file(run.profile->file); car)
    (*recorder)->add_file(run.profile->id + ".yaml", run.profile->file.string(), *car);
  Node parameters = Node::map();
  parameters.set("scenario", save_fields(run.scenario));
  parameters.set("car", save_fields(run.parameters));
  (*recorder)->set_parameters(parameters);
  return recorder;
}

/// What a map server has latched there.
Result<std::shared_ptr<const localization::LocalizerMap>> wait_for_map(ros_bridge::Graph& graph, const std::string& topic) {
  std::optional<ros_messages::OccupancyGrid> grid;
  const Status listens = ros_bridge::subscribe<ros_messages::OccupancyGrid>(
      graph, topic, ros_bridge::Qos::latched(), [&](const auto& message, const auto& /*arrival*/) { grid = message; });
  if (!listens) return listens.error();
  log::info("waits for a map on " + topic);
  for (const Time end = graph.now() + kMapTimeout; !grid && graph.now() < end && !apps::interrupted();) graph.wait(graph.now() + kFarewell);
  if (!grid) return Error{topic + ": no map came within " + format_number(kMapTimeout.seconds(), 2) + " s"};
  auto made = scenarios::map_of(*grid);
  if (!made) return Error{topic + ": " + made.error().message};
  const auto map = std::make_shared<const tracks::OccupancyMap>(*std::move(made));
  return localization::LocalizerMap::make(*map, std::make_shared<const tracks::RayCaster>(map));
}

double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void print(const Arguments& arguments, const ros_bridge::ControllerNode& node, double lasted_s, double cpu_s, std::uint64_t dropped) {
  const ros_bridge::NodeCounts& c = node.counts();
  const onboard::Spread latency = onboard::Spread::of(c.latencies_ms);
  const double cpu = lasted_s > 0.0 ? cpu_s / lasted_s : 0.0;
  std::string text;
  if (arguments.json) {
    const nlohmann::ordered_json out{
        {"lasted_s", lasted_s},
        {"decisions", c.decisions},
        {"sent", c.sent},
        {"zeros", c.zeros},
        {"lost", c.lost},
        {"stops", c.stops},
        {"clock_jumps", c.clock_jumps},
        {"scan_to_drive_ms", {{"p50", latency.p50}, {"p99", latency.p99}, {"largest", latency.largest}, {"count", latency.count}}},
        {"cpu_share", cpu},
        {"recorder_dropped", dropped},
        {"last_cause", ros_bridge::name(node.gate().cause())}};
    text = out.dump(2) + "\n";
  } else {
    const auto n = [](double value) { return format_number(value, 3); };
    text = "ran " + n(lasted_s) + " s: " + std::to_string(c.decisions) + " decisions, " + std::to_string(c.sent) + " commands sent, " +
           std::to_string(c.lost) + " lost, " + std::to_string(c.stops) + " stops\n" + "scan to drive  " + n(latency.p50) + " ms median, " +
           n(latency.p99) + " ms in 99 %, " + n(latency.largest) + " ms at most (" + std::to_string(latency.count) + ")\n" +
           "processor      " + n(100.0 * cpu) + " % of a core\n";
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int drive(Arguments& arguments) {
  ros_bridge::ControllerNodeSetup setup;
  ros_bridge::ControllerNodeParameters& p = setup.parameters;
  p.use_sim_time = arguments.sim_time || arguments.lockstep;
  p.inputs.reliable = arguments.lockstep;
  const std::string name = p.name;
  // Parameters of the controller that the file holds take part in the scenario, so the file comes first.
  if (const Status loaded = apps::load_bridge_parameters(arguments.choice, name, p); !loaded) return apps::bad_input(loaded.error());
  std::optional<scenarios::Localization> localization;
  if (arguments.localise) localization = scenarios::Localization::kScan;
  auto run = apps::resolve_bridge(arguments.choice, localization, std::nullopt);
  if (!run) return apps::bad_input(run.error());
  const std::string& controller = run->cars.front().controller;
  if (p.inputs.pose_source == ros_bridge::PoseSource::kNone && apps::follows_a_line(controller))
    p.inputs.pose_source = arguments.localise ? ros_bridge::PoseSource::kLocaliser : ros_bridge::PoseSource::kTopic;
  setup.car = run->parameters;
  setup.car_name = run->cars.front().name;
  auto controllers = scenarios::make_controllers(*run);
  if (!controllers) return apps::bad_input(controllers.error());
  auto graph = apps::open_graph(p.name);
  if (!graph) return apps::bad_input(graph.error());
  std::shared_ptr<const localization::LocalizerMap> map = run->localizer_map;
  if (!arguments.map_topic.empty()) {
    if (!arguments.localise) return apps::bad_input(Error{"--map-topic is for --localise"});
    auto heard = wait_for_map(**graph, arguments.map_topic);
    if (!heard) return apps::bad_input(heard.error());
    map = *std::move(heard);
  }
  std::unique_ptr<Localiser> localiser;
  if (map && p.inputs.pose_source == ros_bridge::PoseSource::kLocaliser)
    localiser = std::make_unique<localization::Localizer>(map, run->parameters.lidar_mount());

  ros_bridge::InOrder ordered(**graph);
  ros_bridge::Graph& on = arguments.lockstep ? ordered : **graph;
  auto recorder = begin_recording(arguments, *run, p.use_sim_time, on.now());
  if (!recorder) return apps::bad_input(recorder.error());
  const std::string folder = *recorder ? (*recorder)->folder().string() : "";
  onboard::Scribe scribe(*std::move(recorder));
  auto node = ros_bridge::ControllerNode::make(setup, on, *controllers->front(), localiser.get(), scribe);
  if (!node) return apps::bad_input(node.error());
  (*node)->on_note([&](Time now, const std::string& line, bool warning) { scribe.note(now, line, warning); });

  apps::catch_interrupts();
  const double cpu_s = processor_seconds();
  const Time began = on.now();
  std::optional<Time> end;
  if (arguments.seconds > 0.0) end = began + from_seconds(arguments.seconds);
  for (bool ending = false; !ending || on.now() < *end;) {
    on.wait((*node)->next_wake());
    (*node)->tick();
    if (ending || !(apps::interrupted() || (end && on.now() >= *end))) continue;
    ending = true;
    (*node)->shut_down();
    end = on.now() + kFarewell;
  }
  const double lasted_s = (on.now() - began).seconds();
  const Status closed = scribe.close((*node)->now());
  print(arguments, **node, lasted_s, processor_seconds() - cpu_s, scribe.dropped());
  if (!folder.empty()) log::info("wrote " + folder);
  if (!closed) log::error(closed.error().message);
  if (scribe.dropped() > 0) log::error("the recording lacks " + std::to_string(scribe.dropped()) + " messages: the disk was too slow");
  return closed && scribe.dropped() == 0 ? apps::kPassed : apps::kFailed;
}

int run(int argc, char** argv) {
  CLI::App app("Runs a controller as a node of a ROS 2 graph, without ROS", "bridge_controller");
  app.footer(kFooter);
  Arguments arguments;
  arguments.choice.add_options(app);
  app.add_option("--record", arguments.record, "Folder that the run's folder is made in");
  app.add_option("--seconds", arguments.seconds, "End after so long (default: at Ctrl-C)")->check(CLI::NonNegativeNumber);
  app.add_flag("--localise", arguments.localise, "Poses from the scans on the --track's map, by ourselves");
  app.add_option("--map-topic", arguments.map_topic,
                 "With --localise: the map comes from there (nav_msgs/OccupancyGrid), in place of the track's");
  app.add_flag("--sim-time", arguments.sim_time, "Time is that of /clock (use_sim_time)");
  app.add_flag("--lockstep", arguments.lockstep, "Beside bridge_sim --lockstep: --sim-time, and no message may be lost");
  app.add_flag("--json", arguments.json, "Print the summary as JSON");
  app.add_flag("--quiet", arguments.quiet, "Warnings only");
  if (const auto code = apps::parse(app, argc, argv)) return *code;
  log::set_quiet(arguments.quiet);
  return drive(arguments);
}

}  // namespace

int main(int argc, char** argv) {
  return pitwall::apps::guarded([&] { return run(argc, argv); });
}
