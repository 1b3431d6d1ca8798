// SPDX-License-Identifier: Apache-2.0
// What is bolted to one car and how it is wired: servo map, motor controller, LiDAR, joystick, battery. Read by the
// drivers and by tools on recordings; the simulator has no use for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/fields.hpp"

namespace pitwall::calibration {

/// Hardware of one car. servo position = gain * steering + offset; eRPM = gain * speed + offset.
struct Hardware {
  double servo_gain_per_rad = 0.0;
  double servo_offset = 0.0;
  double servo_min = 0.0;
  double servo_max = 0.0;
  double speed_to_erpm_gain = 0.0;
  double speed_to_erpm_offset = 0.0;
  double erpm_max = 0.0;
  std::int64_t vesc_speed_sign = 0;  ///< of recordings of the f1tenth ROS driver: -1 where forward is negative in them. Not of the wire
  std::string vesc_port;
  double vesc_poll_hz = 0.0;
  std::int64_t battery_cells = 0;
  double front_overhang_m = 0.0;
  double rear_overhang_m = 0.0;
  std::string lidar_model;
  std::string lidar_ip;
  std::int64_t lidar_port = 0;
  double lidar_z_m = 0.0;
  std::string imu_file;
  std::string joystick_model;
  std::int64_t joystick_deadman_button = 0;
  std::int64_t joystick_speed_axis = 0;
  std::int64_t joystick_steering_axis = 0;
  double joystick_speed_scale_mps = 0.0;
  double joystick_steering_scale_rad = 0.0;

  /// Serial numbers of the boards that this car has carried. A list, so it is not among fields().
  std::vector<std::string> serials;

  void fields(FieldVisitor& f);

  /// Steering angle that the map gives for a servo position, rad.
  [[nodiscard]] double steering_of_servo(double position) const { return (position - servo_offset) / servo_gain_per_rad; }
};

}  // namespace pitwall::calibration
