// SPDX-License-Identifier: Apache-2.0
// slam_report: what a SLAM made of a recorded run.
#include "analysis/slam_report.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "apps/interrupt.hpp"
#include "apps/program.hpp"
#include "apps/progress.hpp"
#include "apps/track_options.hpp"

namespace {

using namespace pitwall;

constexpr const char* kFooter =
    "Examples:\n"
    "  slam_report runs/20261026-194913 --max-correction 0.3\n"
    "  slam_report nav2_turtlebot.mcap --out report\n"
    "  slam_report --compare runs/a runs/b --out a-b\n"
    "\n"
    "Writes slam_report.md, summary.json, map.svg and timeline.svg into RUN/analysis/slam_report; with --compare into --out alone.\n"
    "Exit code: 0 done; 1 a limit was not kept; 2 bad usage or input; 3 internal error; 130 interrupted.";

int run(int argc, char** argv) {
  CLI::App app("What a SLAM made of a recorded run: drift, corrections, laps, map, drops", "slam_report");
  app.footer(kFooter);
  std::filesystem::path recording;
  std::vector<std::filesystem::path> compared;
  analysis::SlamReportOptions options;
  bool no_plots = false;
  bool json = false;
  app.add_option("run", recording, "A run folder, a bag or one storage file");
  app.add_option("--compare", compared, "A B: two runs side by side")->expected(2);
  app.add_option("--out", options.out, "Where the report goes (default: RUN/analysis/slam_report)");
  app.add_option("--log", options.facts.log, "launch.log, where it is not in the run folder");
  app.add_option("--odom", options.facts.read.odom_frame, "Frame of the odometry (default: the one below map)");
  app.add_flag("--no-plots", no_plots, "No pictures");
  app.add_option("--max-correction", options.max_correction_m, "Gate: largest move at the car, m");
  app.add_option("--min-consistency", options.min_consistency_percent, "Gate: ends of beams on walls of the map, %");
  app.add_flag("--json", json, "Print the report as JSON");
  if (const auto code = apps::parse(app, argc, argv)) return *code;
  if (recording.empty() == compared.empty()) return apps::bad_input({"give a RUN, or --compare A B --out DIR"});
  options.pictures = !no_plots;
  auto bar = std::make_shared<std::optional<apps::ProgressBar>>();
  options.facts.read.progress = [bar](std::uint64_t done, std::uint64_t total) {
    if (!bar->has_value()) bar->emplace(total);
    (*bar)->show(done);
    return !apps::interrupted();
  };
  apps::catch_interrupts();
  const analysis::GatedReport report =
      compared.empty() ? analysis::slam_report(recording, options) : analysis::slam_compare(compared[0], compared[1], options);
  bar->reset();
  return apps::finish(report, json);
}

}  // namespace

int main(int argc, char** argv) {
  return pitwall::apps::guarded([&] { return run(argc, argv); });
}
