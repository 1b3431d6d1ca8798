// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>

#include "sim/moments.hpp"
#include "sim/sensors.hpp"
#include "sim/test_world.hpp"

using namespace pitwall;
using namespace pitwall::sim;
using namespace pitwall::sim::testing;

TEST_CASE("an IMU at rest reads gravity, and in a steady turn the yaw rate and the centripetal force") {
  CarSetup car = setup("car0", {10, 8, 0}, steady(0.2, 1.5), false);
  auto world = World::make(room(20, 20), {}, cars(std::move(car)));
  REQUIRE(world);
  world->step();
  run(*world, 0.01);
  const Source<Imu> first = world->observation(0).imu;
  REQUIRE(first.message != nullptr);
  CHECK(first.message->linear_acceleration_mps2[2] == doctest::Approx(9.81));
  CHECK(std::abs(first.message->angular_velocity_radps[2]) < 0.05);
  run(*world, 4.0);
  const Imu imu = *world->observation(0).imu.message;
  const CarState& state = world->car(0);
  CHECK(imu.angular_velocity_radps[2] == within(state.yaw_rate_radps, 0.01));
  CHECK(imu.linear_acceleration_mps2[1] == within(state.velocity_mps.x * state.yaw_rate_radps, 0.02));
  CHECK(std::abs(imu.linear_acceleration_mps2[0] + state.velocity_mps.y * state.yaw_rate_radps) < 0.05);
  CHECK(world->observation(0).imu.sequence >= 400);
}

TEST_CASE("IMU noise, bias, its walk and the scale error are as stated, each gone when switched off") {
  const ImuTruth truth{{0.0, 0.0, 2.0}, {1.0, 0.0, 9.81}};
  Imu message;
  ImuSettings settings;
  {
    ImuSensor exact(settings, 1, "car0");
    exact.measure(3, truth, message);
    CHECK(message.angular_velocity_radps == truth.angular_velocity_radps);
    CHECK(message.linear_acceleration_mps2 == truth.specific_force_mps2);
  }
  settings.gyro_noise = 0.01;
  settings.accelerometer_noise = 0.03;
  {
    ImuSensor sensor(settings, 1, "car0");
    Moments gyro;
    Moments accelerometer;
    for (std::uint64_t k = 0; k < 5000; ++k) {
      sensor.measure(k, truth, message);
      gyro.add(message.angular_velocity_radps[2] - 2.0);
      accelerometer.add(message.linear_acceleration_mps2[0] - 1.0);
    }
    CHECK(gyro.deviation() == within(0.01 * std::sqrt(50.0), 0.05));
    CHECK(accelerometer.deviation() == within(0.03 * std::sqrt(50.0), 0.05));
    CHECK(std::abs(gyro.mean()) < 0.005);
  }
  settings = {};
  settings.gyro_bias_radps = 0.02;
  settings.accelerometer_bias_mps2 = 0.5;
  settings.gyro_bias_walk = 0.01;
  settings.accelerometer_bias_walk = 0.02;
  Moments bias;
  Moments bias_a;
  Moments walked;
  Moments walked_a;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    ImuSensor sensor(settings, seed, "car0");
    sensor.measure(0, truth, message);
    const double b = message.angular_velocity_radps[0];
    const double a = message.linear_acceleration_mps2[1];
    bias.add(b);
    bias_a.add(a);
    for (std::uint64_t k = 1; k <= 400; ++k) sensor.measure(k, truth, message);
    walked.add(message.angular_velocity_radps[0] - b);
    walked_a.add(message.linear_acceleration_mps2[1] - a);
  }
  CHECK(bias.deviation() == within(0.02, 0.1));
  CHECK(bias_a.deviation() == within(0.5, 0.1));
  CHECK(walked.deviation() == within(0.01 * 2.0, 0.1));
  CHECK(walked_a.deviation() == within(0.02 * 2.0, 0.1));
  settings = {};
  settings.gyro_scale_error = 0.03;
  settings.accelerometer_scale_error = 0.02;
  Moments scale;
  Moments scale_a;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    ImuSensor sensor(settings, seed, "car0");
    sensor.measure(0, truth, message);
    scale.add(message.angular_velocity_radps[2] / 2.0);
    scale_a.add(message.linear_acceleration_mps2[2] / 9.81);
  }
  CHECK(scale.deviation() == within(0.03, 0.1));
  CHECK(scale_a.deviation() == within(0.02, 0.1));
}
