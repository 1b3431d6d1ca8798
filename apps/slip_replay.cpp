// SPDX-License-Identifier: Apache-2.0
// slip_replay: a recording through the slip monitor.
#include "analysis/slip_replay.hpp"

#include <CLI/CLI.hpp>

#include "apps/interrupt.hpp"
#include "apps/program.hpp"
#include "apps/track_options.hpp"
#include "core/fields.hpp"
#include "core/node.hpp"

namespace {

using namespace pitwall;

constexpr const char* kFooter =
    "Examples:\n"
    "  slip_replay robot.mcap --wheel-speed 0.218 --wheel-separation 0.22 --max-verdicts 0\n"
    "  slip_replay car.mcap --car rb1 --config slip.yaml --verdicts-only\n"
    "\n"
    "Thresholds scale with the speed that the vehicle can do; --config FILE sets them by name (slip_mps: 0.2).\n"
    "Exit code: 0 done; 1 a limit was not kept; 2 bad usage or input, also where one of several recordings is; 3 internal error; 130 "
    "interrupted.";

Status configure(const std::string& file, localization::SlipMonitorParameters& parameters) {
  if (file.empty()) return {};
  const auto yaml = load_yaml(file);
  if (!yaml) return yaml.error();
  return load_fields(*yaml, "slip_monitor", parameters);
}

int run(int argc, char** argv) {
  CLI::App app("A recording through the slip monitor: what it raises and when, and how wheels and scans differ otherwise", "slip_replay");
  app.footer(kFooter);
  apps::TrackFlags flags;
  analysis::SlipOptions options;
  std::vector<std::filesystem::path> recordings;
  std::string config;
  bool json = false;
  app.add_option("recordings", recordings, "Run folders, bags or storage files")->required();
  flags.add_to(app);
  app.add_option("--config", config, "Thresholds, as YAML");
  app.add_option("--rate", options.rate_hz, "Evaluations per second")->check(CLI::Range(0.1, 1000.0))->capture_default_str();
  app.add_flag("--verdicts-only", options.verdicts_only, "Only the list of verdicts");
  app.add_option("--max-verdicts", options.max_verdicts, "Gate: verdicts in a recording");
  app.add_flag("--json", json, "Print the report as JSON");
  if (const auto code = apps::parse(app, argc, argv)) return *code;
  const auto vehicle = flags.vehicle();
  if (!vehicle) return apps::bad_input(vehicle.error());
  options.monitor = localization::SlipMonitorParameters::for_speed(vehicle->max_speed_mps);
  options.monitor.max_speed_mps = flags.tolerance * vehicle->max_speed_mps;
  if (const Status good = configure(config, options.monitor); !good) return apps::bad_input(good.error());
  options.tracks = flags.tracks;
  apps::catch_interrupts();
  return apps::finish(analysis::slip_replay(recordings, options), json);
}

}  // namespace

int main(int argc, char** argv) {
  return pitwall::apps::guarded([&] { return run(argc, argv); });
}
