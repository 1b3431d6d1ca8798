// SPDX-License-Identifier: Apache-2.0
// odom_health: whether wheels and scans tell the same drive, and where the bound of the odometry gate lies.
#include "analysis/odom_health.hpp"

#include <CLI/CLI.hpp>

#include "apps/interrupt.hpp"
#include "apps/program.hpp"
#include "apps/track_options.hpp"

namespace {

using namespace pitwall;

constexpr const char* kFooter =
    "Examples:\n"
    "  odom_health runs/001-gap_solo-oval-12345\n"
    "  odom_health robot.mcap --wheel-speed 0.218 --wheel-separation 0.22 --max-excursions 0\n"
    "  odom_health car.mcap --wheels /odom --scans 'odom_icp->base_link'\n"
    "\n"
    "Exit code: 0 done; 1 a limit was not kept; 2 bad usage or input, also where one of several recordings is; 3 internal error; 130 "
    "interrupted.";

int run(int argc, char** argv) {
  CLI::App app("Whether wheels and scans tell the same drive, and where the bound of the odometry gate lies", "odom_health");
  app.footer(kFooter);
  apps::TrackFlags flags;
  analysis::OdomHealthOptions options;
  std::vector<std::filesystem::path> recordings;
  bool json = false;
  app.add_option("recordings", recordings, "Run folders, bags or storage files")->required();
  flags.add_to(app);
  app.add_option("--max-excursions", options.max_excursions, "Gate: intervals by scans above the bound");
  app.add_option("--max-path-difference", options.max_path_difference_percent, "Gate: difference of the two paths, %");
  app.add_option("--max-residual", options.max_residual_mps, "Gate: 99th percentile of the difference of speed, m/s");
  app.add_flag("--json", json, "Print the report as JSON");
  if (const auto code = apps::parse(app, argc, argv)) return *code;
  const auto vehicle = flags.vehicle();
  if (!vehicle) return apps::bad_input(vehicle.error());
  options.envelope = *vehicle;
  options.tracks = flags.tracks;
  options.tolerance = flags.tolerance;
  apps::catch_interrupts();
  return apps::finish(analysis::odom_health(recordings, options), json);
}

}  // namespace

int main(int argc, char** argv) {
  return pitwall::apps::guarded([&] { return run(argc, argv); });
}
