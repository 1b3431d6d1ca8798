// SPDX-License-Identifier: Apache-2.0
// rcl_interfaces and rmw_dds_common: parameters, log lines, who is there.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ros_messages/standard.hpp"

namespace pitwall::ros_messages {

/// A line of /rosout.
struct Log {
  static constexpr std::string_view kType = "rcl_interfaces/msg/Log";
  static constexpr std::array<NamedValue, 5> kConstants = {{{Kind::kUint8, "DEBUG", "10"},
                                                            {Kind::kUint8, "INFO", "20"},
                                                            {Kind::kUint8, "WARN", "30"},
                                                            {Kind::kUint8, "ERROR", "40"},
                                                            {Kind::kUint8, "FATAL", "50"}}};
  Stamp stamp;
  std::uint8_t level = 0;
  std::string name;
  std::string msg;
  std::string file;
  std::string function;
  std::uint32_t line = 0;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("stamp", m.stamp)("level", m.level)("name", m.name)("msg", m.msg)("file", m.file)("function", m.function)("line", m.line);
  }
  bool operator==(const Log&) const = default;
};

struct ParameterValue {
  static constexpr std::string_view kType = "rcl_interfaces/msg/ParameterValue";
  std::uint8_t type = 0;  ///< which of the following holds: 1 bool ... 9 string array, 0 none
  bool bool_value = false;
  std::int64_t integer_value = 0;
  double double_value = 0.0;
  std::string string_value;
  std::vector<std::byte> byte_array_value;
  std::vector<bool> bool_array_value;
  std::vector<std::int64_t> integer_array_value;
  std::vector<double> double_array_value;
  std::vector<std::string> string_array_value;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("type", m.type)("bool_value", m.bool_value)("integer_value", m.integer_value)("double_value", m.double_value)(
        "string_value", m.string_value)("byte_array_value", m.byte_array_value)("bool_array_value", m.bool_array_value)(
        "integer_array_value", m.integer_array_value)("double_array_value", m.double_array_value)("string_array_value",
                                                                                                  m.string_array_value);
  }
  bool operator==(const ParameterValue&) const = default;
};

struct Parameter {
  static constexpr std::string_view kType = "rcl_interfaces/msg/Parameter";
  std::string name;
  ParameterValue value;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("name", m.name)("value", m.value);
  }
  bool operator==(const Parameter&) const = default;
};

struct ParameterEvent {
  static constexpr std::string_view kType = "rcl_interfaces/msg/ParameterEvent";
  Stamp stamp;
  std::string node;
  std::vector<Parameter> new_parameters;
  std::vector<Parameter> changed_parameters;
  std::vector<Parameter> deleted_parameters;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("stamp", m.stamp)("node", m.node)("new_parameters", m.new_parameters)("changed_parameters", m.changed_parameters)(
        "deleted_parameters", m.deleted_parameters);
  }
  bool operator==(const ParameterEvent&) const = default;
};

/// A DDS GUID (16 bytes since Iron; 24 before).
struct Gid {
  static constexpr std::string_view kType = "rmw_dds_common/msg/Gid";
  std::array<std::uint8_t, 16> data{};
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("data", m.data);
  }
  bool operator==(const Gid&) const = default;
};

struct NodeEntitiesInfo {
  static constexpr std::string_view kType = "rmw_dds_common/msg/NodeEntitiesInfo";
  BoundedString<256> node_namespace;
  BoundedString<256> node_name;
  std::vector<Gid> reader_gid_seq;
  std::vector<Gid> writer_gid_seq;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("node_namespace", m.node_namespace)("node_name", m.node_name)("reader_gid_seq", m.reader_gid_seq)("writer_gid_seq", m.writer_gid_seq);
  }
  bool operator==(const NodeEntitiesInfo&) const = default;
};

/// What a process tells the ROS graph about its nodes.
struct ParticipantEntitiesInfo {
  static constexpr std::string_view kType = "rmw_dds_common/msg/ParticipantEntitiesInfo";
  Gid gid;
  std::vector<NodeEntitiesInfo> node_entities_info_seq;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("gid", m.gid)("node_entities_info_seq", m.node_entities_info_seq);
  }
  bool operator==(const ParticipantEntitiesInfo&) const = default;
};

}  // namespace pitwall::ros_messages
