// SPDX-License-Identifier: Apache-2.0
// Recordings larger than the memory that may be used: every operation of `bag` on 1.2 GB, in a process of its own whose address space is
// limited to 192 MiB.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>

#include "recording/bag_convert.hpp"
#include "recording/bag_diff.hpp"
#include "recording/bag_export.hpp"
#include "recording/bag_info.hpp"
#include "tests/support/bags.hpp"

namespace pitwall::recording {

namespace {

namespace fs = std::filesystem;
namespace ros = ros_messages;

constexpr rlim_t kMostBytes = rlim_t{192} << 20;
constexpr std::int64_t kScans = 220'000;
constexpr std::int64_t kImuPerScan = 4;
constexpr std::uint64_t kMessages = kScans * (1 + kImuPerScan) + 1;

/// An hour and a half of scans of 1081 beams at 40 Hz, an IMU, and a map that is latched: 1.2 GB uncompressed.
void write_large(const fs::path& folder) {
  WriteOptions uncompressed;
  uncompressed.compression = Compression::kNone;
  auto created = BagWriter::create(folder, uncompressed);
  REQUIRE(created.ok());
  BagWriter writer = *std::move(created);
  const std::size_t scans = *writer.add_topic(topic_for<ros::LaserScan>("/scan"));
  const std::size_t imus = *writer.add_topic(topic_for<ros::Imu>("/imu"));
  const std::size_t maps = *writer.add_topic(topic_for<ros::OccupancyGrid>("/map", true));
  ros::OccupancyGrid map;
  map.data.assign(4'000'000, 0);
  put(writer, maps, 0, map);
  ros::LaserScan scan;
  ros::Imu imu;
  scan.ranges.assign(1081, 1.0F);
  for (std::int64_t k = 0; k < kScans; ++k) {
    const std::int64_t now = k * 25 * kMs;
    scan.header.stamp = {static_cast<std::int32_t>(k / 40), static_cast<std::uint32_t>(k % 40 * 25 * kMs)};
    scan.ranges[static_cast<std::size_t>(k % 1081)] = static_cast<float>(k % 64);
    put(writer, scans, now, scan);
    for (std::int64_t i = 0; i < kImuPerScan; ++i) {
      imu.linear_acceleration.x = static_cast<double>(k % 16);
      put(writer, imus, now + i * 5 * kMs, imu);
    }
  }
  REQUIRE(writer.close().ok());
}

/// Does the work in a process that may have 192 MiB of address space; its peak of resident memory in MiB, or -1 where it failed.
std::int64_t peak_of(const std::function<bool()>& work) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit limit{kMostBytes, kMostBytes};
    ::_exit(::setrlimit(RLIMIT_AS, &limit) == 0 && work() ? 0 : 1);
  }
  int status = 0;
  rusage used{};
  REQUIRE(::wait4(child, &status, 0, &used) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? used.ru_maxrss / 1024 : -1;
}

void check(const std::string& what, const std::function<bool()>& work) {
  const std::int64_t peak = peak_of(work);
  MESSAGE(what << ": " << peak << " MiB");
  CHECK_MESSAGE(peak > 0, what);
}

bool inspects(const fs::path& path, bool decode, std::uint64_t messages) {
  auto reader = BagReader::open(path);
  if (!reader) return false;
  const BagInfo info = inspect(*reader, path.string(), decode);
  std::uint64_t sum = 0;
  for (const TopicInfo& topic : info.topics) sum += topic.count;
  return sum == messages;
}

bool prints(const fs::path& path, std::uint64_t messages) {
  auto reader = BagReader::open(path);
  if (!reader) return false;
  std::uint64_t bytes = 0;
  const ExportCounts counts = write_json_lines(*reader, UINT64_MAX, [&](std::string_view line) { bytes += line.size(); });
  return counts.written == messages && counts.broken == 0 && bytes > messages;
}

bool converts(const std::vector<fs::path>& from, const fs::path& to, StorageFormat format, Compression compression,
              std::uint64_t messages) {
  ConvertOptions options;
  options.format = format;
  options.write.compression = compression;
  const auto result = convert(from, to, options);
  return result.ok() && result->messages == messages;
}

}  // namespace

TEST_CASE("info, check, cat, export, convert, merge, diff and recover of 1.2 GB stay within 192 MiB of address space") {
  const TempFolder temp("large");
  const fs::path bag = temp.path() / "bag";
  write_large(bag);
  const fs::path file = bag / "bag_0.mcap";
  MESSAGE((fs::file_size(file) / 1'000'000) << " MB in one file");
  REQUIRE(fs::file_size(file) > 1'000'000'000);

  check("info", [&] { return inspects(bag, false, kMessages); });
  check("check", [&] { return inspects(bag, true, kMessages); });
  check("cat", [&] { return prints(bag, kMessages); });
  check("export of /imu", [&] {
    ReadOptions imu;
    imu.topics = {"/imu"};
    auto reader = BagReader::open(bag, imu);
    ExportCounts counts;
    return reader.ok() && export_csv(*reader, temp.path() / "csv", counts).ok() && counts.written == kScans * kImuPerScan;
  });
  check("convert to sqlite3", [&] { return converts({bag}, temp.path() / "db3", StorageFormat::kSqlite3, Compression::kNone, kMessages); });
  check("info of sqlite3", [&] { return inspects(temp.path() / "db3", true, kMessages); });
  check("diff of the two", [&] {
    const auto same = diff(bag, temp.path() / "db3", {});
    return same.ok() && same->differences.empty();
  });
  check("merge of the two to zstd", [&] {
    return converts({bag, temp.path() / "db3"}, temp.path() / "merged", StorageFormat::kMcap, Compression::kZstd, 2 * kMessages);
  });
  check("info of zstd", [&] { return inspects(temp.path() / "merged", false, 2 * kMessages); });
  fs::remove_all(temp.path() / "merged");

  // Without its summary, and without the header of the database: the slow ways of reading.
  fs::remove(bag / "metadata.yaml");
  fs::resize_file(file, fs::file_size(file) - 1'000'000);
  check("recover of an MCAP file that was cut off", [&] {
    ConvertOptions options;
    const auto result = convert({file}, temp.path() / "saved", options);
    return result.ok() && result->damaged() && result->messages > kMessages - 2000 && result->messages < kMessages;
  });
  fs::remove_all(temp.path() / "saved");
  fs::resize_file(temp.path() / "db3" / "db3_0.db3", fs::file_size(temp.path() / "db3" / "db3_0.db3") / 4 * 3);
  check("check of a database that was cut off", [&] {
    auto reader = BagReader::open(temp.path() / "db3");
    std::uint64_t count = 0;
    while (reader.ok() && reader->next() != nullptr) ++count;
    return reader.ok() && reader->damaged() && count > kMessages / 2;
  });
}

}  // namespace pitwall::recording
