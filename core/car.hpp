// SPDX-License-Identifier: Apache-2.0
// The numbers of one car, as every part of the system reads them. Lengths are given from base_link (centre of the rear
// axle, on the ground). Where each number comes from (provenance, source) is in calibration/cars/*.yaml.
#pragma once

#include "core/fields.hpp"
#include "core/geometry.hpp"

namespace pitwall {

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
  // Steering.
  double steering_max_left_rad = 0.0;   ///< positive
  double steering_max_right_rad = 0.0;  ///< negative
  double steering_rate_max_radps = 0.0;
  double steering_servo_gain_per_s = 0.0;
  double steering_delay_s = 0.0;
  // Drive.
  double speed_max_mps = 0.0;
  double speed_min_mps = 0.0;  ///< negative: reverse
  double acceleration_max_mps2 = 0.0;
  double speed_loop_accel_gain_per_s = 0.0;
  double speed_loop_brake_gain_per_s = 0.0;
  double speed_delay_s = 0.0;
  // Sensors.
  std::int64_t lidar_beams = 0;
  double lidar_fov_rad = 0.0;
  double lidar_range_min_m = 0.0;
  double lidar_range_max_m = 0.0;
  double lidar_rate_hz = 0.0;
  double lidar_noise_std_m = 0.0;
  double lidar_dropout_rate = 0.0;
  double lidar_delay_s = 0.0;
  double pose_delay_s = 0.0;
  double pose_noise_xy_m = 0.0;
  double pose_noise_yaw_rad = 0.0;
  double odometry_speed_noise = 0.0;  ///< relative

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
