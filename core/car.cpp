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
  f.number("relaxation_length_m", relaxation_length_m, {"m", 0.005, 1, "rolling way to 63 % of the side force"});
  f.number("rolling_resistance", rolling_resistance, {"", 0, 0.5, "force over load"});
  f.number("drag_area_m2", drag_area_m2, {"m^2", 0, 1, "drag coefficient times frontal area"});
  f.number("magic_front_b", magic_front_b, {"1/rad", 0, 200, "Magic Formula, front: stiffness factor; 0: not known"});
  f.number("magic_front_c", magic_front_c, {"", 0, 2.9, "front: shape factor"});
  f.number("magic_front_d", magic_front_d, {"", 0, 3, "front: peak per load at friction 1"});
  f.number("magic_front_e", magic_front_e, {"", -10, 1, "front: curvature factor"});
  f.number("magic_rear_b", magic_rear_b, {"1/rad", 0, 200, "Magic Formula, rear: stiffness factor; 0: not known"});
  f.number("magic_rear_c", magic_rear_c, {"", 0, 2.9, "rear: shape factor"});
  f.number("magic_rear_d", magic_rear_d, {"", 0, 3, "rear: peak per load at friction 1"});
  f.number("magic_rear_e", magic_rear_e, {"", -10, 1, "rear: curvature factor"});
  f.number("steering_max_left_rad", steering_max_left_rad, {"rad", 0.01, 1.5, "left lock"});
  f.number("steering_max_right_rad", steering_max_right_rad, {"rad", -1.5, -0.01, "right lock"});
  f.number("steering_rate_max_radps", steering_rate_max_radps, {"rad/s", 0.01, 100, "servo rate"});
  f.number("steering_servo_gain_per_s", steering_servo_gain_per_s, {"1/s", 0.1, 1000, "first-order servo"});
  f.number("steering_delay_s", steering_delay_s, {"s", 0, 1, "transport delay of the steering command"});
  f.number("steering_gain", steering_gain, {"", 0.2, 2, "wheel angle per commanded angle"});
  f.number("steering_bias_rad", steering_bias_rad, {"rad", -0.3, 0.3, "wheel angle when straight ahead is commanded"});
  f.number("steering_deadband_rad", steering_deadband_rad, {"rad", 0, 0.2, "errors that the servo does not correct"});
  f.number("speed_max_mps", speed_max_mps, {"m/s", 0.1, 50, "forward ceiling"});
  f.number("speed_min_mps", speed_min_mps, {"m/s", -50, 0, "reverse ceiling"});
  f.number("acceleration_max_mps2", acceleration_max_mps2, {"m/s^2", 0.1, 100, "limit of drive and brake"});
  f.number("speed_loop_accel_gain_per_s", speed_loop_accel_gain_per_s, {"1/s", 0.01, 1000, "speed loop while accelerating"});
  f.number("speed_loop_brake_gain_per_s", speed_loop_brake_gain_per_s, {"1/s", 0.01, 1000, "speed loop while braking"});
  f.number("speed_delay_s", speed_delay_s, {"s", 0, 1, "transport delay of the speed command"});
  f.number("speed_loop_integral_gain_per_s2", speed_loop_integral_gain_per_s2, {"1/s^2", 0, 1000, "integrator of the speed loop; 0: none"});
  f.number("speed_ramp_mps2", speed_ramp_mps2, {"m/s^2", 0, 1000, "how fast the speed target may change; 0: at once"});
  f.number("braking_max_mps2", braking_max_mps2, {"m/s^2", 0.1, 100, "limit of the brake"});
  f.number("drive_power_max_w", drive_power_max_w, {"W", 1, 100000, "drive power at the wheels"});
  f.number("motor_free_speed_mps", motor_free_speed_mps, {"m/s", 0.5, 1000, "speed at which the battery's voltage is used up"});
  f.number("drive_front_share", drive_front_share, {"", 0, 1, "front axle's part of drive and brake force"});
  f.integer("lidar_beams", lidar_beams, {"", 2, 100000, "beams of one scan"});
  f.number("lidar_fov_rad", lidar_fov_rad, {"rad", 0.01, 6.2832, "first to last beam"});
  f.number("lidar_range_min_m", lidar_range_min_m, {"m", 0, 10, "shortest valid range"});
  f.number("lidar_range_max_m", lidar_range_max_m, {"m", 0.1, 1000, "longest valid range"});
  f.number("lidar_rate_hz", lidar_rate_hz, {"Hz", 1, 1000, "scans per second"});
  f.number("lidar_noise_std_m", lidar_noise_std_m, {"m", 0, 1, "range noise"});
  f.number("lidar_dropout_rate", lidar_dropout_rate, {"", 0, 1, "beams without return, at random"});
  f.number("lidar_delay_s", lidar_delay_s, {"s", 0, 1, "first beam to arrival"});
  f.number("lidar_grazing_dropout", lidar_grazing_dropout, {"", 0, 1, "beams without return where the wall is seen edge-on"});
  f.number("lidar_mixed_pixel_rate", lidar_mixed_pixel_rate, {"", 0, 1, "edges at which a beam falls on both sides"});
  f.number("lidar_mount_error_m", lidar_mount_error_m, {"m", 0, 0.1, "of the mount's x and y, car to car"});
  f.number("lidar_mount_error_rad", lidar_mount_error_rad, {"rad", 0, 0.1, "of the mount's yaw, car to car"});
  f.number("pose_delay_s", pose_delay_s, {"s", 0, 1, "measurement to arrival of the pose estimate"});
  f.number("pose_noise_xy_m", pose_noise_xy_m, {"m", 0, 1, "pose estimate, each of x and y"});
  f.number("pose_noise_yaw_rad", pose_noise_yaw_rad, {"rad", 0, 1, "pose estimate, yaw"});
  f.number("pose_drift_xy_m", pose_drift_xy_m, {"m", 0, 1, "pose estimate, lasting error of each of x and y"});
  f.number("pose_drift_yaw_rad", pose_drift_yaw_rad, {"rad", 0, 1, "pose estimate, lasting error of yaw"});
  f.number("pose_drift_time_s", pose_drift_time_s, {"s", 0.001, 1000, "pose estimate, how long an error lasts"});
  f.number("pose_jump_rate_hz", pose_jump_rate_hz, {"Hz", 0, 10, "corrections of the localiser"});
  f.number("pose_jump_m", pose_jump_m, {"m", 0, 2, "size of the localiser's corrections"});
  f.number("odometry_delay_s", odometry_delay_s, {"s", 0, 1, "measurement to arrival of the odometry"});
  f.number("odometry_quantum_mps", odometry_quantum_mps, {"m/s", 0, 1, "step of the measured speed; 0: none"});
  f.number("odometry_speed_noise", odometry_speed_noise, {"", 0, 1, "relative to max(|v|, 0.1 m/s)"});
  f.number("odometry_scale", odometry_scale, {"", 0.5, 2, "true over odometry's speed where no tyre slips"});
  f.number("imu_rate_hz", imu_rate_hz, {"Hz", 1, 1000, "IMU messages per second"});
  f.number("imu_delay_s", imu_delay_s, {"s", 0, 1, "measurement to arrival"});
  f.number("imu_gyro_noise", imu_gyro_noise, {"rad/s/sqrt(Hz)", 0, 1, "noise density of the angular velocity"});
  f.number("imu_gyro_bias_radps", imu_gyro_bias_radps, {"rad/s", 0, 1, "of the angular velocity, when switched on"});
  f.number("imu_gyro_bias_walk", imu_gyro_bias_walk, {"rad/s/sqrt(s)", 0, 1, "random walk of that bias"});
  f.number("imu_gyro_scale_error", imu_gyro_scale_error, {"", 0, 0.5, "relative"});
  f.number("imu_accel_noise", imu_accel_noise, {"m/s^2/sqrt(Hz)", 0, 1, "noise density of the acceleration"});
  f.number("imu_accel_bias_mps2", imu_accel_bias_mps2, {"m/s^2", 0, 10, "of the acceleration, when switched on"});
  f.number("imu_accel_bias_walk", imu_accel_bias_walk, {"m/s^2/sqrt(s)", 0, 1, "random walk of that bias"});
  f.number("imu_accel_scale_error", imu_accel_scale_error, {"", 0, 0.5, "relative"});
}

}  // namespace pitwall
