// SPDX-License-Identifier: Apache-2.0
#include "calibration/hardware.hpp"

namespace pitwall::calibration {

void Hardware::fields(FieldVisitor& f) {
  f.number("servo_gain_per_rad", servo_gain_per_rad, {"1/rad", -10, 10, "servo position per steering angle"});
  f.number("servo_offset", servo_offset, {"", 0, 1, "servo position of straight wheels"});
  f.number("servo_min", servo_min, {"", 0, 1, "lowest servo position allowed"});
  f.number("servo_max", servo_max, {"", 0, 1, "highest servo position allowed"});
  f.number("speed_to_erpm_gain", speed_to_erpm_gain, {"eRPM s/m", 1, 1e6, "electrical revolutions per speed"});
  f.number("speed_to_erpm_offset", speed_to_erpm_offset, {"eRPM", -1e5, 1e5, "electrical revolutions at rest"});
  f.number("erpm_max", erpm_max, {"eRPM", 1, 1e6, "clip of the driver, both ways"});
  f.integer("vesc_speed_sign", vesc_speed_sign,
            {"", -1, 1, "sign of the speed when driving forward in recordings of the f1tenth ROS driver"});
  f.text("vesc_port", vesc_port, "serial device of the motor controller");
  f.number("vesc_poll_hz", vesc_poll_hz, {"Hz", 1, 1000, "state requests per second"});
  f.integer("battery_cells", battery_cells, {"", 1, 12, "cells in series"});
  f.number("front_overhang_m", front_overhang_m, {"m", 0, 1, "front axle to the foremost point"});
  f.number("rear_overhang_m", rear_overhang_m, {"m", 0, 1, "rear axle to the rearmost point"});
  f.text("lidar_model", lidar_model, "as on the label");
  f.text("lidar_ip", lidar_ip, "address of the LiDAR");
  f.integer("lidar_port", lidar_port, {"", 1, 65535, "TCP port of the LiDAR"});
  f.number("lidar_z_m", lidar_z_m, {"m", 0, 1, "scan plane above the ground at base_link"});
  f.text("imu_file", imu_file, "calibration of the IMU, relative to the car's folder");
  f.text("joystick_model", joystick_model, "as on the label");
  f.integer("joystick_deadman_button", joystick_deadman_button, {"", 0, 31, "must be held for the car to move"});
  f.integer("joystick_speed_axis", joystick_speed_axis, {"", 0, 31, "axis of the speed"});
  f.integer("joystick_steering_axis", joystick_steering_axis, {"", 0, 31, "axis of the steering"});
  f.number("joystick_speed_scale_mps", joystick_speed_scale_mps, {"m/s", 0.1, 20, "speed at full deflection"});
  f.number("joystick_steering_scale_rad", joystick_steering_scale_rad, {"rad", 0.01, 1.5, "steering at full deflection"});
}

}  // namespace pitwall::calibration
