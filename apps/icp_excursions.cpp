// SPDX-License-Identifier: Apache-2.0
// icp_excursions: what becomes of the jumps of an odometry by scans.
#include "analysis/icp_excursions.hpp"

#include <CLI/CLI.hpp>

#include "apps/interrupt.hpp"
#include "apps/program.hpp"
#include "apps/track_options.hpp"

namespace {

using namespace pitwall;

constexpr const char* kFooter =
    "Example: icp_excursions robot.mcap --wheel-speed 0.218 --wheel-separation 0.22 --max-retained 0.05\n"
    "\n"
    "Exit code: 0 done; 1 a limit was not kept; 2 bad usage or input, also where one of several recordings is; 3 internal error; 130 "
    "interrupted.";

int run(int argc, char** argv) {
  CLI::App app("What becomes of the jumps of an odometry by scans: kept for ever, or taken back", "icp_excursions");
  app.footer(kFooter);
  apps::TrackFlags flags;
  analysis::ExcursionOptions options;
  std::vector<std::filesystem::path> recordings;
  bool json = false;
  app.add_option("recordings", recordings, "Run folders, bags or storage files")->required();
  flags.add_to(app);
  app.add_option("--window", options.window_s, "Before and after an excursion, s")->check(CLI::Range(0.01, 60.0))->capture_default_str();
  app.add_option("--max-excursions", options.max_excursions, "Gate: excursions");
  app.add_option("--max-retained", options.max_retained_m, "Gate: sum of what is retained, m");
  app.add_flag("--json", json, "Print the report as JSON");
  if (const auto code = apps::parse(app, argc, argv)) return *code;
  const auto vehicle = flags.vehicle();
  if (!vehicle) return apps::bad_input(vehicle.error());
  options.envelope = *vehicle;
  options.tracks = flags.tracks;
  options.tolerance = flags.tolerance;
  if (flags.wheel_speed_mps) options.separation_m = flags.wheel_separation_m;
  apps::catch_interrupts();
  return apps::finish(analysis::icp_excursions(recordings, options), json);
}

}  // namespace

int main(int argc, char** argv) {
  return pitwall::apps::guarded([&] { return run(argc, argv); });
}
