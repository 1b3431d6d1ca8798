// SPDX-License-Identifier: Apache-2.0
// Any bytes as a damaged database, their second half also as its write-ahead log: no crash, every row that is found can be
// read, rows in order.
#include <cstdint>
#include <memory>

#include "core/check.hpp"
#include "recording/sqlite_pages.hpp"
#include "recording/wal_source.hpp"

namespace {

void walk(pitwall::recording::ByteSource& source) {
  using namespace pitwall::recording;
  PageWalker walker(source);
  walker.walk();
  Buffer data;
  std::int64_t last = INT64_MIN;
  for (const SalvagedRow& row : walker.rows()) {
    PITWALL_CHECK(row.timestamp_ns >= last);
    last = row.timestamp_ns;
    PITWALL_CHECK(walker.read_data(row, data), row.id);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pitwall::recording;
  const Bytes all(data, size);
  MemorySource source(all);
  walk(source);
  WalSource both(std::make_unique<MemorySource>(all.first(size / 2)), std::make_unique<MemorySource>(all.subspan(size / 2)));
  walk(both);
  return 0;
}
