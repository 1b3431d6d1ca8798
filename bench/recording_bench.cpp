// SPDX-License-Identifier: Apache-2.0
// Reading a recording from the page cache, checksums on: uncompressed and zstd, scans of 4 KB and small messages. The
// reference is what no reader can do without: copying the file's bytes out of the page cache and their CRC-32.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "core/check.hpp"
#include "recording/bag_reader.hpp"
#include "recording/bag_writer.hpp"
#include "recording/byte_source.hpp"
#include "recording/compression.hpp"

namespace pitwall::bench {
namespace {

using namespace recording;
namespace fs = std::filesystem;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kBytes = 256 * kMiB;

/// A bag of about that many bytes in messages of that size, gone at the end of the program.
class Bag {
 public:
  Bag(Compression compression, std::size_t message_bytes, std::uint64_t bytes = kBytes) {
    static int count = 0;
    folder_ = fs::temp_directory_path() / ("pitwall_bench_" + std::to_string(::getpid()) + "_" + std::to_string(count++));
    WriteOptions options;
    options.compression = compression;
    auto writer = BagWriter::create(folder_, options);
    PITWALL_CHECK(writer.ok(), writer.error().message);
    Topic topic;
    topic.name = "/scan";
    topic.type = "sensor_msgs/msg/LaserScan";
    const std::size_t index = writer->add_topic(topic).value();
    Buffer data(message_bytes);
    std::uint32_t state = 1;
    for (auto& byte : data) byte = static_cast<std::uint8_t>((state = state * 1664525U + 1013904223U) >> 28U);
    for (std::uint64_t k = 0; k * message_bytes < bytes; ++k) {
      data[k % message_bytes] ^= 1;
      const Time at{static_cast<std::int64_t>(k) * 1'000'000};
      PITWALL_CHECK(writer->write(index, at, at, data).ok());
    }
    PITWALL_CHECK(writer->close().ok());
  }
  Bag(const Bag&) = delete;
  Bag& operator=(const Bag&) = delete;
  ~Bag() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  [[nodiscard]] const fs::path& folder() const { return folder_; }
  [[nodiscard]] fs::path file() const { return folder_ / (folder_.filename().string() + "_0.mcap"); }

 private:
  fs::path folder_;
};

void read(benchmark::State& state, const Bag& bag) {
  std::uint64_t bytes = 0;
  for (auto _ : state) {
    auto reader = BagReader::open(bag.folder());
    PITWALL_CHECK(reader.ok());
    while (const BagMessage* message = reader->next()) bytes += message->data.size();
    PITWALL_CHECK(!reader->damaged());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}

/// Arguments: bytes a message, MiB of them.
void BM_Read(benchmark::State& state) {
  const Bag bag(Compression::kNone, static_cast<std::size_t>(state.range(0)), static_cast<std::uint64_t>(state.range(1)) * kMiB);
  read(state, bag);
}
void BM_ReadScansZstd(benchmark::State& state) {
  static const Bag bag(Compression::kZstd, 4400);
  read(state, bag);
}
void BM_CopyAndChecksum(benchmark::State& state) {
  static const Bag bag(Compression::kNone, 4401);
  Buffer piece(std::size_t{1} << 20);
  std::uint64_t bytes = 0;
  for (auto _ : state) {
    auto source = open_source(bag.file());
    PITWALL_CHECK(source.ok());
    std::uint32_t crc = 0;
    for (std::uint64_t at = 0;;) {
      const std::size_t got = (*source)->read(at, piece);
      if (got == 0) break;
      crc = crc32(Bytes(piece).first(got), crc);
      at += got;
    }
    benchmark::DoNotOptimize(crc);
    bytes += (*source)->size();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}
void BM_WriteScans(benchmark::State& state) {
  for (auto _ : state) {
    const Bag bag(static_cast<Compression>(state.range(0)), 4400);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(kBytes) * state.iterations());
}

BENCHMARK(BM_CopyAndChecksum)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Read)->Args({120, 64})->Args({120, 1024})->Args({4400, 1024})->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ReadScansZstd)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_WriteScans)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace pitwall::bench
