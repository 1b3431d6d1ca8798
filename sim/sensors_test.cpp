// SPDX-License-Identifier: Apache-2.0
#include "sim/sensors.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "sim/moments.hpp"
#include "sim/test_world.hpp"

using namespace pitwall;
using namespace pitwall::sim;
using namespace pitwall::sim::testing;

TEST_CASE("odometry reads the true speed, both ways, and the yaw rate of the commanded steering") {
  const CarParameters car = test_car();
  OdometrySensor sensor(SensorSettings::of(car, false).odometry, car, 1, "car0");
  Odometry message;
  sensor.measure(0, 2.0, 0.2, message);
  CHECK(message.speed_mps == 2.0);
  CHECK(message.yaw_rate_radps == doctest::Approx(2.0 * std::tan(0.2) / 0.33));
  sensor.measure(1, -1.5, 0.2, message);
  CHECK(message.speed_mps == -1.5);
  CHECK(message.yaw_rate_radps == doctest::Approx(-1.5 * std::tan(0.2) / 0.33));
  // Beyond the locks the driver clips its command.
  sensor.measure(2, 1.0, 5.0, message);
  CHECK(message.yaw_rate_radps == doctest::Approx(std::tan(0.4) / 0.33));
}

TEST_CASE("odometry below its dead band reads 0, at it and above does not") {
  const CarParameters car = test_car();
  OdometrySettings settings = SensorSettings::of(car, false).odometry;
  OdometrySensor sensor(settings, car, 1, "car0");
  Odometry message;
  for (const double speed : {0.049, -0.049}) {
    sensor.measure(0, speed, 0.0, message);
    CHECK(message.speed_mps == 0.0);
  }
  sensor.measure(1, -0.051, 0.0, message);
  CHECK(message.speed_mps == -0.051);
  settings.deadband_mps = 0.0;
  OdometrySensor open(settings, car, 1, "car0");
  open.measure(0, 0.01, 0.0, message);
  CHECK(message.speed_mps == 0.01);
}

TEST_CASE("dead reckoning is Euler with the yaw before the step, and integrates back in reverse") {
  const CarParameters car = test_car();
  OdometrySensor sensor(SensorSettings::of(car, false).odometry, car, 1, "car0");
  Odometry message;
  double x = 0.0;
  double y = 0.0;
  double yaw = 0.0;
  for (std::uint64_t k = 0; k < 100; ++k) {
    sensor.measure(k, 2.0, 0.2, message);
    if (k > 0) {
      x += 2.0 * 0.02 * std::cos(yaw);
      y += 2.0 * 0.02 * std::sin(yaw);
      yaw += 0.02 * 2.0 * std::tan(0.2) / 0.33;
    }
  }
  CHECK(message.position.x == doctest::Approx(x));
  CHECK(message.position.y == doctest::Approx(y));
  CHECK(yaw_of(message.orientation) == doctest::Approx(wrap_angle(yaw)));
  sensor.reset();
  for (std::uint64_t k = 0; k < 51; ++k) sensor.measure(k, 2.0, 0.0, message);
  CHECK(message.position.x == doctest::Approx(2.0));
  for (std::uint64_t k = 51; k < 101; ++k) sensor.measure(k, -2.0, 0.0, message);
  CHECK(message.position.x == doctest::Approx(0.0));
}

TEST_CASE("odometry noise is relative to the speed, with a floor of 0.1 m/s, and a slipping wheel reads high") {
  const CarParameters car = test_car();
  OdometrySettings settings = SensorSettings::of(car, true).odometry;
  settings.deadband_mps = 0.0;
  OdometrySensor sensor(settings, car, 1, "car0");
  Odometry message;
  for (const double speed : {4.0, -4.0, 0.0}) {
    Moments errors;
    for (std::uint64_t k = 0; k < 5000; ++k) {
      sensor.measure(k, speed, 0.0, message);
      errors.add(message.speed_mps - speed);
    }
    const double expected = 0.05 * std::max(std::abs(speed), 0.1);
    CHECK(errors.deviation() == within(expected, 0.05));
    CHECK(std::abs(errors.mean()) < 0.08 * expected);
  }
  settings.speed_noise = 0.0;
  settings.speed_scale = 1.0 / 0.95;
  OdometrySensor slipping(settings, car, 1, "car0");
  slipping.measure(0, 1.9, 0.0, message);
  CHECK(message.speed_mps == doctest::Approx(2.0));
}

