// SPDX-License-Identifier: Apache-2.0
// The numbers of one car, as every part of the system reads them. Lengths are given from base_link (centre of the rear
// axle, on the ground). Where each number comes from (provenance, source) is in calibration/cars/*.yaml.
#pragma once

#include "core/fields.hpp"
#include "core/geometry.hpp"

namespace pitwall {

inline constexpr double kGravity_mps2 = 9.81;  ///< as the models of a car take it

/// A rectangle in the base_link frame: the chassis, or its padded twin.
struct BodyRectangle {
  double rear_m = 0.0;   ///< x of the rear edge (negative)
  double front_m = 0.0;  ///< x of the front edge
  double half_width_m = 0.0;
};

/// Parameters of one car. Defaults are zero on purpose: a car comes from a profile, never from here.
struct CarParameters {
  // Geometry.
  double wheelbase_m = 0.0;
  double width_m = 0.0;        ///< padded, what controllers plan with
  double length_m = 0.0;       ///< padded, what controllers plan with
  double body_width_m = 0.0;   ///< the real chassis, what contact is tested with
  double body_length_m = 0.0;  ///< the real chassis, centred at wheelbase / 2 ahead of base_link
  double lidar_x_m = 0.0;
  double lidar_y_m = 0.0;
  double lidar_yaw_rad = 0.0;
  // Inertia and tyres.
  double mass_kg = 0.0;
  double yaw_inertia_kgm2 = 0.0;
  double cog_height_m = 0.0;
  double cog_front_fraction = 0.0;          ///< centre of gravity to front axle over wheelbase (lf / L)
  double cornering_stiffness_front = 0.0;   ///< per load, 1/rad
  double cornering_stiffness_rear = 0.0;    ///< per load, 1/rad
  double surface_friction = 0.0;            ///< of the floor that this profile was calibrated on; a scenario may name another
  double longitudinal_grip_coupling = 0.0;  ///< share of the longitudinal acceleration that is charged to the friction circle
  // What follows is neutral until a profile says otherwise: a car that leaves it out has an ideal servo and no resistances.
  double relaxation_length_m = 0.05;  ///< way in which a rolling tyre builds up 63 % of its side force
  double rolling_resistance = 0.0;    ///< force over load
  double drag_area_m2 = 0.0;          ///< drag coefficient times frontal area
  double magic_front_b = 0.0;         ///< Magic Formula of the axles, per load on a surface of friction 1; b = 0: not known
  double magic_front_c = 0.0;
  double magic_front_d = 0.0;
  double magic_front_e = 0.0;
  double magic_rear_b = 0.0;
  double magic_rear_c = 0.0;
  double magic_rear_d = 0.0;
  double magic_rear_e = 0.0;
  // Steering.
  double steering_max_left_rad = 0.0;   ///< positive
  double steering_max_right_rad = 0.0;  ///< negative
  double steering_rate_max_radps = 0.0;
  double steering_servo_gain_per_s = 0.0;
  double steering_delay_s = 0.0;
  double steering_gain = 1.0;          ///< wheel angle per commanded angle
  double steering_bias_rad = 0.0;      ///< wheel angle when straight ahead is commanded
  double steering_deadband_rad = 0.0;  ///< errors that the servo does not correct
  // Drive.
  double speed_max_mps = 0.0;
  double speed_min_mps = 0.0;  ///< negative: reverse
  double acceleration_max_mps2 = 0.0;
  double speed_loop_accel_gain_per_s = 0.0;
  double speed_loop_brake_gain_per_s = 0.0;
  double speed_delay_s = 0.0;
  double speed_loop_integral_gain_per_s2 = 0.0;  ///< 0: no integrator
  double speed_ramp_mps2 = 0.0;                  ///< how fast the target may change; 0: at once
  double braking_max_mps2 = 100.0;               ///< limit of the brake where it is below acceleration_max
  double drive_power_max_w = 1e5;                ///< of battery and controller, at the wheels
  double motor_free_speed_mps = 1000.0;          ///< where the battery's voltage is used up
  double drive_front_share = 0.5;                ///< of drive and brake force; 0: rear-wheel drive
  // Sensors.
  std::int64_t lidar_beams = 0;
  double lidar_fov_rad = 0.0;
  double lidar_range_min_m = 0.0;
  double lidar_range_max_m = 0.0;
  double lidar_rate_hz = 0.0;
  double lidar_noise_std_m = 0.0;
  double lidar_dropout_rate = 0.0;
  double lidar_delay_s = 0.0;           ///< first beam to arrival
  double lidar_grazing_dropout = 0.0;   ///< share of beams without return where the wall is seen edge-on
  double lidar_mixed_pixel_rate = 0.0;  ///< share of edges at which a beam falls on both sides
  double lidar_mount_error_m = 0.0;     ///< standard deviation of the mount's x and y, car to car
  double lidar_mount_error_rad = 0.0;   ///< of its yaw
  double pose_delay_s = 0.0;
  double pose_noise_xy_m = 0.0;
  double pose_noise_yaw_rad = 0.0;
  double pose_drift_xy_m = 0.0;  ///< standard deviation of the error that lasts, each of x and y
  double pose_drift_yaw_rad = 0.0;
  double pose_drift_time_s = 1.0;     ///< how long it lasts
  double pose_jump_rate_hz = 0.0;     ///< corrections of the localiser
  double pose_jump_m = 0.0;           ///< their size
  double odometry_speed_noise = 0.0;  ///< relative
  double odometry_delay_s = 0.0;
  double odometry_quantum_mps = 0.0;
  double odometry_scale = 1.0;  ///< true speed over odometry's where no tyre slips
  double imu_rate_hz = 100.0;
  double imu_delay_s = 0.0;
  double imu_gyro_noise = 0.0;         ///< density, rad/s per square root of Hz
  double imu_gyro_bias_radps = 0.0;    ///< when switched on
  double imu_gyro_bias_walk = 0.0;     ///< rad/s per square root of s
  double imu_gyro_scale_error = 0.0;   ///< relative
  double imu_accel_noise = 0.0;        ///< density, m/s^2 per square root of Hz
  double imu_accel_bias_mps2 = 0.0;    ///< when switched on
  double imu_accel_bias_walk = 0.0;    ///< m/s^2 per square root of s
  double imu_accel_scale_error = 0.0;  ///< relative

  void fields(FieldVisitor& f);

  /// Distance from the centre of gravity to the front axle, m.
  [[nodiscard]] double lf_m() const { return wheelbase_m * cog_front_fraction; }
  /// Distance from the centre of gravity to the rear axle (base_link), m.
  [[nodiscard]] double lr_m() const { return wheelbase_m - lf_m(); }
  /// The chassis, for contact.
  [[nodiscard]] BodyRectangle chassis() const { return centred_rectangle(body_length_m, body_width_m); }
  /// The padded body, for controllers.
  [[nodiscard]] BodyRectangle padded_body() const { return centred_rectangle(length_m, width_m); }
  /// T_base_lidar.
  [[nodiscard]] Pose2 lidar_mount() const { return {lidar_x_m, lidar_y_m, lidar_yaw_rad}; }

 private:
  [[nodiscard]] BodyRectangle centred_rectangle(double length_m_, double width_m_) const {
    return {0.5 * (wheelbase_m - length_m_), 0.5 * (wheelbase_m + length_m_), 0.5 * width_m_};
  }
};

}  // namespace pitwall
