// SPDX-License-Identifier: Apache-2.0
// diagnostic_msgs: how a node says that it is well.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ros_messages/standard.hpp"

namespace pitwall::ros_messages {

struct KeyValue {
  static constexpr std::string_view kType = "diagnostic_msgs/msg/KeyValue";
  std::string key;
  std::string value;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("key", m.key)("value", m.value);
  }
  bool operator==(const KeyValue&) const = default;
};

struct DiagnosticStatus {
  static constexpr std::string_view kType = "diagnostic_msgs/msg/DiagnosticStatus";
  static constexpr std::array<NamedValue, 4> kConstants = {
      {{Kind::kByte, "OK", "0"}, {Kind::kByte, "WARN", "1"}, {Kind::kByte, "ERROR", "2"}, {Kind::kByte, "STALE", "3"}}};
  std::byte level{};
  std::string name;
  std::string message;
  std::string hardware_id;
  std::vector<KeyValue> values;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("level", m.level)("name", m.name)("message", m.message)("hardware_id", m.hardware_id)("values", m.values);
  }
  bool operator==(const DiagnosticStatus&) const = default;
};

struct DiagnosticArray {
  static constexpr std::string_view kType = "diagnostic_msgs/msg/DiagnosticArray";
  Header header;
  std::vector<DiagnosticStatus> status;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("header", m.header)("status", m.status);
  }
  bool operator==(const DiagnosticArray&) const = default;
};

}  // namespace pitwall::ros_messages