TEST_CASE("the pose estimate errs by the stated deviations and knows its largest error") {
  PoseSensor sensor(SensorSettings::of(test_car(), true).pose, 1, "car0");
  const Pose2 truth{3.0, -2.0, math::kPi};
  PoseEstimate message;
  Moments x;
  Moments y;
  Moments yaw;
  double largest = 0.0;
  for (std::uint64_t k = 0; k < 4000; ++k) {
    sensor.measure(k, truth, message);
    const Pose2 estimate = message.pose();
    x.add(estimate.x - truth.x);
    y.add(estimate.y - truth.y);
    yaw.add(wrap_angle(estimate.yaw - truth.yaw));
    largest = std::max(largest, distance(estimate.position(), truth.position()));
  }
  CHECK(x.deviation() == within(0.02, 0.05));
  CHECK(y.deviation() == within(0.02, 0.05));
  CHECK(yaw.deviation() == within(0.01, 0.05));
  CHECK(std::abs(x.mean()) < 0.0015);
  CHECK(std::abs(yaw.mean()) < 0.0008);
  CHECK(sensor.max_error_m() == doctest::Approx(largest));
  PoseSensor exact(SensorSettings::of(test_car(), false).pose, 1, "car0");
  exact.measure(7, {1.0, 2.0, 0.5}, message);
  CHECK(message.position == Vec2{1.0, 2.0});
  CHECK(yaw_of(message.orientation) == doctest::Approx(0.5));
}

TEST_CASE("a stalled localiser repeats its last estimate, under new stamps or its old one, and errs on as if nothing had been") {
  PoseSettings settings;
  settings.noise_xy_m = 0.02;
  settings.drift_xy_m = 0.02;
  for (const bool stale : {false, true}) {
    PoseSensor sensor(settings, 1, "car0");
    PoseSensor healthy(settings, 1, "car0");
    PoseEstimate message;
    PoseEstimate expected;
    PoseEstimate last;
    for (std::uint64_t k = 0; k < 120; ++k) {
      const Pose2 truth{0.1 * static_cast<double>(k), 0.0, 0.0};
      PoseFault fault;
      (stale ? fault.stale : fault.frozen) = k >= 40 && k < 80;
      message.stamp = expected.stamp = Time{static_cast<std::int64_t>(k) * 25'000'000};
      sensor.measure(k, truth, message, fault);
      healthy.measure(k, truth, expected);
      if (k < 40 || k >= 80) {
        CHECK(message.position == expected.position);
        last = message;
      } else {
        CHECK(message.position == last.position);
        CHECK((message.stamp == last.stamp) == stale);
      }
    }
  }
}

