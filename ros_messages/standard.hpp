// SPDX-License-Identifier: Apache-2.0
// builtin_interfaces, std_msgs, rosgraph_msgs and service_msgs, as far as Pitwall speaks them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "ros_messages/describe.hpp"

namespace pitwall::ros_messages {

/// An instant; `nanosec` counts forward from `sec`, below 1e9, also before 1970.
struct Stamp {
  static constexpr std::string_view kType = "builtin_interfaces/msg/Time";
  std::int32_t sec = 0;
  std::uint32_t nanosec = 0;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("sec", m.sec)("nanosec", m.nanosec);
  }
  bool operator==(const Stamp&) const = default;
};

/// A span, like Stamp.
struct Span {
  static constexpr std::string_view kType = "builtin_interfaces/msg/Duration";
  std::int32_t sec = 0;
  std::uint32_t nanosec = 0;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("sec", m.sec)("nanosec", m.nanosec);
  }
  bool operator==(const Span&) const = default;
};

struct Header {
  static constexpr std::string_view kType = "std_msgs/msg/Header";
  Stamp stamp;
  std::string frame_id;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("stamp", m.stamp)("frame_id", m.frame_id);
  }
  bool operator==(const Header&) const = default;
};

struct Empty {
  static constexpr std::string_view kType = "std_msgs/msg/Empty";
  template <class Self, class Visitor>
  static void fields(Self& /*m*/, Visitor& /*v*/) {}
  bool operator==(const Empty&) const = default;
};

struct String {
  static constexpr std::string_view kType = "std_msgs/msg/String";
  std::string data;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("data", m.data);
  }
  bool operator==(const String&) const = default;
};

struct Bool {
  static constexpr std::string_view kType = "std_msgs/msg/Bool";
  bool data = false;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("data", m.data);
  }
  bool operator==(const Bool&) const = default;
};

struct Int32 {
  static constexpr std::string_view kType = "std_msgs/msg/Int32";
  std::int32_t data = 0;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("data", m.data);
  }
  bool operator==(const Int32&) const = default;
};

struct Float32 {
  static constexpr std::string_view kType = "std_msgs/msg/Float32";
  float data = 0.0F;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("data", m.data);
  }
  bool operator==(const Float32&) const = default;
};

struct Float64 {
  static constexpr std::string_view kType = "std_msgs/msg/Float64";
  double data = 0.0;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("data", m.data);
  }
  bool operator==(const Float64&) const = default;
};

struct Clock {
  static constexpr std::string_view kType = "rosgraph_msgs/msg/Clock";
  Stamp clock;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("clock", m.clock);
  }
  bool operator==(const Clock&) const = default;
};

/// The head of every recorded service event.
struct ServiceEventInfo {
  static constexpr std::string_view kType = "service_msgs/msg/ServiceEventInfo";
  static constexpr std::array<NamedValue, 4> kConstants = {{{Kind::kUint8, "REQUEST_SENT", "0"},
                                                            {Kind::kUint8, "REQUEST_RECEIVED", "1"},
                                                            {Kind::kUint8, "RESPONSE_SENT", "2"},
                                                            {Kind::kUint8, "RESPONSE_RECEIVED", "3"}}};
  std::uint8_t event_type = 0;
  Stamp stamp;
  std::array<std::uint8_t, 16> client_gid{};
  std::int64_t sequence_number = 0;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("event_type", m.event_type)("stamp", m.stamp)("client_gid", m.client_gid)("sequence_number", m.sequence_number);
  }
  bool operator==(const ServiceEventInfo&) const = default;
};

}  // namespace pitwall::ros_messages
