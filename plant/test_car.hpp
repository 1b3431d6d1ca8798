// SPDX-License-Identifier: Apache-2.0
// What the tests of the plant share: a car, and driving it for a while.
#pragma once

#include <doctest/doctest.h>

#include "plant/plant.hpp"

namespace pitwall::plant::testing {

inline constexpr Duration kTick = from_milliseconds(5);

inline CarParameters test_car() {
  CarParameters car = car_of(Fidelity::kLegacy, {});
  car.wheelbase_m = 0.3302;
  car.cog_front_fraction = 0.15875 / 0.3302;
  car.lidar_fov_rad = 4.7;
  car.lidar_range_max_m = 30.0;
  car.lidar_rate_hz = 40.0;
  car.steering_servo_gain_per_s = 25.0;
  car.longitudinal_grip_coupling = 1.0;
  return car;
}

/// The reference's cap on steering, on the linear tyre.
inline Options envelope() {
  Options options;
  options.friction = Friction::kEnvelope;
  options.tyre = Tyre::kLinear;
  return options;
}

inline Plant make(const CarParameters& car = test_car(), const Options& options = Options::of(Fidelity::kPlant), double friction = 1.0489) {
  return Plant::make(car, options, friction).value();
}

inline void command(Plant& plant, double steering, double speed, Time at = {}) {
  REQUIRE(plant.command(steering, speed, at) == CommandStatus::kAccepted);
}

/// Steps from `from` for `seconds`; returns the time reached.
inline Time run(Plant& plant, Time from, double seconds, Duration dt = kTick) {
  Time now = from;
  const Time end = from + from_seconds(seconds);
  while (now < end) {
    plant.step(now, dt);
    now = now + dt;
  }
  return now;
}

inline double apart(const Plant& a, const Plant& b) { return distance(a.base_pose().position(), b.base_pose().position()); }

inline bool same(const State& a, const State& b) {
  return a.x == b.x && a.y == b.y && a.steering == b.steering && a.speed == b.speed && a.yaw == b.yaw && a.yaw_rate == b.yaw_rate &&
         a.slip == b.slip;
}

}  // namespace pitwall::plant::testing
