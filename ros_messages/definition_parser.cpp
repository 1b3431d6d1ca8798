// SPDX-License-Identifier: Apache-2.0
// parse_definition: the text of a recording to a Definition. First the sections of the text, each with its fields; then
// from the root on whatever is reachable, in the order in which it is met.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/text.hpp"
#include "ros_messages/definition_sections.hpp"
#include "ros_messages/known_types.hpp"

namespace pitwall::ros_messages {

namespace detail {

bool is_identifier(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto inside = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !text.empty() && (letter(text[0]) || text[0] == '_') && std::all_of(text.begin(), text.end(), inside);
}

bool is_type_name(std::string_view text) {
  const std::vector<std::string_view> pieces = split(text, '/');
  return pieces.size() <= 3 && std::all_of(pieces.begin(), pieces.end(), is_identifier);
}

Result<std::uint64_t> parse_length(std::string_view text) {
  constexpr std::int64_t kMaxLength = 2147483647;
  const auto value = parse_int(text);
  if (!value || *value < 1 || *value > kMaxLength) return Error{"'" + std::string(text) + "' is not a length (1 to 2147483647)"};
  return static_cast<std::uint64_t>(*value);
}

Error at_line(std::string_view type, int line, const std::string& what) {
  return Error{"definition of " + std::string(type) + ", line " + std::to_string(line) + ": " + what};
}

}  // namespace detail

namespace {

using detail::at_line;
using detail::is_identifier;
using detail::is_type_name;
using detail::parse_length;
using detail::RawField;
using detail::Section;
using detail::Sections;

constexpr int kMaxDepth = 64;  // of types in types

/// The line without its comment: '#' starts one, except inside quotes that are closed again.
std::string_view without_comment(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '#') return line.substr(0, i);
    const bool opens =
        (line[i] == '"' || line[i] == '\'') && i > 0 && std::string_view(" \t=[,").find(line[i - 1]) != std::string_view::npos;
    if (!opens) continue;
    std::size_t end = i + 1;
    while (end < line.size() && line[end] != line[i]) end += line[end] == '\\' ? 2 : 1;
    if (end < line.size()) i = end;
  }
  return line;
}

bool is_delimiter(std::string_view line) { return line.size() >= 3 && line.find_first_not_of('=') == std::string_view::npos; }

std::optional<Kind> kind_of(std::string_view name) {
  for (int i = 0; i < static_cast<int>(Kind::kMessage); ++i) {
    if (kind_name(static_cast<Kind>(i)) == name) return static_cast<Kind>(i);
  }
  return std::nullopt;
}

/// "string<=22[<=5]" and the like; the name of a message type goes to `message`.
Result<FieldType> parse_type(std::string_view text, std::string& message) {
  FieldType type;
  if (const std::size_t open = text.find('['); open != std::string_view::npos) {
    if (text.back() != ']') return Error{"'" + std::string(text) + "' lacks its ']'"};
    std::string_view inside = text.substr(open + 1, text.size() - open - 2);
    text = text.substr(0, open);
    type.shape = inside.empty() ? Shape::kSequence : inside.starts_with("<=") ? Shape::kBoundedSequence : Shape::kArray;
    if (type.shape == Shape::kBoundedSequence) inside.remove_prefix(2);
    if (!inside.empty()) {
      const Result<std::uint64_t> length = parse_length(inside);
      if (!length) return length.error();
      type.length = *length;
    } else if (type.shape == Shape::kBoundedSequence) {
      return Error{"a bounded sequence lacks its length"};
    }
  }
  if (const std::size_t bound = text.find("<="); bound != std::string_view::npos) {
    const Result<std::uint64_t> limit = parse_length(text.substr(bound + 2));
    if (!limit) return limit.error();
    type.string_limit = *limit;
    text = text.substr(0, bound);
  }
  const auto kind = kind_of(text);
  type.kind = kind.value_or(Kind::kMessage);
  if (type.string_limit > 0 && type.kind != Kind::kString && type.kind != Kind::kWString) {
    return Error{"'" + std::string(text) + "' has a bound, which only strings may have"};
  }
  if (!kind) {
    if (!is_type_name(text)) return Error{"'" + std::string(text) + "' is not a type"};
    message = std::string(text);
  }
  return type;
}

/// One line with something on it: a constant or a field.
Status parse_line(std::string_view line, int number, Section& section) {
  const std::size_t space = line.find_first_of(" \t");
  std::string message;
  const Result<FieldType> type = parse_type(line.substr(0, space), message);
  if (!type) return type.error();
  if (space == std::string_view::npos) return Error{"'" + std::string(line) + "' lacks a name"};
  const std::string_view rest = trim(line.substr(space));
  const std::size_t end = std::min(rest.find_first_of(" \t="), rest.size());
  const std::string_view name = rest.substr(0, end);
  if (!is_identifier(name)) return Error{"'" + std::string(name) + "' is not a name"};
  const std::string_view value = trim(rest.substr(end));
  if (value.starts_with('=')) {
    if (type->kind == Kind::kMessage || type->shape != Shape::kSingle)
      return Error{"constant '" + std::string(name) + "' must be a number or a string"};
    section.constants.push_back({std::string(name), *type, std::string(trim(value.substr(1)))});
    return {};
  }
  const auto same = [&](const RawField& each) { return each.field.name == name; };
  if (std::any_of(section.fields.begin(), section.fields.end(), same)) return Error{"field '" + std::string(name) + "' is there twice"};
  section.fields.push_back({{std::string(name), *type, std::string(value)}, message, number});
  return {};
}

bool is_service_event(const std::string& root) { return root.find("/srv/") != std::string::npos && root.ends_with("_Event"); }

