// SPDX-License-Identifier: Apache-2.0
// What `bag convert`, `recover` and `diff` do, on recordings made here.
#include "recording/bag_convert.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files.hpp"
#include "recording/bag_diff.hpp"
#include "recording/bag_info.hpp"
#include "tests/support/bags.hpp"

namespace pitwall::recording {

namespace fs = std::filesystem;
namespace ros = ros_messages;

TEST_CASE("a recording converted to sqlite3 and back is the same recording") {
  const TempFolder folder("bag_convert");
  const fs::path path = small_bag(folder, "bag");
  ConvertOptions to_sqlite;
  to_sqlite.format = StorageFormat::kSqlite3;
  const auto there = convert({path}, folder.path() / "sqlite", to_sqlite);
  REQUIRE_MESSAGE(there.ok(), there.error().message);
  CHECK(there->messages == 11);
  CHECK_FALSE(there->damaged());
  BagReader reader = reader_at(folder.path() / "sqlite");
  CHECK(reader.storage() == "sqlite3");
  CHECK(reader.findings().empty());
  CHECK(reader.metadata()->message_count == 11);
  CHECK(reader.topics()[0].schema == ros::schema_text(ros::describe<ros::Joy>()));
  CHECK(reader.topics()[0].type_hash == ros::type_hash(ros::describe<ros::Joy>()));

  REQUIRE(convert({folder.path() / "sqlite"}, folder.path() / "back", {}).ok());
  const auto same = diff(path, folder.path() / "back", {});
  REQUIRE(same.ok());
  CHECK(same->differences.empty());
  CHECK(same->compared == 11);
}

TEST_CASE("convert filters topics, cuts a piece, and gives definitions to topics that have none") {
  const TempFolder folder("bag_filter");
  BagWriter writer = writer_at(folder.path() / "bag");
  Topic bare = topic_for<ros::Joy>("/joy");
  bare.schema.clear();
  bare.schema_encoding.clear();
  bare.type_hash.clear();
  const std::size_t joy = *writer.add_topic(bare);
  const std::size_t text = *writer.add_topic(topic_for<ros::String>("/note"));
  for (int i = 0; i < 10; ++i) {
    put(writer, joy, i * 100, joy_at(0, static_cast<float>(i)));
    put(writer, text, i * 100, ros::String{"x"});
  }
  REQUIRE(writer.close().ok());
  ConvertOptions options;
  options.read.topics = {"/joy"};
  options.read.start = Time{300};
  options.read.end = Time{500};
  const auto result = convert({folder.path() / "bag"}, folder.path() / "piece", options);
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  CHECK(result->messages == 3);
  BagReader reader = reader_at(folder.path() / "piece");
  CHECK(reader.topics().size() == 1);
  CHECK(reader.topics()[0].schema == ros::schema_text(ros::describe<ros::Joy>()));
  CHECK(reader.start()->ns == 300);
  CHECK(reader.end()->ns == 500);

  options.read.topics = {"/joi"};
  const auto wrong = convert({folder.path() / "bag"}, folder.path() / "wrong", options);
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().message.find("unknown topic '/joi'; did you mean '/joy'?") != std::string::npos);
  CHECK_FALSE(fs::exists(folder.path() / "wrong"));
}

TEST_CASE("a cut keeps what was latched before it") {  // rosbag2#1049, #1234
  const TempFolder folder("bag_latched");
  BagWriter writer = writer_at(folder.path() / "bag");
  Topic statics = topic_for<ros::TFMessage>("/tf_static");
  statics.latched = true;
  put(writer, *writer.add_topic(statics), 1, ros::TFMessage{});
  const std::size_t joy = *writer.add_topic(topic_for<ros::Joy>("/joy"));
  for (int i = 0; i < 10; ++i) put(writer, joy, 100 + i, joy_at(0, static_cast<float>(i)));
  REQUIRE(writer.close().ok());
  ConvertOptions options;
  options.read.start = Time{105};
  REQUIRE(convert({folder.path() / "bag"}, folder.path() / "cut", options).ok());
  BagReader reader = reader_at(folder.path() / "cut");
  CHECK(reader.message_count() == 6);
  const BagMessage* first = reader.next();
  REQUIRE(first != nullptr);
  CHECK(reader.topics()[first->topic].name == "/tf_static");
  CHECK(first->log_time.ns == 105);
}

TEST_CASE("merging puts the messages of all recordings in order of time") {
  const TempFolder folder("bag_merge");
  const fs::path a = small_bag(folder, "a");
  BagWriter writer = writer_at(folder.path() / "b");
  const std::size_t text = *writer.add_topic(topic_for<ros::String>("/note"));
  for (int i = 0; i < 5; ++i) put(writer, text, 1000 * kMs + i * 150 * kMs, ros::String{"b"});
  REQUIRE(writer.close().ok());
  const auto merged = convert({a, folder.path() / "b"}, folder.path() / "merged", {});
  REQUIRE_MESSAGE(merged.ok(), merged.error().message);
  CHECK(merged->messages == 16);
  BagReader reader = reader_at(folder.path() / "merged");
  std::vector<std::int64_t> times;
  std::uint64_t notes = 0;
  while (const BagMessage* message = reader.next()) {
    times.push_back(message->log_time.ns);
    notes += reader.topics()[message->topic].name == "/note" ? 1 : 0;
  }
  CHECK(times.size() == 16);
  CHECK(std::is_sorted(times.begin(), times.end()));
  CHECK(notes == 6);

  BagWriter other = writer_at(folder.path() / "c");
  put(other, *other.add_topic(topic_for<ros::Float64>("/note")), 1, ros::Float64{});
  REQUIRE(other.close().ok());
  const auto clash = convert({a, folder.path() / "c"}, folder.path() / "clash", {});
  REQUIRE_FALSE(clash.ok());
  CHECK(clash.error().message.find("/note") != std::string::npos);
  CHECK_FALSE(fs::exists(folder.path() / "clash"));
}

