// SPDX-License-Identifier: Apache-2.0
// estimator_replay: recorded IMU and wheels again through the estimator of the car.
#include "analysis/estimator_replay.hpp"

#include <CLI/CLI.hpp>

#include "apps/program.hpp"
#include "apps/report_program.hpp"

namespace {

using namespace pitwall;

constexpr const char* kFooter =
    "Example:\n"
    "  estimator_replay runs/001-gap_solo-oval-12345\n"
    "  estimator_replay car.mcap --car rb1 --set wheel_sigma_mps=0.2 --set imu=/imu/bno,gyro_sigma_radps=0.02\n"
    "  estimator_replay car.mcap --car rb1 --imu-rig imu.yaml --set imu=/imu/bno\n"
    "\n"
    "Each --set is one more row. Writes estimator_replay.md, estimator_replay.json and estimator_replay.npz into RUN/analysis.\n"
    "Exit code: 0 done; 1 done, and a limit does not hold; 2 bad usage or input; 3 internal error; 130 interrupted.";

int run(int argc, char** argv) {
  CLI::App app("Recorded IMU and wheels again through the estimator of the car", "estimator_replay");
  app.footer(kFooter);
  apps::ReportArguments arguments;
  analysis::EstimatorReplayOptions options;
  apps::add_report_options(app, arguments);
  app.add_option("--set", options.sets, "One more setting, NAME=VALUE[,NAME=VALUE]; imu=TOPIC chooses the IMU (may be repeated)")
      ->allow_extra_args(false);
  app.add_option("--car-yaml", options.car_yaml, "Profile of the car, where the recording has none");
  app.add_option("--imu-rig", options.rig, "Mounts of the IMUs (YAML): put together they are the IMU 'rig', which is used");
  app.add_option("--max-speed-rms", options.max_speed_rms_mps, "Limit: speed [m/s]");
  app.add_option("--max-rate-rms-dps", options.max_rate_rms_dps, "Limit: turn rate [deg/s]");
  app.add_option("--max-drift-dpm", options.max_drift_dpm, "Limit: drift of the heading [deg/min]");
  if (const auto code = apps::parse(app, argc, argv)) return *code;
  apps::complete(arguments);
  options.run = arguments.run;
  options.car_given = arguments.car.has_value();
  return apps::finish("estimator_replay", arguments, analysis::estimator_replay(options));
}

}  // namespace

int main(int argc, char** argv) {
  return pitwall::apps::guarded([&] { return run(argc, argv); });
}
