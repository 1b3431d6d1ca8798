// SPDX-License-Identifier: Apache-2.0
// imu_spectrum: noise of an IMU parked, its lines at a steady motor speed, and how turning answers steering by frequency.
#include "analysis/imu_spectrum.hpp"

#include <CLI/CLI.hpp>

#include "apps/program.hpp"
#include "apps/report_program.hpp"

namespace {

using namespace pitwall;

constexpr const char* kFooter =
    "Example:\n"
    "  imu_spectrum runs/20261201-101500 --pole-pairs 2 --wheel-radius 0.05\n"
    "\n"
    "Writes imu_spectrum.md, imu_spectrum.json and imu_spectrum.npz into RUN/analysis.\n"
    "Exit code: 0 done; 1 done, and a limit does not hold; 2 bad usage or input; 3 internal error; 130 interrupted.";

int run(int argc, char** argv) {
  CLI::App app("Noise of an IMU parked, its lines at a steady motor speed", "imu_spectrum");
  app.footer(kFooter);
  apps::ReportArguments arguments;
  analysis::ImuSpectrumOptions options;
  apps::add_report_options(app, arguments);
  app.add_option("--pole-pairs", options.pole_pairs, "Of the motor")->check(CLI::Range(1.0, 20.0))->capture_default_str();
  app.add_option("--wheel-radius", options.wheel_radius_m, "[m]")->check(CLI::Range(0.01, 1.0))->capture_default_str();
  app.add_option("--max-gyro-noise", options.max_gyro_noise, "Limit: noise density of a gyro [deg/s per square root of Hz]");
  if (const auto code = apps::parse(app, argc, argv)) return *code;
  apps::complete(arguments);
  options.run = arguments.run;
  return apps::finish("imu_spectrum", arguments, analysis::imu_spectrum(options));
}

}  // namespace

int main(int argc, char** argv) {
  return pitwall::apps::guarded([&] { return run(argc, argv); });
}
