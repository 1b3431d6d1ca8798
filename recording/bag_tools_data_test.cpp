// SPDX-License-Identifier: Apache-2.0
// What the program `bag` does, on recordings of others, whole and damaged.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "recording/bag_convert.hpp"
#include "recording/bag_decoder.hpp"
#include "recording/bag_diff.hpp"
#include "recording/bag_export.hpp"
#include "recording/bag_info.hpp"
#include "recording/bag_reader.hpp"
#include "ros_messages/known_types.hpp"
#include "ros_messages/test_rewritten.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/test_data.hpp"

namespace pitwall::recording {

namespace {

namespace fs = std::filesystem;

/// Every recording of the test data: folders with metadata.yaml, and the files of the others.
std::vector<fs::path> recordings(const fs::path& root) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    const fs::path& path = entry.path();
    if (path.filename() == "metadata.yaml") found.push_back(path.parent_path());
    const bool storage = path.extension() == ".mcap" || path.extension() == ".db3";
    if (storage && !fs::exists(path.parent_path() / "metadata.yaml")) found.push_back(path);
  }
  std::sort(found.begin(), found.end());
  return found;
}

BagReader open(const fs::path& path) {
  auto reader = BagReader::open(path);
  REQUIRE_MESSAGE(reader.ok(), reader.error().message);
  return *std::move(reader);
}

}  // namespace

TEST_CASE("every message of every public recording is read to its last byte by its definition") {
  const auto root = test_data("bags");
  if (!root) return;
  std::uint64_t decoded = 0;
  for (const fs::path& path : recordings(*root)) {
    BagReader reader = open(path);
    const BagInfo info = inspect(reader, path.string(), true);
    CAPTURE(path.string());
    for (const TopicInfo& topic : info.topics) {
      // The talker bag of rosbag2's own tests holds placeholders for definitions.
      if (path.string().find("sqlite3_talker") == std::string::npos)
        CHECK_MESSAGE(topic.undecodable == 0, topic.name << ": " << topic.first_error);
      const bool opaque = !topic.why_opaque.empty() && topic.count > 0;
      if (opaque) CHECK_MESSAGE(path.string().find("wrong_rmw_test") != std::string::npos, topic.name << ": " << topic.why_opaque);
      decoded += opaque ? 0 : topic.count - topic.undecodable;
    }
  }
  CHECK(decoded > 39'000);
  MESSAGE(decoded << " messages read by definition");
}

TEST_CASE("structs and definitions agree on every public MCAP recording") {
  const auto root = test_data("bags");
  if (!root) return;
  int read = 0;
  for (const fs::path& path : recordings(*root)) {
    BagReader reader = open(path);
    if (reader.storage() != "mcap") continue;
    while (const BagMessage* message = reader.next()) {
      const Topic& topic = reader.topics()[message->topic];
      if (ros_messages::known_definition(topic.type) == nullptr) continue;
      const auto value = ros_messages::rewritten(topic.type, as_text(message->data));
      CHECK_MESSAGE(value.ok(), path.string() << ": " << value.error().message);
      ++read;
    }
  }
  CHECK(read > 15'000);
}

TEST_CASE("every public recording survives sqlite3 -> mcap -> sqlite3 with nothing changed") {
  const auto root = test_data("bags");
  if (!root) return;
  const TempFolder folder("bag_round_trip");
  int index = 0;
  for (const fs::path& path : recordings(*root)) {
    CAPTURE(path.string());
    const fs::path mcap = folder.path() / (std::to_string(index) + "m");
    const fs::path sqlite = folder.path() / (std::to_string(index++) + "s");
    ConvertOptions to_sqlite;
    to_sqlite.format = StorageFormat::kSqlite3;
    const auto first = convert({path}, mcap, {});
    REQUIRE_MESSAGE(first.ok(), first.error().message);
    REQUIRE(convert({mcap}, sqlite, to_sqlite).ok());
    const auto same = diff(path, sqlite, {});
    REQUIRE(same.ok());
    CHECK_MESSAGE(same->differences.empty(), same->differences.front().topic << ": " << same->differences.front().what);
    CHECK_FALSE(open(mcap).damaged());
  }
}

TEST_CASE("a service event reads the same from both storages") {
  for (const char* name :
       {"bags/rosbag2_mcap_bag_with_topics_and_service_events", "bags/rosbag2_sqlite3_bag_with_topics_and_service_events"}) {
    const auto path = test_data(name);
    if (!path) return;
    BagReader reader = open(*path);
    std::string text;
    const ExportCounts counts = write_json_lines(reader, 100, [&](std::string_view line) { text += line; });
    CHECK(counts.written == 10);
    CHECK(counts.opaque + counts.broken == 0);
    CHECK(text.find("\"type\":\"test_msgs/srv/BasicTypes_Event\",\"message\":{\"info\":{\"event_type\":") != std::string::npos);
  }
}

TEST_CASE("recover keeps what the damaged files hold, and says that something is lost") {  // rosbag2#521, #1029, #2133
  const auto root = test_data("bags_damaged");
  if (!root) return;
  const TempFolder folder("bag_recover_data");
  const auto recovered = [&](const std::string& name, std::uint64_t messages) {
    CAPTURE(name);
    const auto result = convert({*root / name}, folder.path() / name, {});
    REQUIRE_MESSAGE(result.ok(), result.error().message);
    CHECK(result->messages == messages);
    CHECK(result->damaged());
    BagReader reader = open(folder.path() / name);
    CHECK(reader.message_count() == messages);
    CHECK(reader.findings().empty());
    const BagInfo info = inspect(reader, name, true);
    for (const TopicInfo& topic : info.topics) CHECK_MESSAGE(topic.undecodable == 0, topic.first_error);
  };
  recovered("db3_trunc_half.db3", 3149);
  recovered("db3_zero_header.db3", 6355);
  recovered("mcap_no_footer_magic.mcap", 6578);
  recovered("mcap_trunc_mid_chunk.mcap", 3968);
  recovered("mcap_trunc_zstd_chunk.mcap", 5441);
  recovered("mcap_zero_tail.mcap", 3349);
  recovered("mcap_empty.mcap", 0);
}

TEST_CASE("the rates of a real car are those of its sensors") {
  const auto path = test_data("bags/wato_f1tenth_steady_lap");
  if (!path) return;
  BagReader reader = open(*path);
  const BagInfo info = inspect(reader, path->string(), false);
  CHECK(info.messages == 6355);
  CHECK(info.clock == "wall clock; stamps are of the same clock");
  for (const TopicInfo& topic : info.topics) {
    if (topic.name != "/wheel_odom") continue;
    CHECK(topic.count == 4861);
    CHECK(*topic.rate_hz > 99.9);
    CHECK(*topic.rate_hz < 100.1);
    CHECK(topic.worst_gap->ns < 11'000'000);
    CHECK(topic.backward_stamps == 0);
    CHECK(topic.receive_minus_stamp->ns > 0);
    CHECK(topic.receive_minus_stamp->ns < 1'000'000);
  }
}

}  // namespace pitwall::recording
