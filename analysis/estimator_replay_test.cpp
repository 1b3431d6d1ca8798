// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimator_replay.hpp"

#include <doctest/doctest.h>

#include "core/files.hpp"
#include "tests/support/imu_drive.hpp"
#include "tests/support/temp_folder.hpp"

using namespace pitwall;
using namespace pitwall::analysis;

TEST_CASE("the replayed estimator follows a drive in closed form; without calibration, and with wrong names, it refuses") {
  const TempFolder folder("estimator_replay");
  ImuDrive drive;
  drive.gyro_delay_s = 0.0;
  drive.gyro_scale = 1.0;
  drive.parked_s = 3.0;
  write_drive(folder.path() / "bag", drive);
  EstimatorReplayOptions options;
  options.run.run = folder.path() / "bag";
  options.run.driver.data = data_folder();
  CHECK(estimator_replay(options).error().message.find("neither --car-yaml nor --car") != std::string::npos);
  options.car_given = true;
  const auto run = load_imu_run(options.run, true);
  REQUIRE(run.ok());
  const auto estimated = replay_estimator(run->imus[0].series, run->odometries[0].series, run->run.origin,
                                          localization::VehicleStateParameters::for_car(run->car));
  REQUIRE(estimated.t_s.size() > 10000);
  double worst = 0.0;
  for (std::size_t i = 0; i < estimated.t_s.size(); ++i) {
    if (estimated.t_s[i] < 5.0) continue;
    worst = std::max(worst, std::abs(estimated.yaw_rate_radps[i] - drive.rate(estimated.t_s[i])));
  }
  // The bias is learnt while it stands.
  CHECK(worst < 0.02);
  CHECK(estimated.speed_mps.back() == doctest::Approx(2.0).epsilon(0.02));
  options.sets = {"wheel_sigma_mps=0.2", "imu=/imu,gyro_sigma_radps=0.05"};
  const auto result = estimator_replay(options);
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  CHECK(result->passed);
  CHECK(to_markdown(result->document).find("neither scans nor a truth") != std::string::npos);
  options.max_speed_rms_mps = 1.0;
  CHECK_FALSE(estimator_replay(options)->passed);
  options.sets = {"weel_sigma_mps=0.2"};
  CHECK(estimator_replay(options).error().message.find("wheel_sigma_mps") != std::string::npos);
  options.sets = {"imu=/imo"};
  CHECK(estimator_replay(options).error().message.find("did you mean '/imu'") != std::string::npos);
  options.sets = {"wheel_sigma_mps"};
  CHECK_FALSE(estimator_replay(options).ok());
}
