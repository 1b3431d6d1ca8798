// SPDX-License-Identifier: Apache-2.0
// icp_gate_replay: a recording through the odometry gate.
#include "analysis/icp_gate_replay.hpp"

#include <CLI/CLI.hpp>

#include "apps/interrupt.hpp"
#include "apps/program.hpp"
#include "apps/track_options.hpp"

namespace {

using namespace pitwall;

constexpr const char* kFooter =
    "Examples:\n"
    "  icp_gate_replay robot.mcap gated --wheel-speed 0.218 --wheel-separation 0.22\n"
    "  odom_health gated --wheel-speed 0.218 --wheel-separation 0.22 --max-excursions 0\n"
    "  icp_gate_replay car.mcap --car rb1 --max-replaced 0\n"
    "\n"
    "Writes OUT, a recording of the gated pose (/tf with odom->base_footprint and the wheels as base_footprint->odom_wheel,\n"
    "/odometry_gate/odometry); OUT must not exist.\n"
    "Exit code: 0 done; 1 a limit was not kept; 2 bad usage or input; 3 internal error; 130 interrupted.";

int run(int argc, char** argv) {
  CLI::App app("A recording through the odometry gate: which steps it replaces, and the pose as it would have been", "icp_gate_replay");
  app.footer(kFooter);
  apps::TrackFlags flags;
  analysis::GateReplayOptions options;
  std::filesystem::path recording;
  bool json = false;
  app.add_option("recording", recording, "A run folder, a bag or one storage file")->required();
  app.add_option("out", options.out, "Where the gated recording goes; it must not exist (default: none is written)");
  flags.add_to(app);
  app.add_option("--max-gap", options.gate.max_gap_s, "A longer step is made by the wheels, s")
      ->check(CLI::Range(0.01, 10.0))
      ->capture_default_str();
  app.add_option("--window", options.gate.window_s, "Over which the pose must not outrun the wheels, s; 0: not tested, as mote's gate")
      ->check(CLI::Range(0.0, 10.0))
      ->capture_default_str();
  app.add_option("--catch-up", options.gate.catch_up_s, "A pose that lags and catches up may make good for so long, s; 0: it may not")
      ->check(CLI::Range(0.0, 10.0))
      ->capture_default_str();
  app.add_option("--max-replaced", options.max_replaced, "Gate: steps replaced");
  app.add_option("--max-path-change", options.max_path_percent, "Gate: change of the path, %");
  app.add_option("--max-quiet-path", options.max_quiet_percent, "Gate: path off the wheels' where nothing slips, %");
  app.add_flag("--json", json, "Print the report as JSON");
  if (const auto code = apps::parse(app, argc, argv)) return *code;
  const auto vehicle = flags.vehicle();
  if (!vehicle) return apps::bad_input(vehicle.error());
  options.gate.envelope = *vehicle;
  options.gate.tolerance = flags.tolerance;
  options.tracks = flags.tracks;
  apps::catch_interrupts();
  return apps::finish(analysis::icp_gate_replay(recording, options), json);
}

}  // namespace

int main(int argc, char** argv) {
  return pitwall::apps::guarded([&] { return run(argc, argv); });
}
