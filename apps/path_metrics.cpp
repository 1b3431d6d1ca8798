// SPDX-License-Identifier: Apache-2.0
// path_metrics: how well a recorded run followed its plans, or a line, and how that changes from day to day.
#include <CLI/CLI.hpp>

#include "analysis/path_report.hpp"
#include "apps/interrupt.hpp"
#include "apps/program.hpp"
#include "apps/track_options.hpp"

namespace {

using namespace pitwall;

constexpr const char* kFooter =
    "Examples:\n"
    "  path_metrics robot.mcap\n"
    "  path_metrics runs/001-pure_solo-oval-12345 --line oval_raceline.csv --history laps.csv --max-cte 0.15 --consecutive 3\n"
    "\n"
    "Adds a line for each goal or lap to the history; those of a recording that is in it already are replaced.\n"
    "Exit code: 0 done; 1 the mean cross-track error was above --max-cte for --consecutive goals or laps in a row; 2 bad usage or input; 3 "
    "internal\n"
    "error; 130 interrupted.";

int run(int argc, char** argv) {
  CLI::App app("How well a recorded run followed its plans, or a line, and how that changes", "path_metrics");
  app.footer(kFooter);
  analysis::PathReportOptions options;
  std::filesystem::path recording;
  bool json = false;
  app.add_option("recording", recording, "A run folder, a bag or one storage file")->required();
  app.add_option("--line", options.line, "A line in the map frame instead of recorded plans: a track's centre or racing line");
  app.add_flag("--open", options.open_line, "The line is not closed");
  app.add_option("--plan", options.plan_topic, "Topic of the plans (nav_msgs/Path)")->capture_default_str();
  app.add_option("--run-car", options.car, "Which car of a run folder with several");
  app.add_option("--history", options.history, "CSV file that gets a line for each goal or lap");
  app.add_option("--max-cte", options.max_cte_m, "Gate: mean cross-track error, m")->check(CLI::NonNegativeNumber);
  app.add_option("--consecutive", options.consecutive, "Gate: so many goals or laps in a row above it")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_flag("--json", json, "Print the report as JSON");
  if (const auto code = apps::parse(app, argc, argv)) return *code;
  apps::catch_interrupts();
  return apps::finish(analysis::path_report(recording, options), json);
}

}  // namespace

int main(int argc, char** argv) {
  return pitwall::apps::guarded([&] { return run(argc, argv); });
}