TEST_CASE("the sensors of a car take every number from its profile, and errors switch off together") {
  CarParameters car = test_car();
  car.lidar_rate_hz = 20.0;
  car.lidar_beams = 819;
  car.lidar_fov_rad = 4.0;
  car.lidar_range_min_m = 0.1;
  car.lidar_range_max_m = 10.0;
  const SensorSettings on = SensorSettings::of(car, true);
  CHECK(on.lidar.period_s == 0.05);
  CHECK(on.lidar.beams == 819);
  CHECK(on.lidar.fov_rad == 4.0);
  CHECK(on.lidar.range_min_m == 0.1);
  CHECK(on.lidar.range_max_m == 10.0);
  CHECK(on.lidar.latency_s == 0.025);
  CHECK(on.lidar.noise_std_m == 0.01);
  CHECK(on.lidar.dropout_rate == 0.002);
  CHECK(on.odometry.speed_noise == 0.05);
  CHECK(on.pose.latency_s == 0.05);
  CHECK(on.pose.noise_xy_m == 0.02);
  CHECK(on.pose.noise_yaw_rad == 0.01);
  const SensorSettings off = SensorSettings::of(car, false);
  CHECK(off.lidar.period_s == 0.05);
  CHECK(off.lidar.latency_s == 0.0);
  CHECK(off.lidar.noise_std_m == 0.0);
  CHECK(off.lidar.dropout_rate == 0.0);
  CHECK(off.odometry.speed_noise == 0.0);
  CHECK(off.pose.latency_s == 0.0);
  CHECK(off.pose.noise_xy_m == 0.0);
  CHECK(off.pose.noise_yaw_rad == 0.0);
}

TEST_CASE("each sensor is off, nominal or worst by its own profile") {
  CarParameters car = test_car();
  car.lidar_grazing_dropout = 0.3;
  car.lidar_mixed_pixel_rate = 0.1;
  car.lidar_mount_error_m = 0.002;
  car.lidar_mount_error_rad = 0.005;
  car.pose_drift_xy_m = 0.02;
  car.pose_drift_yaw_rad = 0.005;
  car.pose_jump_rate_hz = 0.5;
  car.pose_jump_m = 0.1;
  car.odometry_delay_s = 0.01;
  car.odometry_quantum_mps = 0.001;
  car.imu_delay_s = 0.005;
  car.imu_gyro_noise = 1e-3;
  car.imu_accel_noise = 1e-2;
  car.imu_gyro_bias_radps = car.imu_accel_bias_mps2 = car.imu_gyro_bias_walk = car.imu_accel_bias_walk = 0.01;
  car.imu_gyro_scale_error = car.imu_accel_scale_error = 0.01;
  const auto errors = [&](SensorProfile profile) {
    const SensorSettings s = SensorSettings::of(car, SensorChoice::all(profile));
    return std::vector<double>{s.lidar.latency_s,
                               s.lidar.sweep ? 1.0 : 0.0,
                               s.lidar.resolution_m,
                               s.lidar.noise_std_m,
                               s.lidar.dropout_rate,
                               s.lidar.grazing_dropout,
                               s.lidar.mixed_pixel_rate,
                               s.lidar.mount_error_m,
                               s.lidar.mount_error_rad,
                               s.odometry.latency_s,
                               s.odometry.speed_noise,
                               s.odometry.quantum_mps,
                               s.pose.latency_s,
                               s.pose.noise_xy_m,
                               s.pose.noise_yaw_rad,
                               s.pose.drift_xy_m,
                               s.pose.drift_yaw_rad,
                               s.pose.jump_rate_hz * s.pose.jump_m,
                               s.imu.latency_s,
                               s.imu.gyro_noise,
                               s.imu.gyro_bias_radps,
                               s.imu.gyro_bias_walk,
                               s.imu.gyro_scale_error,
                               s.imu.accelerometer_noise,
                               s.imu.accelerometer_bias_mps2,
                               s.imu.accelerometer_bias_walk,
                               s.imu.accelerometer_scale_error};
  };
  const auto off = errors(SensorProfile::kOff);
  const auto nominal = errors(SensorProfile::kNominal);
  const auto worst = errors(SensorProfile::kWorst);
  for (std::size_t i = 0; i < off.size(); ++i) {
    CAPTURE(i);
    CHECK(off[i] == 0.0);
    CHECK(nominal[i] > 0.0);
    CHECK((worst[i] > nominal[i] || i == 1 || i == 2));
  }
  SensorChoice mixed;
  mixed.lidar = SensorProfile::kOff;
  mixed.pose = SensorProfile::kWorst;
  const SensorSettings s = SensorSettings::of(car, mixed);
  CHECK(s.lidar.noise_std_m == 0.0);
  CHECK(s.pose.noise_xy_m == doctest::Approx(0.06));
  CHECK(s.odometry.speed_noise == 0.05);
  CHECK(SensorSettings::of(car, SensorChoice::all(SensorProfile::kWorst)).lidar.blind[0].width_rad > 0.0);
  CHECK(s.lidar.blind[0].width_rad == 0.0);
}

