// SPDX-License-Identifier: Apache-2.0
// What `bag info`, `check`, `cat` and `export` say, on recordings made here.
#include "recording/bag_info.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "core/files.hpp"
#include "recording/bag_convert.hpp"
#include "recording/bag_decoder.hpp"
#include "recording/bag_export.hpp"
#include "ros_messages/cdr.hpp"
#include "tests/support/bags.hpp"

namespace pitwall::recording {

namespace {

namespace fs = std::filesystem;
namespace ros = ros_messages;

constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();

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
  const std::size_t joy = *writer.add_topic(topic_for<ros::Joy>("/joy"));
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
  const std::size_t joy = *writer.add_topic(topic_for<ros::Joy>("/joy"));
  const std::size_t clock = *writer.add_topic(topic_for<ros::Clock>("/clock"));
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
  const std::size_t joy = *writer.add_topic(topic_for<ros::Joy>("/joy"));
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

TEST_CASE("a topic without a definition is read as one of our own types, with one in IDL by that") {  // mcap#709, PlotJuggler#851
  Topic topic;
  topic.name = "/joy";
  topic.type = "sensor_msgs/msg/Joy";
  CHECK(definition_of(topic).ok());
  topic.schema_encoding = "ros2idl";
  topic.schema = "module sensor_msgs {};";
  CHECK(*definition_of(topic) == ros::describe<ros::Joy>());
  topic.type = "odd_msgs/msg/Odd";
  CHECK(definition_of(topic).error().message == "definition of odd_msgs/msg/Odd: it defines other types, but not this one");
  topic.schema = "module odd_msgs { module msg { struct Odd { sensor_msgs::msg::Joy joy; }; }; };";
  CHECK(definition_of(topic)->types[1].name == "sensor_msgs/msg/Joy");
  CHECK(definition_of(topic)->types[1].fields.size() == 3);
  topic.schema_encoding = "protobuf";
  CHECK(definition_of(topic).error().message.find("'protobuf'; only 'ros2msg' and 'ros2idl' can be read") != std::string::npos);
  topic.encoding = "json";
  CHECK(definition_of(topic).error().message == "odd_msgs/msg/Odd in encoding 'json'; only 'cdr' is read");
}

TEST_CASE("a type that is defined in IDL alone, with a wide string, is printed and exported, from both storages") {
  const TempFolder folder("bag_idl");
  Topic topic;
  topic.name = "/sign";
  topic.type = "street_msgs/msg/Sign";
  topic.encoding = "cdr";
  topic.schema_encoding = "ros2idl";
  topic.schema =
      std::string(80, '=') +
      "\nIDL: street_msgs/msg/Sign\n#include \"street_msgs/msg/Kind.idl\"\nmodule street_msgs { module msg {\n  typedef float "
      "size[2];\n  struct Sign {\n    @verbatim (language=\"comment\", text=\"what; it says\")\n    wstring text;\n    size extent;\n  "
      "  street_msgs::msg::Kind kind;\n  };\n}; };\n" +
      std::string(80, '=') + "\nIDL: street_msgs/msg/Kind\nmodule street_msgs { module msg { struct Kind { octet value; }; }; };\n";
  std::string bytes;
  ros::CdrWriter out(bytes);
  out.count(2);
  for (const char32_t unit : {U'\u00c4', U'5'}) out.number<std::uint32_t>(unit);
  const float extent[2] = {0.5F, 0.25F};
  out.numbers(extent, 2);
  out.number<std::uint8_t>(7);
  {
    BagWriter writer = writer_at(folder.path() / "mcap");
    REQUIRE(writer.write(*writer.add_topic(topic), {5}, {5}, as_bytes(bytes)).ok());
    REQUIRE(writer.close().ok());
  }
  ConvertOptions to_sqlite;
  to_sqlite.format = StorageFormat::kSqlite3;
  REQUIRE(convert({folder.path() / "mcap"}, folder.path() / "db3", to_sqlite).ok());
  for (const char* storage : {"mcap", "db3"}) {
    CAPTURE(storage);
    BagReader reader = reader_at(folder.path() / storage);
    CHECK(lines(reader) ==
          "{\"log_time\":5,\"topic\":\"/sign\",\"type\":\"street_msgs/msg/"
          "Sign\",\"message\":{\"text\":\"\u00c45\",\"extent\":[0.5,0.25],\"kind\":{"
          "\"value\":7}}}\n");
    reader.rewind();
    ExportCounts counts;
    REQUIRE(export_csv(reader, folder.path() / "csv", counts).ok());
    CHECK(*read_file(folder.path() / "csv" / "sign.csv") == "log_time_ns,text,extent[0],extent[1],kind.value\n5,\u00c45,0.5,0.25,7\n");
  }
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
  for (const char* name : {"/a/b", "/a_b", "a b", "/"}) put(writer, *writer.add_topic(topic_for<ros::Float64>(name)), 1, ros::Float64{1.0});
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

}  // namespace pitwall::recording
