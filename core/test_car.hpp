// SPDX-License-Identifier: Apache-2.0
// For tests only: what all test cars have in common, a 1:10 car of round figures. Each kind of test adds or changes what it is about.
#pragma once

#include "core/car.hpp"
#include "core/math.hpp"

namespace pitwall::testing {

inline CarParameters base_car() {
  CarParameters car;
  car.wheelbase_m = 0.36;
  car.width_m = 0.31;
  car.length_m = 0.58;
  car.body_width_m = 0.30;
  car.body_length_m = 0.57;
  car.lidar_x_m = 0.26;
  car.mass_kg = 3.74;
  car.yaw_inertia_kgm2 = 0.047;
  car.steering_rate_max_radps = 3.2;
  car.steering_servo_gain_per_s = 25.0;
  car.lidar_beams = 1081;
  car.lidar_fov_rad = 1.5 * math::kPi;
  car.lidar_range_min_m = 0.05;
  car.lidar_range_max_m = 25.0;
  car.lidar_rate_hz = 40.0;
  return car;
}

}  // namespace pitwall::testing