/// The event of a service whose request and response are there.
void add_event(const std::string& root, Sections& sections) {
  const std::string service = root.substr(0, root.size() - 6);
  const FieldType one_message{Kind::kMessage, Shape::kSingle, 0, 0, 0};
  const FieldType at_most_one{Kind::kMessage, Shape::kBoundedSequence, 1, 0, 0};
  sections.emplace(root, Section{{{{"info", one_message, ""}, "service_msgs/ServiceEventInfo", 0},
                                  {{"request", at_most_one, ""}, service + "_Request", 0},
                                  {{"response", at_most_one, ""}, service + "_Response", 0}},
                                 {}});
}

/// Adds the sections of a text to those that are there already (which win). A service text ("---") gives request, response, event.
Status add_sections(const std::string& root, std::string_view text, Sections& sections) {
  std::string name = root;
  const bool service = is_service_event(root);
  const std::string service_name = service ? root.substr(0, root.size() - 6) : "";
  Section section;
  const auto finish = [&] { sections.emplace(name, std::exchange(section, {})); };
  bool header = false;  // the next line names the section
  bool halves = false;  // a service
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(without_comment(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty()) continue;
    if (is_delimiter(line)) {
      if (!header) finish();
      header = true;
    } else if (header) {
      if (!line.starts_with("MSG:")) return at_line(root, number, "expected 'MSG: package/Type', found '" + std::string(line) + "'");
      const std::string_view given = trim(line.substr(4));
      if (!is_type_name(given)) return at_line(root, number, "'" + std::string(given) + "' is not a type");
      name = full_type_name(given);
      header = false;
    } else if (line == "---" && service && !halves && name == root) {
      name = service_name + "_Request";
      finish();
      name = service_name + "_Response";
      halves = true;
    } else if (const Status parsed = parse_line(line, number, section); !parsed) {
      return at_line(root, number, parsed.error().message);
    }
  }
  if (!header) finish();
  if (halves) add_event(root, sections);
  return {};
}

/// The full name of the section that `written` means inside `owner`; empty where there is none, even among our own types.
std::string resolve(const std::string& written, const std::string& owner, Sections& sections) {
  const std::string package = owner.substr(0, owner.find('/'));
  std::vector<std::string> meant;
  if (written.find('/') != std::string::npos) {
    meant = {full_type_name(written)};
  } else {
    meant = {package + "/msg/" + written};
    if (written == "Header") meant.emplace_back("std_msgs/msg/Header");
  }
  for (const std::string& name : meant) {
    if (sections.count(name) > 0) return name;
  }
  for (const std::string& name : meant) {
    const Definition* known = known_definition(name);
    if (known == nullptr) continue;
    const Status added = add_sections(name, schema_text(*known), sections);
    PITWALL_CHECK(added.ok(), name);
    return name;
  }
  return {};
}

/// Levels of types below `index`; an error where a type holds itself or they are too many.
Result<int> depth_of(const Definition& definition, std::size_t index, std::vector<int>& depths, int level) {
  if (level > kMaxDepth) return Error{"types in types deeper than " + std::to_string(kMaxDepth) + ", or a type that holds itself"};
  if (depths[index] > 0) return depths[index];
  int depth = 1;
  for (const Field& field : definition.types[index].fields) {
    if (field.type.kind != Kind::kMessage) continue;
    const Result<int> below = depth_of(definition, field.type.type, depths, level + 1);
    if (!below) return below;
    depth = std::max(depth, *below + 1);
  }
  if (level + depth > kMaxDepth + 1) return Error{"types in types deeper than " + std::to_string(kMaxDepth)};
  depths[index] = depth;
  return depth;
}

}  // namespace

Result<Definition> parse_definition(std::string_view type, std::string_view text, std::string_view encoding) {
  const bool idl = encoding == "ros2idl";
  if (!idl && encoding != "ros2msg") {
    return Error{"definition of " + std::string(type) + " is written in '" + std::string(encoding) +
                 "'; only 'ros2msg' and 'ros2idl' can be read"};
  }
  if (!is_type_name(type)) return Error{"'" + std::string(type) + "' is not the name of a type (package/msg/Type)"};
  const std::string root = full_type_name(type);
  Sections sections;
  const Status read = idl ? detail::add_idl_sections(root, text, sections) : add_sections(root, text, sections);
  if (!read) return read.error();
  if (idl && is_service_event(root)) add_event(root, sections);
  if (sections.count(root) == 0) return Error{"definition of " + std::string(type) + ": it defines other types, but not this one"};
  Definition definition;
  std::map<std::string, std::size_t> index_of;
  const auto add = [&](const std::string& name) {
    const auto [at, fresh] = index_of.emplace(name, definition.types.size());
    if (fresh) definition.types.push_back({name, {}, {}});
    return at->second;
  };
  add(root);
  for (std::size_t i = 0; i < definition.types.size(); ++i) {
    const std::string owner = definition.types[i].name;
    const Section section = sections.at(owner);
    for (const RawField& raw : section.fields) {
      Field field = raw.field;
      if (field.type.kind == Kind::kMessage) {
        const std::string name = resolve(raw.message, owner, sections);
        if (name.empty())
          return at_line(root, raw.line, "nothing defines '" + raw.message + "' (field '" + field.name + "' of " + owner + ")");
        field.type.type = add(name);
      }
      definition.types[i].fields.push_back(field);
    }
    definition.types[i].constants = section.constants;
  }
  std::vector<int> depths(definition.types.size(), 0);
  if (const Result<int> depth = depth_of(definition, 0, depths, 1); !depth) {
    return Error{"definition of " + std::string(type) + ": " + depth.error().message};
  }
  return definition;
}

}  // namespace pitwall::ros_messages
