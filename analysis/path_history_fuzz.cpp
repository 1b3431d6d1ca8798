// SPDX-License-Identifier: Apache-2.0
// Any bytes as a history of path_metrics: an error or lines that read back as written, never a crash.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analysis/path_report.hpp"
#include "core/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pitwall::analysis;
  const auto lines = parse_history(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  if (!lines) return 0;
  const auto again = parse_history(history_text(*lines), "again");
  PITWALL_CHECK(again.ok() && again->size() == lines->size(), "a history does not read back");
  return 0;
}