TEST_CASE("odometry comes in whole multiples of its unit") {
  OdometrySettings settings;
  settings.quantum_mps = 0.1;
  OdometrySensor sensor(settings, test_car(), 1, "car0");
  Odometry message;
  for (const auto& [speed, expected] : {std::pair{1.04, 1.0}, {1.06, 1.1}, {-1.04, -1.0}, {0.04, 0.0}}) {
    sensor.measure(0, speed, 0.0, message);
    CHECK(message.speed_mps == doctest::Approx(expected));
  }
  settings.quantum_mps = 0.0;
  OdometrySensor exact(settings, test_car(), 1, "car0");
  exact.measure(0, 1.04, 0.0, message);
  CHECK(message.speed_mps == 1.04);
}

TEST_CASE("odometry arrives its delay after its stamp") {
  CarSetup car = setup("car0", {4, 3, 0}, nullptr, false);
  car.sensors.odometry.latency_s = 0.013;
  auto world = World::make(room(8, 6), {}, cars(std::move(car)));
  REQUIRE(world);
  run(*world, 0.1);
  const Source<Odometry> odometry = world->observation(0).odometry;
  REQUIRE(odometry.message != nullptr);
  CHECK(odometry.arrival - odometry.message->stamp == Duration{13'000'000});
}

TEST_CASE("the lasting error of a pose has its deviation and is forgotten by 1/e in its time") {
  PoseSettings settings;
  settings.drift_xy_m = 0.05;
  settings.drift_yaw_rad = 0.02;
  settings.drift_time_s = 0.5;
  PoseSensor sensor(settings, 1, "car0");
  std::vector<double> x;
  Moments yaw;
  PoseEstimate message;
  for (std::uint64_t k = 0; k < 40000; ++k) {
    sensor.measure(k, {}, message);
    x.push_back(message.position.x);
    yaw.add(yaw_of(message.orientation));
  }
  Moments all;
  Moments lagged;
  for (std::size_t k = 20; k < x.size(); ++k) {
    all.add(x[k]);
    lagged.add(x[k] * x[k - 20] / (0.05 * 0.05));
  }
  // 40000 samples of 25 ms are about 1000 independent ones.
  CHECK(all.deviation() == within(0.05, 0.08));
  CHECK(yaw.deviation() == within(0.02, 0.08));
  CHECK(lagged.mean() == within(std::exp(-1.0), 0.2));
  settings.drift_xy_m = settings.drift_yaw_rad = 0.0;
  PoseSensor exact(settings, 1, "car0");
  exact.measure(9, {}, message);
  CHECK(message.position == Vec2{});
}

TEST_CASE("corrections of the localiser come at their rate, move the estimate by their size and last until the next one") {
  PoseSettings settings;
  settings.jump_rate_hz = 0.8;
  settings.jump_m = 0.12;
  PoseSensor sensor(settings, 1, "car0");
  PoseEstimate message;
  Vec2 before;
  int jumps = 0;
  for (std::uint64_t k = 0; k < 40000; ++k) {
    sensor.measure(k, {}, message);
    if (message.position == before) continue;
    ++jumps;
    CHECK(norm(message.position) == doctest::Approx(0.12));
    before = message.position;
  }
  CHECK(std::abs(jumps - 800) < 90);  // three standard deviations of a Poisson count
  settings.jump_rate_hz = 0.0;
  PoseSensor steady_one(settings, 1, "car0");
  for (std::uint64_t k = 0; k < 1000; ++k) steady_one.measure(k, {}, message);
  CHECK(message.position == Vec2{});
}
