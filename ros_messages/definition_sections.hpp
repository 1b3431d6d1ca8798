// SPDX-License-Identifier: Apache-2.0
// Between the text of a definition (.msg or IDL) and a Definition: each type that the text holds, its fields' types still by name.
// Internal to parse_definition.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "ros_messages/definition.hpp"

namespace pitwall::ros_messages::detail {

/// A field before its type is looked up.
struct RawField {
  Field field;
  std::string message;  ///< the type's name as written, of kMessage: "Type", "package/Type" or "package/msg/Type"
  int line = 0;
};

struct Section {
  std::vector<RawField> fields;
  std::vector<Constant> constants;
};

/// By full name.
using Sections = std::map<std::string, Section>;

bool is_identifier(std::string_view text);
bool is_type_name(std::string_view text);
/// 1 to 2147483647: of arrays, and bounds.
Result<std::uint64_t> parse_length(std::string_view text);
/// "definition of TYPE, line N: WHAT".
Error at_line(std::string_view type, int line, const std::string& what);

/// Adds the structs of an IDL text (`ros2idl`; for errors `root` names it) to those that are there already, which win. Constants and
/// defaults are not kept.
Status add_idl_sections(const std::string& root, std::string_view text, Sections& sections);

}  // namespace pitwall::ros_messages::detail
