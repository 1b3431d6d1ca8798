// SPDX-License-Identifier: Apache-2.0
// imu_report: what the gyros and the accelerometer of a run are worth.
#include "analysis/imu_report.hpp"

#include <CLI/CLI.hpp>
#include <string>

#include "apps/program.hpp"
#include "apps/report_program.hpp"

namespace {

using namespace pitwall;

constexpr const char* kFooter =
    "Example:\n"
    "  imu_report runs/001-gap_solo-oval-12345\n"
    "  imu_report runs/ds1 --max-bias-dps 0.5 --max-scale-error 0.03\n"
    "  imu_report --accelerometer poses.csv\n"
    "\n"
    "Writes imu_report.md and imu_report.json into RUN/analysis.\n"
    "Exit code: 0 done; 1 done, and a limit does not hold; 2 bad usage or input; 3 internal error; 130 interrupted.";

int run(int argc, char** argv) {
  CLI::App app("What the gyros and the accelerometer of a run are worth", "imu_report");
  app.footer(kFooter);
  apps::ReportArguments arguments;
  analysis::ImuReportOptions options;
  apps::add_report_options(app, arguments, false);
  app.add_option("--accelerometer", options.accelerometer, "Still poses to calibrate an accelerometer by: CSV with ax, ay, az");
  app.add_option("--max-bias-dps", options.max_bias_dps, "Limit: bias of a gyro [deg/s]");
  app.add_option("--max-scale-error", options.max_scale_error, "Limit: scale of a gyro less 1");
  app.add_option("--max-delay-ms", options.max_delay_ms, "Limit: delay of a gyro [ms]");
  app.add_option("--max-heading-deg", options.max_heading_deg, "Limit: rms of the heading put right on top of an odometry [deg]");
  if (const auto code = apps::parse(app, argc, argv)) return *code;
  if (arguments.run.run.empty() && !options.accelerometer) return apps::bad_input({"give a RUN, or --accelerometer FILE"});
  apps::complete(arguments);
  options.run = arguments.run;
  return apps::finish("imu_report", arguments, analysis::imu_report(options));
}

}  // namespace

int main(int argc, char** argv) {
  return pitwall::apps::guarded([&] { return run(argc, argv); });
}
