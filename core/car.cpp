// SPDX-License-Identifier: Apache-2.0
#include "core/car.hpp"

namespace pitwall {

void CarParameters::fields(FieldVisitor& f) {
  f.number("wheelbase_m", wheelbase_m, {"m", 0.05, 2, "rear to front axle"});
  f.number("width_m", width_m, {"m", 0.05, 2, "padded width"});
  f.number("length_m", length_m, {"m", 0.05, 3, "padded length"});
  f.number("body_width_m", body_width_m, {"m", 0.05, 2, "chassis width"});
  f.number("body_length_m", body_length_m, {"m", 0.05, 3, "chassis length, centred between the axles"});
  f.number("lidar_x_m", lidar_x_m, {"m", -1, 2, "LiDAR ahead of base_link"});
  f.number("lidar_y_m", lidar_y_m, {"m", -1, 1, "LiDAR to the left of base_link"});
  f.number("lidar_yaw_rad", lidar_yaw_rad, {"rad", -3.2, 3.2, "LiDAR heading against the body"});
  f.number("mass_kg", mass_kg, {"kg", 0.1, 100, "mass"});
  f.number("yaw_inertia_kgm2", yaw_inertia_kgm2, {"kg m^2", 0.0001, 100, "yaw inertia about the centre of gravity"});
  f.number("cog_height_m", cog_height_m, {"m", 0, 1, "height of the centre of gravity"});
  f.number("cog_front_fraction", cog_front_fraction, {"", 0.05, 0.95, "centre of gravity to front axle over wheelbase"});
  f.number("cornering_stiffness_front", cornering_stiffness_front, {"1/rad", 0.1, 100, "front axle, per load"});
  f.number("cornering_stiffness_rear", cornering_stiffness_rear, {"1/rad", 0.1, 100, "rear axle, per load"});
  f.number("surface_friction", surface_friction, {"", 0.01, 3, "friction of the calibrated floor"});
  f.number("longitudinal_grip_coupling", longitudinal_grip_coupling,
           {"", 0, 1, "share of longitudinal acceleration charged to the friction circle"});
  f.number("steering_max_left_rad", steering_max_left_rad, {"rad", 0.01, 1.5, "left lock"});
  f.number("steering_max_right_rad", steering_max_right_rad, {"rad", -1.5, -0.01, "right lock"});
  f.number("steering_rate_max_radps", steering_rate_max_radps, {"rad/s", 0.01, 100, "servo rate"});
  f.number("steering_servo_gain_per_s", steering_servo_gain_per_s, {"1/s", 0.1, 1000, "first-order servo"});
  f.number("steering_delay_s", steering_delay_s, {"s", 0, 1, "transport delay of the steering command"});
  f.number("speed_max_mps", speed_max_mps, {"m/s", 0.1, 50, "forward ceiling"});
  f.number("speed_min_mps", speed_min_mps, {"m/s", -50, 0, "reverse ceiling"});
  f.number("acceleration_max_mps2", acceleration_max_mps2, {"m/s^2", 0.1, 100, "limit of drive and brake"});
  f.number("speed_loop_accel_gain_per_s", speed_loop_accel_gain_per_s, {"1/s", 0.01, 1000, "speed loop while accelerating"});
  f.number("speed_loop_brake_gain_per_s", speed_loop_brake_gain_per_s, {"1/s", 0.01, 1000, "speed loop while braking"});
  f.number("speed_delay_s", speed_delay_s, {"s", 0, 1, "transport delay of the speed command"});
  f.integer("lidar_beams", lidar_beams, {"", 2, 100000, "beams of one scan"});
  f.number("lidar_fov_rad", lidar_fov_rad, {"rad", 0.01, 6.2832, "first to last beam"});
  f.number("lidar_range_min_m", lidar_range_min_m, {"m", 0, 10, "shortest valid range"});
  f.number("lidar_range_max_m", lidar_range_max_m, {"m", 0.1, 1000, "longest valid range"});
  f.number("lidar_rate_hz", lidar_rate_hz, {"Hz", 1, 1000, "scans per second"});
  f.number("lidar_noise_std_m", lidar_noise_std_m, {"m", 0, 1, "range noise"});
  f.number("lidar_dropout_rate", lidar_dropout_rate, {"", 0, 1, "beams without return, at random"});
  f.number("lidar_delay_s", lidar_delay_s, {"s", 0, 1, "first beam to arrival"});
  f.number("pose_delay_s", pose_delay_s, {"s", 0, 1, "measurement to arrival of the pose estimate"});
  f.number("pose_noise_xy_m", pose_noise_xy_m, {"m", 0, 1, "pose estimate, each of x and y"});
  f.number("pose_noise_yaw_rad", pose_noise_yaw_rad, {"rad", 0, 1, "pose estimate, yaw"});
  f.number("odometry_speed_noise", odometry_speed_noise, {"", 0, 1, "relative to max(|v|, 0.1 m/s)"});
}

}  // namespace pitwall
