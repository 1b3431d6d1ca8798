// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimator_replay.hpp"

#include <doctest/doctest.h>

#include "core/files.hpp"
#include "core/math.hpp"
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
  CHECK(result->gate.passed());
  CHECK(to_markdown(result->document).find("neither scans nor a truth") != std::string::npos);
  options.max_speed_rms_mps = 1.0;
  CHECK_FALSE(estimator_replay(options)->gate.passed());
  options.sets = {"weel_sigma_mps=0.2"};
  CHECK(estimator_replay(options).error().message.find("wheel_sigma_mps") != std::string::npos);
  options.sets = {"imu=/imo"};
  CHECK(estimator_replay(options).error().message.find("did you mean '/imu'") != std::string::npos);
  options.sets = {"wheel_sigma_mps"};
  CHECK_FALSE(estimator_replay(options).ok());
}

TEST_CASE("two IMUs of a rig are put together in the order of receipt, and what is wrong with the rig is named") {
  const TempFolder folder("rig");
  // A body that turns at 2 sin t rad/s; one IMU at base_link, one 0.3 m ahead and turned by 90 degrees, its clock the same, 7 ms later
  // here.
  ImuRun run;
  run.run.origin = {1'000'000'000};
  const auto rate = [](double t) { return 2.0 * math::sin(t); };
  ImuTrack centre{"/imu/a", {}, {}, 0};
  ImuTrack ahead{"/imu/b", {}, {}, 0};
  const auto add = [](ImuSeries& s, double t, double late, double w, double ax, double ay) {
    s.t_s.push_back(t);
    s.arrival_s.push_back(t + late);
    for (auto* zero : {&s.gyro_x, &s.gyro_y}) zero->push_back(0.0);
    s.gyro_z.push_back(w);
    s.accel_x.push_back(ax);
    s.accel_y.push_back(ay);
    s.accel_z.push_back(9.80665);
  };
  for (int k = 0; k < 2000; ++k) {
    const double t = 0.005 * k;
    add(centre.series, t, 0.001, rate(t), 0.5, 0.0);
    const double u = t + 0.002;
    const double forward = 0.5 - 0.3 * rate(u) * rate(u);
    const double left = 0.3 * 2.0 * math::cos(u);
    add(ahead.series, u, 0.007, rate(u), left, -forward);  // its x points to the left of the car
  }
  run.imus = {centre, ahead};
  const auto file = folder.path() / "rig.yaml";
  REQUIRE(write_file(file, "imus:\n  a: {topic: /imu/a}\n  b: {topic: /imu/b, x_m: 0.3, yaw_rad: 1.5707963267948966}\n").ok());
  const auto fused = fused_track(run, file);
  REQUIRE_MESSAGE(fused.ok(), fused.error().message);
  const ImuSeries& s = fused->series;
  REQUIRE(s.size() > 1980);
  double worst_rate = 0.0, worst_x = 0.0, worst_y = 0.0;
  for (std::size_t i = 100; i < s.size(); ++i) {
    CHECK(s.t_s[i] - s.t_s[i - 1] == doctest::Approx(0.005));
    CHECK(s.arrival_s[i] - s.t_s[i] > 0.0399);
    worst_rate = std::max(worst_rate, std::abs(s.gyro_z[i] - rate(s.t_s[i])));
    worst_x = std::max(worst_x, std::abs(s.accel_x[i] - 0.5));
    worst_y = std::max(worst_y, std::abs(s.accel_y[i]));
  }
  CHECK(worst_rate < 1e-4);
  CHECK(worst_x < 1e-3);
  CHECK(worst_y < 1e-3);  // across the baseline the angular acceleration is known without delay
  REQUIRE(write_file(file, "imus: {a: {topic: /imu/c}}\n").ok());
  CHECK(fused_track(run, file).error().message.find("did you mean '/imu/a'") != std::string::npos);
  CHECK_FALSE(fused_track(run, folder.path() / "none.yaml").ok());
  run.imus[1].series = {};
  REQUIRE(write_file(file, "imus: {a: {topic: /imu/a}, b: {topic: /imu/b}}\n").ok());
  CHECK(fused_track(run, file).error().message.find("never known at the same time") != std::string::npos);
}
