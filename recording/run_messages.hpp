// SPDX-License-Identifier: Apache-2.0
// What internal.mcap of a run folder holds beside the standard messages of the bag. Like those it is CDR with its
// definition, so any tool can plot it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ros_messages/standard.hpp"

namespace pitwall::recording {

inline constexpr std::string_view kTickTopic = "/pitwall/tick";
inline constexpr std::string_view kContactTopic = "/pitwall/contact";
inline constexpr std::string_view kTruthTopic = "/pitwall/truth";

/// One call of a controller: which messages it had, and what it answered. A message is named by its sequence number, which
/// is also its sequence number on its topic of the bag; 0 means that none had arrived.
struct Tick {
  static constexpr std::string_view kType = "pitwall_msgs/msg/Tick";
  std::int64_t now_ns = 0;
  std::string car;
  std::uint64_t tick = 0;  ///< from 1
  std::uint64_t scan = 0;
  std::uint64_t odometry = 0;
  std::uint64_t pose = 0;
  std::uint64_t joy = 0;
  std::uint64_t imu = 0;
  std::vector<std::string> parameter_changes;  ///< "key=value", in force from this call on
  float steering_angle_rad = 0.0F;
  float speed_mps = 0.0F;
  std::string reason;
  std::string layer;
  std::int32_t beam = -1;
  float ttc_s = 0.0F;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("now_ns", m.now_ns)("car", m.car)("tick", m.tick)("scan", m.scan)("odometry", m.odometry)("pose", m.pose)("joy", m.joy)("imu", m.imu)(
        "parameter_changes", m.parameter_changes)("steering_angle_rad", m.steering_angle_rad)("speed_mps", m.speed_mps)("reason", m.reason)(
        "layer", m.layer)("beam", m.beam)("ttc_s", m.ttc_s);
  }
  bool operator==(const Tick&) const = default;
};

/// The beginning of a contact, map frame.
struct ContactRecord {
  static constexpr std::string_view kType = "pitwall_msgs/msg/Contact";
  std::int64_t time_ns = 0;
  std::string car;
  std::string partner;  ///< "wall", "map edge", or the other car
  double x_m = 0.0;
  double y_m = 0.0;
  double normal_x = 0.0;  ///< unit, from the partner to the car
  double normal_y = 0.0;
  double closing_speed_mps = 0.0;
  double speed_mps = 0.0;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("time_ns", m.time_ns)("car", m.car)("partner", m.partner)("x_m", m.x_m)("y_m", m.y_m)("normal_x", m.normal_x)("normal_y", m.normal_y)(
        "closing_speed_mps", m.closing_speed_mps)("speed_mps", m.speed_mps);
  }
  bool operator==(const ContactRecord&) const = default;
};

/// The truth about a simulated car: base_link, map frame; velocities in the body frame.
struct Truth {
  static constexpr std::string_view kType = "pitwall_msgs/msg/Truth";
  std::int64_t time_ns = 0;
  std::string car;
  double x_m = 0.0;
  double y_m = 0.0;
  double yaw_rad = 0.0;
  double velocity_x_mps = 0.0;
  double velocity_y_mps = 0.0;
  double yaw_rate_radps = 0.0;
  double steering_rad = 0.0;
  std::int64_t laps = 0;
  double progress_m = 0.0;
  bool touching = false;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("time_ns", m.time_ns)("car", m.car)("x_m", m.x_m)("y_m", m.y_m)("yaw_rad", m.yaw_rad)("velocity_x_mps", m.velocity_x_mps)(
        "velocity_y_mps", m.velocity_y_mps)("yaw_rate_radps", m.yaw_rate_radps)("steering_rad", m.steering_rad)("laps", m.laps)(
        "progress_m", m.progress_m)("touching", m.touching);
  }
  bool operator==(const Truth&) const = default;
};

}  // namespace pitwall::recording
