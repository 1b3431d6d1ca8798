// SPDX-License-Identifier: Apache-2.0
// What the program `bag` does, on recordings made here.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "core/files.hpp"
#include "recording/bag_convert.hpp"
#include "recording/bag_decoder.hpp"
#include "recording/bag_diff.hpp"
#include "recording/bag_export.hpp"
#include "recording/bag_info.hpp"
#include "recording/bag_reader.hpp"
#include "recording/bag_writer.hpp"
#include "recording/sqlite_writer.hpp"
#include "ros_messages/known_types.hpp"
#include "tests/support/temp_folder.hpp"

namespace pitwall::recording {

namespace {

namespace fs = std::filesystem;
namespace ros = ros_messages;

constexpr std::int64_t kMs = 1'000'000;
constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

template <class Message>
Topic topic_of(const std::string& name) {
  Topic topic;
  topic.name = name;
  topic.type = Message::kType;
  topic.schema_encoding = "ros2msg";
  topic.schema = ros::schema_text(ros::describe<Message>());
  topic.type_hash = ros::type_hash(ros::describe<Message>());
  return topic;
}

BagWriter writer_at(const fs::path& folder) {
  auto writer = BagWriter::create(folder);
  REQUIRE_MESSAGE(writer.ok(), writer.error().message);
  return *std::move(writer);
}

BagReader reader_at(const fs::path& path, const ReadOptions& options = {}) {
  auto reader = BagReader::open(path, options);
  REQUIRE_MESSAGE(reader.ok(), reader.error().message);
  return *std::move(reader);
}

template <class Message>
void put(BagWriter& writer, std::size_t topic, std::int64_t time_ns, const Message& message) {
  const std::string bytes = ros::write(message);
  REQUIRE(writer.write(topic, {time_ns}, {time_ns}, as_bytes(bytes)).ok());
}

ros::Joy joy_at(std::int64_t stamp_ns, float axis) {
  ros::Joy joy;
  joy.header.stamp = {static_cast<std::int32_t>(stamp_ns / 1'000'000'000), static_cast<std::uint32_t>(stamp_ns % 1'000'000'000)};
  joy.axes = {axis};
  return joy;
}

/// Ten joy messages 100 ms apart from 1 s on, and a text in the middle.
fs::path small_bag(const TempFolder& folder, const std::string& name, float fourth = 4.0F) {
  const fs::path path = folder.path() / name;
  BagWriter writer = writer_at(path);
  const std::size_t joy = *writer.add_topic(topic_of<ros::Joy>("/joy"));
  const std::size_t text = *writer.add_topic(topic_of<ros::String>("/note"));
  for (int i = 0; i < 10; ++i) {
    const std::int64_t time = 1000 * kMs + i * 100 * kMs;
    put(writer, joy, time, joy_at(time - 2 * kMs, i == 4 ? fourth : static_cast<float>(i)));
    if (i == 5) put(writer, text, time + 1, ros::String{"a, \"b\"\n"});
  }
  REQUIRE(writer.close().ok());
  return path;
}

const TopicInfo& topic_info(const BagInfo& info, const std::string& name) {
  const auto at = std::find_if(info.topics.begin(), info.topics.end(), [&](const TopicInfo& each) { return each.name == name; });
  REQUIRE(at != info.topics.end());
  return *at;
}

std::string lines(BagReader& reader, std::uint64_t limit = kAll) {
  std::string text;
  write_json_lines(reader, limit, [&](std::string_view line) { text += line; });
  return text;
}

}  // namespace

TEST_CASE("info counts, and measures rate, worst gap, jitter, lateness and stamps that go back") {
  const TempFolder folder("bag_info");
  const fs::path path = folder.path() / "bag";
  BagWriter writer = writer_at(path);
  const std::size_t joy = *writer.add_topic(topic_of<ros::Joy>("/joy"));
  // 21 messages 100 ms apart, but the last comes 500 ms late; each 3 ms after its stamp; one stamp goes back, one is 0.
  for (int i = 0; i < 21; ++i) {
    const std::int64_t time = 1000 * kMs + i * 100 * kMs + (i == 20 ? 500 * kMs : 0);
    const std::int64_t stamp = i == 7 ? time - 203 * kMs : time - 3 * kMs;
    put(writer, joy, time, joy_at(i == 3 ? 0 : stamp, 0.0F));
  }
  writer.count_dropped(joy, 5);
  REQUIRE(writer.close().ok());

  BagReader reader = reader_at(path);
  const BagInfo info = inspect(reader, path.string(), true);
  const TopicInfo& topic = topic_info(info, "/joy");
  CHECK(info.messages == 21);
  CHECK(topic.count == 21);
  CHECK(topic.bytes == 21 * ros::write(joy_at(0, 0.0F)).size());
  CHECK(*topic.rate_hz == doctest::Approx(20.0 / 2.5));
  CHECK(topic.worst_gap->ns == 600 * kMs);
  CHECK(topic.worst_gap_at.ns == 1000 * kMs + 1900 * kMs);
  CHECK(topic.jitter->ns == 0);  // 19 of 20 intervals are the median
  CHECK(topic.receive_minus_stamp->ns == 3 * kMs);
  CHECK(topic.backward_stamps == 1);
  CHECK(topic.zero_stamps == 1);
  CHECK(topic.stamped == 20);
  CHECK(topic.undecodable == 0);
  CHECK(topic.dropped == 5);
  CHECK(info.clock == "time since a start (simulation or uptime); stamps are of the same clock");
  CHECK(info_text(info).find("/joy   sensor_msgs/msg/Joy        21      8.00     600 ms       0 us           3 ms         1") !=
        std::string::npos);
  CHECK(info_json(info).find("\"worst_gap_ns\": 600000000") != std::string::npos);
}

TEST_CASE("info says where log times, stamps and publish times are of different clocks") {  // rosbag2#2023
  const TempFolder folder("bag_clocks");
  const std::int64_t now = 1'764'550'000'000'000'000;
  BagWriter writer = writer_at(folder.path() / "bag");
  const std::size_t joy = *writer.add_topic(topic_of<ros::Joy>("/joy"));
  const std::size_t clock = *writer.add_topic(topic_of<ros::Clock>("/clock"));
  const std::string message = ros::write(joy_at(5000 * kMs, 0.0F));
  REQUIRE(writer.write(joy, {now}, {6000 * kMs}, as_bytes(message)).ok());
  REQUIRE(writer.write(clock, {now}, {6000 * kMs}, as_bytes(ros::write(ros::Clock{{5, 0}}))).ok());
  REQUIRE(writer.close().ok());
  BagReader reader = reader_at(folder.path() / "bag");
  const std::string text = inspect(reader, "bag", false).clock;
  CHECK(text.find("wall clock, with a simulated one on a topic of Clock messages; stamps are of another clock, ") == 0);
  CHECK(text.find("; publish times are of another clock, ") != std::string::npos);
}

TEST_CASE("times read as people write them") {
  CHECK(time_text({1'750'625'122'234'000'000}) == "2025-06-22 20:45:22.234 UTC");
  CHECK(time_text({1'709'164'800'000'000'000}) == "2024-02-29 00:00:00.000 UTC");
  CHECK(time_text({1'500'000'000}) == "1.500 s");
  CHECK(duration_text({1'500}) == "1.5 us");
  CHECK(duration_text({-25 * kMs}) == "-25 ms");
  CHECK(duration_text({12'340 * kMs}) == "12.3 s");
  CHECK(duration_text({7200'000 * kMs}) == "7200 s");
  CHECK(duration_text({90'000'000 * kMs}) == "25.0 h");
  CHECK(duration_text({864'000'000 * kMs}) == "10.0 days");
}

TEST_CASE("quantiles are exact while they fit, and of every so manieth value beyond") {
  SampledQuantiles few;
  for (int i = 100; i > 0; --i) few.add(i);
  CHECK(*few.quantile(0.0) == 1);
  CHECK(*few.quantile(0.5) == 51);
  CHECK(*few.quantile(1.0) == 100);
  CHECK_FALSE(SampledQuantiles().quantile(0.5));
  SampledQuantiles many;
  for (int i = 0; i < 1'000'000; ++i) many.add(i);
  CHECK(many.values().size() <= (1U << 17U));
  CHECK(std::abs(*many.quantile(0.5) - 500'000) < 100);
  CHECK(std::abs(*many.quantile(0.95) - 950'000) < 100);
}

TEST_CASE("check finds messages that are not what their type says; cat gives their bytes and goes on") {
  const TempFolder folder("bag_check");
  BagWriter writer = writer_at(folder.path() / "bag");
  const std::size_t joy = *writer.add_topic(topic_of<ros::Joy>("/joy"));
  Topic unknown;
  unknown.name = "/odd";
  unknown.type = "odd_msgs/msg/Odd";
  const std::size_t odd = *writer.add_topic(unknown);
  put(writer, joy, 10, joy_at(1, 2.0F));
  REQUIRE(writer.write(joy, {11}, {11}, as_bytes(std::string_view("\0\1\0\0\1", 5))).ok());
  REQUIRE(writer.write(odd, {12}, {12}, as_bytes(std::string_view("\0\1\0\0\xab", 5))).ok());
  put(writer, joy, 13, joy_at(1, 3.0F));
  REQUIRE(writer.close().ok());

  BagReader reader = reader_at(folder.path() / "bag");
  const BagInfo info = inspect(reader, "bag", true);
  CHECK(topic_info(info, "/joy").undecodable == 1);
  CHECK(topic_info(info, "/joy").first_error.find("sensor_msgs/msg/Joy: header.stamp.sec: 1 value of 4 bytes") == 0);
  CHECK(topic_info(info, "/odd").why_opaque == "odd_msgs/msg/Odd is not defined in the recording, and is none of our own types");

  reader.rewind();
  std::string text;
  const ExportCounts counts = write_json_lines(reader, kAll, [&](std::string_view line) { text += line; });
  CHECK(counts.written == 4);
  CHECK(counts.broken == 1);
  CHECK(counts.opaque == 1);
  CHECK(text.find("{\"log_time\":11,\"topic\":\"/joy\",\"type\":\"sensor_msgs/msg/Joy\",\"message\":null,\"error\":\"sensor_msgs/msg/Joy: "
                  "header.stamp") != std::string::npos);
  CHECK(text.find("\"bytes\":\"00010000ab\"}\n") != std::string::npos);
  CHECK(text.ends_with("\"axes\":[3],\"buttons\":[]}}\n"));
}

TEST_CASE("a topic without a definition is read as one of our own types, with one in IDL likewise") {  // mcap#709, PlotJuggler#851
  Topic topic;
  topic.name = "/joy";
  topic.type = "sensor_msgs/msg/Joy";
  CHECK(definition_of(topic).ok());
  topic.schema_encoding = "ros2idl";
  topic.schema = "module sensor_msgs {};";
  CHECK(*definition_of(topic) == ros::describe<ros::Joy>());
  topic.type = "odd_msgs/msg/Odd";
  CHECK(definition_of(topic).error().message.find("'ros2idl'; only 'ros2msg' can be read") != std::string::npos);
  topic.encoding = "json";
  CHECK(definition_of(topic).error().message == "odd_msgs/msg/Odd in encoding 'json'; only 'cdr' is read");
}

TEST_CASE("cat and export give every message; a limit ends cat") {
  const TempFolder folder("bag_cat");
  const fs::path path = small_bag(folder, "bag");
  BagReader reader = reader_at(path);
  const std::string all = lines(reader);
  CHECK(std::count(all.begin(), all.end(), '\n') == 11);
  CHECK(all.find("\"topic\":\"/note\",\"type\":\"std_msgs/msg/String\",\"message\":{\"data\":\"a, \\\"b\\\"\\n\"}}\n") !=
        std::string::npos);
  reader.rewind();
  const std::string two = lines(reader, 2);
  CHECK(std::count(two.begin(), two.end(), '\n') == 2);

  reader.rewind();
  ExportCounts counts;
  const auto files = export_csv(reader, folder.path() / "csv", counts);
  REQUIRE(files.ok());
  REQUIRE(files->size() == 2);
  CHECK(counts.written == 11);
  CHECK(*read_file(folder.path() / "csv" / "note.csv") == "log_time_ns,data\n1500000001,\"a, \"\"b\"\"\n\"\n");
  const std::string joy = *read_file(folder.path() / "csv" / "joy.csv");
  CHECK(
      joy.starts_with("log_time_ns,header.stamp.sec,header.stamp.nanosec,header.frame_id,axes,buttons\n1000000000,0,998000000,,[0],[]\n"));
  CHECK(std::count(joy.begin(), joy.end(), '\n') == 11);
  CHECK_FALSE(fs::exists(folder.path() / "csv" / "joy.csv.part"));
}

TEST_CASE("topics whose names make the same file name have files of their own") {
  const TempFolder folder("bag_names");
  BagWriter writer = writer_at(folder.path() / "bag");
  for (const char* name : {"/a/b", "/a_b", "a b", "/"}) put(writer, *writer.add_topic(topic_of<ros::Float64>(name)), 1, ros::Float64{1.0});
  REQUIRE(writer.close().ok());
  BagReader reader = reader_at(folder.path() / "bag");
  ExportCounts counts;
  const auto files = export_csv(reader, folder.path() / "csv", counts);
  REQUIRE(files.ok());
  std::vector<std::string> names;
  for (const CsvFile& file : *files) names.push_back(file.path.filename().string());
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"a_b.csv", "a_b_2.csv", "a_b_3.csv", "topic.csv"});
}

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
  Topic bare = topic_of<ros::Joy>("/joy");
  bare.schema.clear();
  bare.schema_encoding.clear();
  bare.type_hash.clear();
  const std::size_t joy = *writer.add_topic(bare);
  const std::size_t text = *writer.add_topic(topic_of<ros::String>("/note"));
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
  Topic statics = topic_of<ros::TFMessage>("/tf_static");
  statics.latched = true;
  put(writer, *writer.add_topic(statics), 1, ros::TFMessage{});
  const std::size_t joy = *writer.add_topic(topic_of<ros::Joy>("/joy"));
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
  const std::size_t text = *writer.add_topic(topic_of<ros::String>("/note"));
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
  put(other, *other.add_topic(topic_of<ros::Float64>("/note")), 1, ros::Float64{});
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
  const std::size_t joy = *writer.add_topic(topic_of<ros::Joy>("/joy"));
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
    const std::size_t text = *writer.add_topic(topic_of<ros::String>("/note"));
    for (int i = 0; i < count; ++i) put(writer, text, 100 * i + shift, ros::String{"x"});
    if (extra) put(writer, *writer.add_topic(topic_of<ros::Float64>("/extra")), 1, ros::Float64{});
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
  const std::size_t text = *writer.add_topic(topic_of<ros::Float64>("/x"));
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
