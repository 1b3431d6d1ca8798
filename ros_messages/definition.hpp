// SPDX-License-Identifier: Apache-2.0
// What a ROS 2 message type is: its fields, and those of every type inside it. The one description from which come the
// schema text that a recording carries (`ros2msg`: the root's .msg, then each dependency behind a line of 80 '=' and
// "MSG: pkg/Type"), the type hash (REP-2016: RIHS01, SHA-256 over the JSON of the type description), and the reading of
// messages that no C++ struct knows (dynamic.hpp). Structs give one by describe<Message>() of describe.hpp; recordings
// carry one as text, read here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace pitwall::ros_messages {

enum class Kind : std::uint8_t {
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kFloat32,
  kFloat64,
  kBool,
  kByte,
  kChar,  ///< an unsigned byte on the wire
  kString,
  kWString,
  kMessage
};

/// How many of them: one, a fixed number, or as many as the wire says (with or without a limit).
enum class Shape : std::uint8_t { kSingle, kArray, kBoundedSequence, kSequence };

struct FieldType {
  Kind kind = Kind::kUint8;
  Shape shape = Shape::kSingle;
  std::uint64_t length = 0;        ///< of an array, or the limit of a bounded sequence
  std::uint64_t string_limit = 0;  ///< bytes of a bounded string; 0 where there is no bound
  std::size_t type = 0;            ///< of kMessage: index into Definition::types
  bool operator==(const FieldType&) const = default;
};

struct Field {
  std::string name;
  FieldType type;
  std::string default_value;  ///< as written, or empty
  bool operator==(const Field&) const = default;
};

struct Constant {
  std::string name;
  FieldType type;
  std::string value;  ///< as written
  bool operator==(const Constant&) const = default;
};

struct MessageType {
  std::string name;  ///< "sensor_msgs/msg/LaserScan"
  std::vector<Field> fields;
  std::vector<Constant> constants;
  bool operator==(const MessageType&) const = default;
};

/// A type and all that it needs, complete and free of cycles.
struct Definition {
  std::vector<MessageType> types;  ///< the root first, every type once
  [[nodiscard]] const MessageType& root() const { return types.front(); }
  bool operator==(const Definition&) const = default;
};

/// "sensor_msgs/LaserScan" and "sensor_msgs/msg/LaserScan" to the latter; anything else as it is.
std::string full_type_name(std::string_view name);

/// Reads the text that a recording holds for `type`; `encoding` is its schema encoding: "ros2msg", or "ros2idl" (of which constants and
/// defaults are not kept), others are an error that says so. Comments, constants, defaults, arrays, bounded strings and sequences. A
/// dependency that the text lacks is taken from our own types (known_types.hpp) where it is one of them. For a service event
/// ("pkg/srv/Name_Event") the text is that of the service. Errors name the line.
Result<Definition> parse_definition(std::string_view type, std::string_view text, std::string_view encoding = "ros2msg");

/// The schema text of a definition; parse_definition gives the definition back.
std::string schema_text(const Definition& definition);

/// "RIHS01_" and 64 digits, as ROS 2 (Iron and later) announces and records it. Constants and defaults do not count.
std::string type_hash(const Definition& definition);

/// Whether a message recorded as `type` with this hash and schema may be read as `ours`: the same name, and the same hash or the
/// same fields (the text decides: some writers get the hash of a `char` wrong). Without a text that can be read the hash
/// decides, without both the name. The error says what differs.
Status same_type(const Definition& ours, std::string_view type, std::string_view hash, std::string_view schema,
                 std::string_view encoding = "ros2msg");

/// "float64", "uint8" ... as .msg spells it; "message" for kMessage.
std::string_view kind_name(Kind kind);
/// Bytes on the wire of one number, bool, byte or char; 0 for strings and messages.
std::size_t kind_size(Kind kind);
/// "uint8[3]", "string<=22[]", "std_msgs/Header": the type as .msg spells it.
std::string spell(const Definition& definition, const FieldType& type);

}  // namespace pitwall::ros_messages
