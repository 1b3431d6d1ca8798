// SPDX-License-Identifier: Apache-2.0
#include "ros_messages/definition.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "core/sha256.hpp"

namespace pitwall::ros_messages {

namespace {

struct KindFacts {
  std::string_view name;
  std::size_t size;
  int type_id;  ///< type_description_interfaces/msg/FieldType
};
// In the order of Kind. A char of .msg is the uint8 of IDL.
constexpr std::array<KindFacts, 16> kFacts = {{{"int8", 1, 2},
                                               {"uint8", 1, 3},
                                               {"int16", 2, 4},
                                               {"uint16", 2, 5},
                                               {"int32", 4, 6},
                                               {"uint32", 4, 7},
                                               {"int64", 8, 8},
                                               {"uint64", 8, 9},
                                               {"float32", 4, 10},
                                               {"float64", 8, 11},
                                               {"bool", 1, 15},
                                               {"byte", 1, 16},
                                               {"char", 1, 3},
                                               {"string", 0, 17},
                                               {"wstring", 0, 18},
                                               {"message", 0, 1}}};
const KindFacts& facts(Kind kind) { return kFacts[static_cast<std::size_t>(kind)]; }

constexpr std::string_view kDelimiter = "================================================================================";

/// "std_msgs/msg/Header" as .msg files spell it: "std_msgs/Header".
std::string short_type_name(const std::string& name) {
  const std::size_t at = name.find("/msg/");
  return at == std::string::npos ? name : name.substr(0, at) + name.substr(at + 4);
}

std::string type_description(const Definition& definition, const MessageType& type) {
  const auto field = [&](std::string_view name, const FieldType& field_type) {
    int id = facts(field_type.kind).type_id;
    if (field_type.string_limit > 0) id += 4;  // STRING 17 -> BOUNDED_STRING 21, WSTRING 18 -> 22
    id += std::array{0, 48, 96, 144}[static_cast<std::size_t>(field_type.shape)];
    return R"({"name": ")" + std::string(name) + R"(", "type": {"type_id": )" + std::to_string(id) + R"(, "capacity": )" +
           std::to_string(field_type.length) + R"(, "string_capacity": )" + std::to_string(field_type.string_limit) +
           R"(, "nested_type_name": ")" + (field_type.kind == Kind::kMessage ? definition.types[field_type.type].name : "") + R"("}})";
  };
  std::string text = R"({"type_name": ")" + type.name + R"(", "fields": [)";
  for (const Field& each : type.fields) text += (&each == type.fields.data() ? "" : ", ") + field(each.name, each.type);
  if (type.fields.empty()) text += field("structure_needs_at_least_one_member", {});
  return text + "]}";
}

void append_type(std::string& text, const Definition& definition, const MessageType& type) {
  for (const Constant& each : type.constants) text += spell(definition, each.type) + " " + each.name + "=" + each.value + "\n";
  for (const Field& each : type.fields) {
    text += spell(definition, each.type) + " " + each.name + (each.default_value.empty() ? "" : " " + each.default_value) + "\n";
  }
}

}  // namespace

std::string_view kind_name(Kind kind) { return facts(kind).name; }
std::size_t kind_size(Kind kind) { return facts(kind).size; }

std::string full_type_name(std::string_view name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos || name.find('/', slash + 1) != std::string_view::npos) return std::string(name);
  return std::string(name.substr(0, slash)) + "/msg" + std::string(name.substr(slash));
}

std::string spell(const Definition& definition, const FieldType& type) {
  std::string text = type.kind == Kind::kMessage ? short_type_name(definition.types[type.type].name) : std::string(kind_name(type.kind));
  if (type.string_limit > 0) text += "<=" + std::to_string(type.string_limit);
  switch (type.shape) {
    case Shape::kSingle:
      return text;
    case Shape::kArray:
      return text + "[" + std::to_string(type.length) + "]";
    case Shape::kBoundedSequence:
      return text + "[<=" + std::to_string(type.length) + "]";
    case Shape::kSequence:
      break;
  }
  return text + "[]";
}

std::string schema_text(const Definition& definition) {
  std::string text;
  for (const MessageType& type : definition.types) {
    if (&type != &definition.root()) text += std::string(kDelimiter) + "\nMSG: " + short_type_name(type.name) + "\n";
    append_type(text, definition, type);
  }
  return text;
}

std::string type_hash(const Definition& definition) {
  std::map<std::string, const MessageType*> others;  // referenced types are sorted by name
  for (const MessageType& type : definition.types) {
    if (&type != &definition.root()) others.emplace(type.name, &type);
  }
  std::string text =
      R"({"type_description": )" + type_description(definition, definition.root()) + R"(, "referenced_type_descriptions": [)";
  bool first = true;
  for (const auto& [name, type] : others) {
    text += (std::exchange(first, false) ? "" : ", ") + type_description(definition, *type);
  }
  return "RIHS01_" + sha256_hex(text + "]}");
}

namespace {

bool usable_hash(std::string_view hash) {
  return hash.size() == 71 && hash.starts_with("RIHS01_") && hash.substr(7).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// "header: std_msgs/Header, ranges: float32[]": one type, in words.
std::string in_words(const Definition& definition, const MessageType& type) {
  std::string text;
  for (const Field& field : type.fields) text += (text.empty() ? "" : ", ") + field.name + ": " + spell(definition, field.type);
  return type.name + " {" + text + "}";
}

}  // namespace

Status same_type(const Definition& ours, std::string_view type, std::string_view hash, std::string_view schema, std::string_view encoding) {
  if (full_type_name(type) != ours.root().name) return Error{"recorded as " + std::string(type) + ", wanted " + ours.root().name};
  const std::string our_hash = type_hash(ours);
  if (hash == our_hash) return {};
  if (schema.empty() || (encoding != "ros2msg" && encoding != "ros2idl")) {
    if (!usable_hash(hash)) return {};
    return Error{std::string(type) + " has the type hash " + std::string(hash) + ", ours is " + our_hash};
  }
  const Result<Definition> recorded = parse_definition(type, schema, encoding);
  if (!recorded) return recorded.error();
  if (type_hash(*recorded) == our_hash) return {};
  for (const MessageType& theirs : recorded->types) {
    const auto mine = std::find_if(ours.types.begin(), ours.types.end(), [&](const MessageType& each) { return each.name == theirs.name; });
    const std::string their_words = in_words(*recorded, theirs);
    if (mine == ours.types.end())
      return Error{"the recorded definition of " + std::string(type) + " holds " + their_words + ", ours does not"};
    const std::string our_words = in_words(ours, *mine);
    if (their_words != our_words) return Error{"the recorded definition has " + their_words + ", ours " + our_words};
  }
  return Error{"the recorded definition of " + std::string(type) + " lacks types that ours has"};
}

}  // namespace pitwall::ros_messages
