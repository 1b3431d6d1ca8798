// SPDX-License-Identifier: Apache-2.0
// Any bytes are a message or an error. The first byte picks the type, by its place among the known types' names; what reads is written
// and read again as the same bytes, and struct and definition agree on whether it reads.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/check.hpp"
#include "ros_messages/dynamic.hpp"
#include "ros_messages/known_types.hpp"
#include "ros_messages/test_rewritten.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pitwall::ros_messages;
  static const std::vector<std::string> types = known_types();
  if (size == 0 || data[0] >= types.size()) return 0;
  const std::string& type = types[data[0]];
  const Definition& definition = *known_definition(type);
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto written = rewritten(type, bytes);
  std::string json;
  const pitwall::Status dynamic = append_json(definition, bytes, json);
  PITWALL_CHECK(written.ok() == dynamic.ok(), type, (dynamic.ok() ? written.error() : dynamic.error()).message);
  std::string row;
  PITWALL_CHECK(append_csv(definition, bytes, row).ok() == written.ok(), type);
  (void)first_stamp(definition, bytes);
  if (!written) return 0;
  const auto again = rewritten(type, *written);
  PITWALL_CHECK(again.ok(), again.error().message);
  PITWALL_CHECK(*again == *written, type);
  std::string json_again;
  PITWALL_CHECK(append_json(definition, *written, json_again).ok() && json_again == json, json, json_again);
  return 0;
}
