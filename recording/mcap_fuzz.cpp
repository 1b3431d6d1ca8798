// SPDX-License-Identifier: Apache-2.0
// Any bytes are a recording or a list of findings: no crash, and messages in order of time unless a finding says otherwise.
#include <cstdint>
#include <memory>

#include "core/check.hpp"
#include "recording/byte_source.hpp"
#include "recording/storage.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pitwall::recording;
  Findings findings;
  const auto storage = open_mcap(std::make_unique<MemorySource>(Bytes(data, size)), "fuzz", findings);
  Selection all;
  all.topics.assign(storage->topics().size(), true);
  storage->select(all);
  std::uint64_t count = 0;
  std::int64_t last = INT64_MIN;
  bool in_order = true;
  Buffer copy;
  while (const BagMessage* message = storage->next()) {
    PITWALL_CHECK(message->topic < storage->topics().size());
    in_order = in_order && message->log_time.ns >= last;
    last = message->log_time.ns;
    copy.assign(message->data.begin(), message->data.end());  // reads every byte
    ++count;
  }
  PITWALL_CHECK(in_order || findings.damaged(), count);
  return 0;
}
