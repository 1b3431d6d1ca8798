// SPDX-License-Identifier: Apache-2.0
// ackermann_msgs and vesc_msgs.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ros_messages/geometry.hpp"
#include "ros_messages/standard.hpp"

namespace pitwall::ros_messages {

struct AckermannDrive {
  static constexpr std::string_view kType = "ackermann_msgs/msg/AckermannDrive";
  float steering_angle = 0.0F;           ///< rad, positive to the left
  float steering_angle_velocity = 0.0F;  ///< rad/s
  float speed = 0.0F;                    ///< m/s
  float acceleration = 0.0F;             ///< m/s^2
  float jerk = 0.0F;                     ///< m/s^3
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("steering_angle", m.steering_angle)("steering_angle_velocity", m.steering_angle_velocity)("speed", m.speed)(
        "acceleration", m.acceleration)("jerk", m.jerk);
  }
  bool operator==(const AckermannDrive&) const = default;
};

struct AckermannDriveStamped {
  static constexpr std::string_view kType = "ackermann_msgs/msg/AckermannDriveStamped";
  Header header;
  AckermannDrive drive;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("header", m.header)("drive", m.drive);
  }
  bool operator==(const AckermannDriveStamped&) const = default;
};

/// What the motor controller measures.
struct VescState {
  static constexpr std::string_view kType = "vesc_msgs/msg/VescState";
  static constexpr std::array<NamedValue, 7> kConstants = {{{Kind::kInt32, "FAULT_CODE_NONE", "0"},
                                                            {Kind::kInt32, "FAULT_CODE_OVER_VOLTAGE", "1"},
                                                            {Kind::kInt32, "FAULT_CODE_UNDER_VOLTAGE", "2"},
                                                            {Kind::kInt32, "FAULT_CODE_DRV8302", "3"},
                                                            {Kind::kInt32, "FAULT_CODE_ABS_OVER_CURRENT", "4"},
                                                            {Kind::kInt32, "FAULT_CODE_OVER_TEMP_FET", "5"},
                                                            {Kind::kInt32, "FAULT_CODE_OVER_TEMP_MOTOR", "6"}}};
  double temp_fet = 0.0;               ///< deg C
  double temp_motor = 0.0;             ///< deg C
  double current_motor = 0.0;          ///< A
  double current_input = 0.0;          ///< A
  double avg_id = 0.0;                 ///< A
  double avg_iq = 0.0;                 ///< A
  double duty_cycle = 0.0;             ///< -1 to 1
  double speed = 0.0;                  ///< electrical revolutions per minute
  double voltage_input = 0.0;          ///< V
  double charge_drawn = 0.0;           ///< Ah
  double charge_regen = 0.0;           ///< Ah
  double energy_drawn = 0.0;           ///< Wh
  double energy_regen = 0.0;           ///< Wh
  std::int32_t displacement = 0;       ///< tachometer counts
  std::int32_t distance_traveled = 0;  ///< tachometer counts, never falling
  std::int32_t fault_code = 0;
  double pid_pos_now = 0.0;
  std::int32_t controller_id = 0;
  double ntc_temp_mos1 = 0.0;  ///< deg C
  double ntc_temp_mos2 = 0.0;  ///< deg C
  double ntc_temp_mos3 = 0.0;  ///< deg C
  double avg_vd = 0.0;         ///< V
  double avg_vq = 0.0;         ///< V
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("temp_fet", m.temp_fet)("temp_motor", m.temp_motor)("current_motor", m.current_motor)("current_input", m.current_input)(
        "avg_id", m.avg_id)("avg_iq", m.avg_iq)("duty_cycle", m.duty_cycle)("speed", m.speed)("voltage_input", m.voltage_input)(
        "charge_drawn", m.charge_drawn)("charge_regen", m.charge_regen)("energy_drawn", m.energy_drawn)("energy_regen", m.energy_regen)(
        "displacement", m.displacement)("distance_traveled", m.distance_traveled)("fault_code", m.fault_code)("pid_pos_now", m.pid_pos_now)(
        "controller_id", m.controller_id)("ntc_temp_mos1", m.ntc_temp_mos1)("ntc_temp_mos2", m.ntc_temp_mos2)(
        "ntc_temp_mos3", m.ntc_temp_mos3)("avg_vd", m.avg_vd)("avg_vq", m.avg_vq);
  }
  bool operator==(const VescState&) const = default;
};

struct VescStateStamped {
  static constexpr std::string_view kType = "vesc_msgs/msg/VescStateStamped";
  Header header;
  VescState state;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("header", m.header)("state", m.state);
  }
  bool operator==(const VescStateStamped&) const = default;
};

/// The motor controller's own IMU, in its own units.
struct VescImu {
  static constexpr std::string_view kType = "vesc_msgs/msg/VescImu";
  Vector3 ypr;                  ///< deg: x is roll, y pitch, z yaw
  Vector3 linear_acceleration;  ///< g
  Vector3 angular_velocity;     ///< deg/s
  Vector3 compass;
  Quaternion orientation;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("ypr", m.ypr)("linear_acceleration", m.linear_acceleration)("angular_velocity", m.angular_velocity)("compass", m.compass)(
        "orientation", m.orientation);
  }
  bool operator==(const VescImu&) const = default;
};

struct VescImuStamped {
  static constexpr std::string_view kType = "vesc_msgs/msg/VescImuStamped";
  Header header;
  VescImu imu;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("header", m.header)("imu", m.imu);
  }
  bool operator==(const VescImuStamped&) const = default;
};

}  // namespace pitwall::ros_messages
