// SPDX-License-Identifier: Apache-2.0
// Any bytes as launch.log and as events.jsonl: counts that agree with each other, never a crash.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "analysis/run_texts.hpp"
#include "core/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pitwall::analysis;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  for (const RunTexts& texts : {read_run_texts(bytes, bytes), read_run_texts({}, bytes)}) {
    std::size_t counted = texts.malformed_events;
    for (const auto& [category, n] : texts.event_counts) counted += n;
    PITWALL_CHECK(counted <= 1 + static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), '\n')), "more events than lines");
    for (const LoggedError& error : texts.errors) PITWALL_CHECK(error.count > 0 && error.text.size() <= 400, "an error without a line");
  }
  return 0;
}
