// SPDX-License-Identifier: Apache-2.0
// Any text is metadata or an error; what was read is written (as version 9, or 5 where the text's length is odd) to a text that reads
// and writes as the same again.
#include <cstdint>
#include <string_view>

#include "core/check.hpp"
#include "recording/metadata.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pitwall::recording;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto metadata = parse_metadata(text, "fuzz");
  if (!metadata) return 0;
  metadata->version = size % 2 == 0 ? 9 : 5;
  const std::string written = compose_metadata(*metadata);
  const auto again = parse_metadata(written, "again");
  PITWALL_CHECK(again.ok(), again.error().message, written);
  PITWALL_CHECK(compose_metadata(*again) == written, written);
  return 0;
}
