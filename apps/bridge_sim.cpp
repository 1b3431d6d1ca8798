// SPDX-License-Identifier: Apache-2.0
// bridge_sim: the simulator as a ROS 2 car, without ROS.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/bridge_parts.hpp"
#include "apps/interrupt.hpp"
#include "apps/program.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "onboard/runner.hpp"
#include "ros_bridge/in_order.hpp"
#include "ros_bridge/sim_node.hpp"
#include "scenarios/report.hpp"

namespace {

using namespace pitwall;

constexpr const char* kFooter =
    "Example:\n"
    "  bridge_sim --track indoor_oval                          # in real time, your controller on /scan, /odom, /drive\n"
    "  bridge_sim --track indoor_oval --gym                    # topics and frames of f1tenth_gym_ros\n"
    "  bridge_sim --scenario resolved.yaml --lockstep          # judged by the scenario's criteria; waits for each drive\n"
    "  bridge_sim --track indoor_oval --silence-after 5        # the joystick is lost after 5 s\n"
    "\n"
    "Ends, or does not start, while the nodes of real drivers are on the graph.\n"
    "Exit code: 0 the scenario passed (without one: no contact); 1 it did not; 2 bad usage or input, or real drivers; 3 internal error.";

struct Arguments {
  apps::BridgeChoice choice;
  std::optional<double> seconds;
  bool lockstep = false;
  bool gym = false;
  bool no_joy = false;
  std::optional<double> hold_after, release_after, silence_after;
  bool json = false;
  bool quiet = false;
};

int simulate(Arguments& arguments) {
  ros_bridge::SimNodeParameters p = arguments.gym ? ros_bridge::SimNodeParameters::gym() : ros_bridge::SimNodeParameters();
  p.lockstep = arguments.lockstep;
  if (arguments.no_joy) p.joy_topic.clear();
  p.hold_after_s = arguments.hold_after.value_or(p.hold_after_s);
  p.release_after_s = arguments.release_after.value_or(p.release_after_s);
  p.silence_after_s = arguments.silence_after.value_or(p.silence_after_s);
  if (const Status loaded = apps::load_bridge_parameters(arguments.choice, "bridge_sim", p); !loaded)
    return apps::bad_input(loaded.error());
  const auto run = apps::resolve_bridge(arguments.choice, std::nullopt, arguments.seconds);
  if (!run) return apps::bad_input(run.error());
  auto graph = apps::open_graph("bridge_sim");
  if (!graph) return apps::bad_input(graph.error());
  ros_bridge::InOrder ordered(**graph);
  auto node = ros_bridge::SimNode::make(p, arguments.lockstep ? ordered : **graph);
  if (!node) return apps::bad_input(node.error());
  apps::catch_interrupts();
  const auto outcome = (*node)->run(*run, [] { return apps::interrupted(); });
  if (!outcome) return apps::bad_input(outcome.error());

  const ros_bridge::SimCounts& c = (*node)->counts();
  const onboard::Spread latency = onboard::Spread::of(c.latencies_ms);
  std::string text;
  if (arguments.json) {
    const nlohmann::ordered_json out{
        {"outcome", nlohmann::ordered_json::parse(scenarios::json_line(*outcome))},
        {"scans", c.scans},
        {"drives", c.drives},
        {"timeouts", c.timeouts},
        {"slipped_s", c.slipped_s},
        {"scan_to_drive_ms", {{"p50", latency.p50}, {"p99", latency.p99}, {"largest", latency.largest}, {"count", latency.count}}}};
    text = out.dump(2) + "\n";
  } else {
    const auto n = [](double value) { return format_number(value, 3); };
    text = scenarios::human_line(*outcome) + "\ntrace hash " + outcome->trace_hash + "; " + std::to_string(c.scans) + " scans, " +
           std::to_string(c.drives) + " drives, " + std::to_string(c.timeouts) + " decisions without one; scan to drive " + n(latency.p50) +
           " ms median, " + n(latency.p99) + " ms in 99 %; " + n(c.slipped_s) + " s of real time missed\n";
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  const bool good = arguments.choice.scenario.empty() ? !outcome->collision && !outcome->off_map : outcome->passed;
  return good ? apps::kPassed : apps::kFailed;
}

int run(int argc, char** argv) {
  CLI::App app("The simulator as a ROS 2 car, without ROS", "bridge_sim");
  app.footer(kFooter);
  Arguments arguments;
  arguments.choice.add_options(app);
  app.add_option("--seconds", arguments.seconds, "End after so much simulated time (default: the scenario's timeout, or Ctrl-C)")
      ->check(CLI::PositiveNumber);
  app.add_flag("--lockstep", arguments.lockstep, "Time stands still until the drive for the last scan has come");
  app.add_flag("--gym", arguments.gym, "Topics and frames of f1tenth_gym_ros; odometry is the truth on the map");
  app.add_flag("--no-joy", arguments.no_joy, "No /joy: a real joystick is used");
  app.add_option("--hold-after", arguments.hold_after, "The simulated deadman is held from then on, s (default 0; -1: never)");
  app.add_option("--release-after", arguments.release_after, "and let go of, s (default -1: never)");
  app.add_option("--silence-after", arguments.silence_after, "No /joy any more from then on, s (default -1: never)");
  app.add_flag("--json", arguments.json, "Print the outcome as JSON");
  app.add_flag("--quiet", arguments.quiet, "Warnings only");
  if (const auto code = apps::parse(app, argc, argv)) return *code;
  log::set_quiet(arguments.quiet);
  return simulate(arguments);
}

}  // namespace

int main(int argc, char** argv) {
  return pitwall::apps::guarded([&] { return run(argc, argv); });
}
