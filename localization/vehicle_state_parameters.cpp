// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "localization/vehicle_state_estimator.hpp"

namespace pitwall::localization {

void VehicleStateParameters::fields(FieldVisitor& f) {
  f.number("imu_x_m", imu_x_m, {"m", -2, 2, "IMU ahead of base_link"});
  f.number("imu_y_m", imu_y_m, {"m", -2, 2, "to its left"});
  f.number("accel_noise", accel_noise, {"m/s^1.5", 1e-3, 100, "of the prediction of velocity"});
  f.number("yaw_accel_noise", yaw_accel_noise, {"rad/s^1.5", 1e-3, 100, "of the prediction of yaw rate"});
  f.number("bias_walk", bias_walk, {"rad/s^1.5", 0, 1, "of the gyro's bias"});
  f.number("scale_walk", scale_walk, {"1/s^0.5", 0, 1, "of the gyro's scale"});
  f.number("accel_bias_walk", accel_bias_walk, {"m/s^2.5", 0, 10, "of the accelerometer's bias"});
  f.number("place_noise", place_noise, {"m/s^0.5", 0, 1, "of the prediction of place"});
  f.number("yaw_noise", yaw_noise, {"rad/s^0.5", 0, 1, "of the prediction of yaw"});
  f.number("gyro_sigma_radps", gyro_sigma_radps, {"rad/s", 1e-5, 1, "gyro"});
  f.number("wheel_sigma_mps", wheel_sigma_mps, {"m/s", 1e-4, 10, "wheels that roll"});
  f.number("wheel_sigma_share", wheel_sigma_share, {"", 0, 1, "of their speed, in addition"});
  f.number("no_slide_sigma_mps", no_slide_sigma_mps, {"m/s", 1e-4, 10, "sideways without load"});
  f.number("velocity_sigma_mps", velocity_sigma_mps, {"m/s", 1e-4, 10, "external velocity"});
  f.number("heading_sigma_rad", heading_sigma_rad, {"rad", 1e-4, 1, "external heading"});
  f.number("yaw_rate_sigma_radps", yaw_rate_sigma_radps, {"rad/s", 1e-4, 1, "external yaw rate"});
  f.number("place_sigma_m", place_sigma_m, {"m", 1e-4, 10, "external pose"});
  f.number("bias_radps", bias_radps, {"rad/s", -0.5, 0.5, "of the gyro at the start"});
  f.number("bias_sigma_radps", bias_sigma_radps, {"rad/s", 0, 0.5, "how well that is known"});
  f.number("scale_sigma", scale_sigma, {"", 0, 0.2, "of the gyro at the start"});
  f.number("accel_bias_sigma_mps2", accel_bias_sigma_mps2, {"m/s^2", 0, 5, "of the accelerometer at the start"});
  f.number("slip_change_mps", slip_change_mps, {"m/s", 0.01, 10, "change of the wheels' speed that is slip"});
  f.number("slip_window_s", slip_window_s, {"s", 0.02, 2, "within this time"});
  f.number("slip_longest_s", slip_longest_s, {"s", 0.1, 60, "after which wheels are believed again"});
  f.number("no_slide_mps2", no_slide_mps2, {"m/s^2", 0, 20, "sideways load below which the rear axle does not slide"});
  f.number("no_slide_from_mps", no_slide_from_mps, {"m/s", 0, 10, "above this speed"});
  f.number("history_s", history_s, {"s", 0.1, 10, "how late a measurement may be"});
  f.nested("standstill", standstill);
}

VehicleStateParameters VehicleStateParameters::for_car(const CarParameters& car) {
  VehicleStateParameters p;
  p.wheel_sigma_share = std::max(p.wheel_sigma_share, car.odometry_speed_noise);
  p.bias_sigma_radps = std::max(p.bias_sigma_radps, car.imu_gyro_bias_radps);
  p.accel_bias_sigma_mps2 = std::max(p.accel_bias_sigma_mps2, car.imu_accel_bias_mps2);
  return p;
}

}  // namespace pitwall::localization
