// SPDX-License-Identifier: Apache-2.0
// Quality of service of a topic, with the profiles that ROS 2 uses (rmw/qos_profiles.h, rclcpp/qos.hpp).
#pragma once

#include <cstdint>
#include <string>

namespace pitwall::ros_bridge {

struct Qos {
  bool reliable = true;          ///< else best effort
  bool transient_local = false;  ///< else volatile
  std::uint32_t depth = 10;      ///< keep last; 0: keep all
  bool operator==(const Qos&) const = default;

  static constexpr Qos sensor_data() { return {.reliable = false, .transient_local = false, .depth = 5}; }
  /// What every reader of a topic that is not latched matches.
  static constexpr Qos publish() { return {}; }
  /// What every writer of a topic that is not latched matches.
  static constexpr Qos subscribe(std::uint32_t depth = 10) { return {.reliable = false, .transient_local = false, .depth = depth}; }
  /// /tf_static, /map: both sides.
  static constexpr Qos latched(std::uint32_t depth = 1) { return {.reliable = true, .transient_local = true, .depth = depth}; }
  static constexpr Qos clock() { return {.reliable = false, .transient_local = false, .depth = 1}; }
};

/// Whether a reader that asks for `reader` gets what a writer that offers `writer` sends (request against offer, DDS 1.4, 2.2.3).
constexpr bool matches(const Qos& writer, const Qos& reader) {
  return (writer.reliable || !reader.reliable) && (writer.transient_local || !reader.transient_local);
}

}  // namespace pitwall::ros_bridge