TEST_CASE("recovering a recording that was cut off keeps its whole messages and says that some are lost") {  // mcap#1390, rosbag2#2133
  const TempFolder folder("bag_recover");
  const fs::path path = folder.path() / "bag";
  BagWriter writer = writer_at(path);
  const std::size_t joy = *writer.add_topic(topic_for<ros::Joy>("/joy"));
  for (int i = 0; i < 100; ++i) put(writer, joy, i * 1000 * kMs, joy_at(0, static_cast<float>(i)));  // a flush each
  REQUIRE(writer.close().ok());
  const fs::path file = path / "bag_0.mcap";
  const std::string whole = *read_file(file);
  REQUIRE(write_file(file, whole.substr(0, whole.size() / 3)).ok());
  const auto recovered = convert({path}, folder.path() / "saved", {});
  REQUIRE_MESSAGE(recovered.ok(), recovered.error().message);
  CHECK(recovered->damaged());
  CHECK(recovered->messages > 20);
  CHECK(recovered->messages < 100);
  BagReader reader = reader_at(folder.path() / "saved");
  CHECK(reader.findings().empty());
  CHECK(reader.message_count() == recovered->messages);
  for (std::uint64_t i = 0; i < recovered->messages; ++i) {
    const BagMessage* message = reader.next();
    REQUIRE(message != nullptr);
    CHECK(ros::read<ros::Joy>(as_text(message->data))->axes[0] == static_cast<float>(i));
  }
}

TEST_CASE("diff names the topic, the message and the field that differ first") {
  const TempFolder folder("bag_diff");
  const fs::path a = small_bag(folder, "a");
  const fs::path b = small_bag(folder, "b", 4.5F);
  CHECK(diff(a, a, {})->differences.empty());
  const auto result = diff(a, b, {});
  REQUIRE(result.ok());
  REQUIRE(result->differences.size() == 1);
  CHECK(result->differences[0].topic == "/joy");
  CHECK(result->differences[0].what == "message 4 (at 1.400 s): axes is [4] in one, [4.5] in the other");
  DiffOptions only_notes;
  only_notes.topics = {"/note"};
  CHECK(diff(a, b, only_notes)->differences.empty());
  only_notes.topics = {"/nota"};
  CHECK(diff(a, b, only_notes).error().message.find("did you mean '/note'?") != std::string::npos);
}

TEST_CASE("diff sees other times, missing messages and missing topics; times can be left out") {
  const TempFolder folder("bag_diff_times");
  const auto make = [&](const std::string& name, std::int64_t shift, int count, bool extra) {
    BagWriter writer = writer_at(folder.path() / name);
    const std::size_t text = *writer.add_topic(topic_for<ros::String>("/note"));
    for (int i = 0; i < count; ++i) put(writer, text, 100 * i + shift, ros::String{"x"});
    if (extra) put(writer, *writer.add_topic(topic_for<ros::Float64>("/extra")), 1, ros::Float64{});
    REQUIRE(writer.close().ok());
    return folder.path() / name;
  };
  const fs::path a = make("a", 0, 5, false);
  const fs::path later = make("later", 1, 5, false);
  CHECK(diff(a, later, {})->differences[0].what == "message 0 is at 0 ns in one, at 1 ns in the other");
  DiffOptions contents;
  contents.ignore_times = true;
  CHECK(diff(a, later, contents)->differences.empty());
  CHECK(diff(a, make("more", 0, 6, false), {})->differences[0].what == "message 5 (at 0.000 s) is only in the second");
  CHECK(diff(make("extra", 0, 5, true), a, {})->differences[0].what == "only in the first");
}

TEST_CASE("an interrupted reading says so and keeps what it has") {
  const TempFolder folder("bag_interrupt");
  BagWriter writer = writer_at(folder.path() / "bag");
  const std::size_t text = *writer.add_topic(topic_for<ros::Float64>("/x"));
  for (int i = 0; i < 10'000; ++i) put(writer, text, i, ros::Float64{1.0});
  REQUIRE(writer.close().ok());
  const auto stop = [](std::uint64_t /*done*/, std::uint64_t total) {
    CHECK(total == 10'000);
    return false;
  };
  BagReader reader = reader_at(folder.path() / "bag");
  const BagInfo info = inspect(reader, "bag", false, stop);
  CHECK_FALSE(info.complete);
  CHECK(info.messages == 4096);
  const auto converted = convert({folder.path() / "bag"}, folder.path() / "part", {}, stop);
  REQUIRE(converted.ok());
  CHECK_FALSE(converted->complete);
  CHECK(reader_at(folder.path() / "part").message_count() == converted->messages);
}

TEST_CASE("sqlite3 recordings for Humble have metadata version 5 with QoS as numbers in a string") {  // rosbag2#1895
  const TempFolder folder("bag_humble");
  ConvertOptions options;
  options.format = StorageFormat::kSqlite3;
  options.write.ros_distro = "humble";
  REQUIRE(convert({small_bag(folder, "bag")}, folder.path() / "humble", options).ok());
  const std::string metadata = *read_file(folder.path() / "humble" / "metadata.yaml");
  CHECK(metadata.find("version: 5") != std::string::npos);
  BagReader reader = reader_at(folder.path() / "humble");
  CHECK(reader.metadata()->version == 5);
  CHECK(reader.message_count() == 11);
  CHECK(reader.findings().empty());
}

}  // namespace pitwall::recording
