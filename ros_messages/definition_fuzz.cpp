// SPDX-License-Identifier: Apache-2.0
// Any text is a definition or an error (one with a "struct" in it is read as IDL), with or without a message behind a zero byte; a
// definition written as text reads back as itself.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/check.hpp"
#include "ros_messages/dynamic.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pitwall::ros_messages;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(input.find('\0'), input.size());
  const std::string_view text = input.substr(0, end);
  const std::string_view message = input.substr(std::min(end + 1, input.size()));
  const bool idl = text.find("struct") != std::string_view::npos;
  const bool service = text.find("---") != std::string_view::npos;
  const auto definition = parse_definition(service ? "a/srv/B_Event" : "a/msg/B", text, idl ? "ros2idl" : "ros2msg");
  if (!definition.ok()) return 0;
  const auto again = parse_definition(definition->root().name, schema_text(*definition));
  PITWALL_CHECK(again.ok(), again.error().message);
  PITWALL_CHECK(*again == *definition, schema_text(*definition), schema_text(*again));
  PITWALL_CHECK(same_type(*definition, definition->root().name, type_hash(*definition), "").ok());
  std::string json;
  std::string row;
  PITWALL_CHECK(append_json(*definition, message, json).ok() == append_csv(*definition, message, row).ok());
  (void)csv_columns(*definition);
  (void)first_stamp(*definition, message);
  return 0;
}
