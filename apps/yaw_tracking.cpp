// SPDX-License-Identifier: Apache-2.0
// yaw_tracking: whether a car turned as it was told, turn by turn.
#include "analysis/yaw_tracking.hpp"

#include <CLI/CLI.hpp>

#include "apps/program.hpp"
#include "apps/report_program.hpp"

namespace {

using namespace pitwall;

constexpr const char* kFooter =
    "Example:\n"
    "  yaw_tracking runs/001-gap_solo-oval-12345\n"
    "  yaw_tracking car.mcap --car rb1 --max-ratio-error 0.1 --max-lag-ms 200\n"
    "\n"
    "Writes yaw_tracking.md, yaw_tracking.json and yaw_tracking.npz into RUN/analysis.\n"
    "Exit code: 0 done; 1 done, and a limit does not hold; 2 bad usage or input; 3 internal error; 130 interrupted.";

int run(int argc, char** argv) {
  CLI::App app("Whether a car turned as it was told, turn by turn", "yaw_tracking");
  app.footer(kFooter);
  apps::ReportArguments arguments;
  analysis::YawTrackingOptions options;
  apps::add_report_options(app, arguments);
  app.add_option("--max-ratio-error", options.max_ratio_error, "Limit: median of turned over commanded angle, less 1");
  app.add_option("--max-lag-ms", options.max_lag_ms, "Limit: lag of the turn rate behind the command [ms]");
  if (const auto code = apps::parse(app, argc, argv)) return *code;
  apps::complete(arguments);
  options.run = arguments.run;
  return apps::finish("yaw_tracking", arguments, analysis::yaw_tracking(options));
}

}  // namespace

int main(int argc, char** argv) {
  return pitwall::apps::guarded([&] { return run(argc, argv); });
}
