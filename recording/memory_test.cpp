// SPDX-License-Identifier: Apache-2.0
// What reading costs in memory. A program of its own, since the peak is the process's.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "recording/bag_reader.hpp"
#include "recording/mcap_writer.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/test_data.hpp"

namespace pitwall::recording {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

/// The most memory that the process has had, in bytes.
std::int64_t peak() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    std::int64_t kib = 0;
    status >> kib;
    return kib * 1024;
  }
  return 0;
}

/// `chunks` chunks of 4 MiB whose messages take turns in time: message k is in chunk k modulo `chunks`.
void write_interleaved(const std::filesystem::path& path, std::uint64_t chunks) {
  auto sink = create_sink(path, false);
  REQUIRE(sink.ok());
  mcap::WriterOptions options;
  options.compression = Compression::kZstd;
  options.chunk_bytes = std::size_t{64} << 20;
  options.definitions_in_chunks = false;
  mcap::Writer writer(**sink, options);
  REQUIRE(writer.open({"ros2", "test"}).ok());
  mcap::Channel channel;
  channel.id = 1;
  channel.topic = "/a";
  channel.message_encoding = "cdr";
  REQUIRE(writer.add_channel(channel).ok());
  Buffer data(kMiB / 2);
  for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) {
    for (std::uint64_t k = 0; k < 8; ++k) {
      std::fill(data.begin(), data.end(), static_cast<std::uint8_t>(chunk));
      mcap::Message message;
      message.channel_id = 1;
      message.log_time = message.publish_time = k * chunks + chunk;
      message.data = mcap::BytesToEnd(data.data(), data.size());
      REQUIRE(writer.write(message).ok());
    }
    REQUIRE(writer.flush().ok());
  }
  REQUIRE(writer.close().ok());
}

}  // namespace

TEST_CASE("no damaged recording takes more than 256 MB") {
  const auto root = test_data("bags_damaged");
  if (!root) return;
  for (const auto& entry : std::filesystem::directory_iterator(*root)) {
    auto reader = BagReader::open(entry.path());
    if (!reader) continue;
    while (reader->next() != nullptr) continue;
  }
  MESSAGE("peak " << peak() / kMiB << " MiB");
  CHECK(peak() < 256 * kMiB);
}

TEST_CASE("a recording whose chunks all overlap, larger than the memory for them, reads in order") {
  constexpr std::uint64_t kChunks = 100;  // 400 MiB
  const TempFolder temp("memory");
  write_interleaved(temp.path() / "bag.mcap", kChunks);
  const std::int64_t before = peak();
  auto reader = BagReader::open(temp.path() / "bag.mcap");
  REQUIRE(reader.ok());
  std::int64_t k = 0;
  while (const BagMessage* message = reader->next()) {
    CHECK(message->log_time.ns == k);
    CHECK(message->data.front() == static_cast<std::uint8_t>(k % static_cast<std::int64_t>(kChunks)));
    CHECK(message->data.size() == kMiB / 2);
    ++k;
  }
  CHECK(k == 8 * static_cast<std::int64_t>(kChunks));
  CHECK_FALSE(reader->damaged());
  MESSAGE("400 MiB of overlapping chunks: " << (peak() - before) / kMiB << " MiB more");
  CHECK(peak() - before < 160 * kMiB);
}

}  // namespace pitwall::recording
