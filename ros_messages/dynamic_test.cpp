// SPDX-License-Identifier: Apache-2.0
#include "ros_messages/dynamic.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "core/text.hpp"
#include "ros_messages/known_types.hpp"

namespace pitwall::ros_messages {

namespace {

template <class Message>
std::string json(const Message& message) {
  std::string out;
  const Status status = append_json(describe<Message>(), write(message), out);
  REQUIRE_MESSAGE(status.ok(), status.error().message);
  return out;
}

template <class Message>
std::string csv(const Message& message) {
  std::string out;
  const Status status = append_csv(describe<Message>(), write(message), out);
  REQUIRE_MESSAGE(status.ok(), status.error().message);
  return out;
}

Definition parsed(std::string_view type, std::string_view text) {
  auto definition = parse_definition(type, text);
  REQUIRE_MESSAGE(definition.ok(), definition.error().message);
  return *std::move(definition);
}

}  // namespace

TEST_CASE("a message is one line of JSON, numbers as short as they can be") {
  LaserScan scan;
  scan.header = {{12, 5}, "laser \"front\"\n\x01\xff"};
  scan.angle_min = 0.1F;
  scan.ranges = {1.0F, 0.3F, std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(), std::nanf("")};
  CHECK(json(scan) ==
        R"({"header":{"stamp":{"sec":12,"nanosec":5},"frame_id":"laser \"front\"\n\u0001)"
        "\xef\xbf\xbd"
        R"("},"angle_min":0.1,"angle_max":0,"angle_increment":0,"time_increment":0,"scan_time":0,"range_min":0,"range_max":0,)"
        R"("ranges":[1,0.3,"inf","-inf","nan"],"intensities":[]})");
  ParameterValue value;
  value.integer_value = std::numeric_limits<std::int64_t>::min();
  value.bool_array_value = {true, false};
  value.byte_array_value = {std::byte{255}};
  value.string_array_value = {"\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x8f\x81"};
  CHECK(json(value) ==
        R"({"type":0,"bool_value":false,"integer_value":-9223372036854775808,"double_value":0,"string_value":"","byte_array_value":[255],)"
        R"("bool_array_value":[true,false],"integer_array_value":[],"double_array_value":[],"string_array_value":[")"
        "\xc3\xa4\",\"\xe2\x82\xac\",\"\xf0\x9f\x8f\x81\"]}");
  CHECK(json(Empty{}) == "{}");
}

TEST_CASE("bytes that are not UTF-8 become the replacement character, one each") {
  const std::string bad = "\xef\xbf\xbd";
  CHECK(json_string("\xc0\xaf") == "\"" + bad + bad + "\"");            // overlong
  CHECK(json_string("\xed\xa0\x80") == "\"" + bad + bad + bad + "\"");  // a surrogate
  CHECK(json_string("\xf4\x90\x80\x80") == "\"" + bad + bad + bad + bad + "\"");
  CHECK(json_string("\xf0\x80\x80\x80") == "\"" + bad + bad + bad + bad + "\"");  // overlong
  CHECK(json_string("\xe2\x82") == "\"" + bad + bad + "\"");                      // cut off
  CHECK(json_string("\xed\x9f\xbf\x7f") == "\"\xed\x9f\xbf\x7f\"");
}

TEST_CASE("a row of CSV has a cell for each column: fixed arrays expanded, sequences as one cell") {
  Odometry odometry;
  odometry.child_frame_id = "a,\"b\"";
  odometry.pose.covariance[35] = 0.5;
  const auto columns = csv_columns(describe<Odometry>());
  REQUIRE(columns.ok());
  CHECK(columns->size() == 3 + 1 + 7 + 36 + 6 + 36);
  CHECK((*columns)[0] == "header.stamp.sec");
  CHECK((*columns)[4] == "pose.pose.position.x");
  CHECK((*columns)[3 + 1 + 7 + 35] == "pose.covariance[35]");
  const std::string row = csv(odometry);
  CHECK(row.starts_with("0,0,,\"a,\"\"b\"\"\",0,0,0,0,0,0,1,0,"));

  Joy joy;
  joy.axes = {0.5F, -1.0F};
  CHECK(csv(joy) == "0,0,,\"[0.5,-1]\",[]");
  TFMessage tf;
  tf.transforms.resize(1);
  CHECK(csv(tf).starts_with("\"[{\"\"header\"\":{"));
  for (const std::string& type : known_types()) {
    const auto names = csv_columns(*known_definition(type));
    REQUIRE(names.ok());
  }
}

TEST_CASE("every known type has as many cells as columns, and its default message reads by its definition") {
  for_each_known_type([]<class Message>(const Message& message) {
    const auto columns = csv_columns(describe<Message>());
    REQUIRE(columns.ok());
    const std::string row = csv(message);
    const std::size_t cells =
        row.empty() && columns->size() != 1 ? 0 : split(row, ',').size();  // no cell of a default message holds a comma
    CHECK_MESSAGE(cells == columns->size(), Message::kType);
    CHECK(json(message).starts_with("{"));
  });
}

TEST_CASE("columns beyond reason are refused, and counted without walking them") {
  std::string text = "T1 a\nT1 b\n";
  for (int i = 1; i < 60; ++i) {
    text += std::string(80, '=') + "\nMSG: p/T" + std::to_string(i) + "\n" +
            (i < 59 ? "T" + std::to_string(i + 1) + " a\nT" + std::to_string(i + 1) + " b\n" : "");
  }
  const Definition empty_inside = parsed("p/msg/Root", text);
  CHECK(csv_columns(empty_inside).error().message == "p/msg/Root has more than 4096 columns");
  std::string out;
  CHECK_FALSE(append_json(empty_inside, write(Float64{}), out).ok());
  CHECK(out.empty());
  CHECK(csv_columns(parsed("p/msg/Wide", "P[64] p\n" + std::string(80, '=') + "\nMSG: p/P\nint8[64] x\n"))->size() == 4096);
  CHECK(csv_columns(parsed("p/msg/Long", "uint8[65] p\n"))->size() == 1);
}

TEST_CASE("sizes that the definition states are checked against what is left before they are walked") {
  std::string out;
  const Status huge = append_json(parsed("p/msg/Huge", "P[2147483647] p\n" + std::string(80, '=') + "\nMSG: p/P\nfloat64[2147483647] x\n"),
                                  write(Float64{}), out);
  REQUIRE_FALSE(huge.ok());
  CHECK(huge.error().message.find("an array of 2147483647") != std::string::npos);
  const Status array = append_json(parsed("p/msg/Array", "float64[10] x\n"), write(Float64{}), out);
  CHECK(array.error().message.find("x: an array of 10 at byte 4, where 8 bytes are left") != std::string::npos);
  const Status bounded = append_json(parsed("p/msg/Bounded", "uint8[<=2] x\n"), write(String{"ab"}), out);
  CHECK(bounded.error().message.find("3 elements, more than 2,") != std::string::npos);
  const Status brief = append_json(parsed("p/msg/Brief", "string<=1 x\n"), write(String{"ab"}), out);
  CHECK(brief.error().message.find("x: a string longer than 1") != std::string::npos);
  CHECK(out.empty());
}

namespace {

/// A message of wide strings between two bytes, as middlewares write it.
std::string wide_message(const std::vector<std::u16string>& texts, WideLayout layout) {
  std::string bytes;
  CdrWriter writer(bytes);
  writer.number<std::uint8_t>(7);
  for (const std::u16string& text : texts) {
    writer.count(text.size() * (layout == WideLayout::kWords ? 1 : 2));
    for (const char16_t unit : text) {
      if (layout == WideLayout::kWords) {
        writer.number<std::uint32_t>(unit);
      } else {
        writer.number<std::uint16_t>(unit);
      }
    }
  }
  writer.number<std::uint8_t>(9);
  return bytes;
}

}  // namespace

TEST_CASE("a wstring is read in 32-bit units as Fast DDS writes it and as the UTF-16 of Cyclone DDS") {
  const Definition one = parsed("p/msg/Wide", "uint8 a\nwstring x\nuint8 b\n");
  const Definition two = parsed("p/msg/Wide", "uint8 a\nwstring x\nwstring y\nuint8 b\n");
  for (const WideLayout layout : {WideLayout::kWords, WideLayout::kUtf16}) {
    CAPTURE(static_cast<int>(layout));
    for (const auto& [text, json] : std::vector<std::pair<std::u16string, std::string>>{
             {u"", ""}, {u"a", "a"}, {u"ab", "ab"}, {u"Gr\u00fc\u00df", "Gr\u00fc\u00df"}, {u"\u6708 \U0001F3CE", "\u6708 \U0001F3CE"}}) {
      std::string out;
      const Status read = append_json(one, wide_message({text}, layout), out);
      REQUIRE_MESSAGE(read.ok(), read.error().message);
      CHECK(out == R"({"a":7,"x":")" + json + R"(","b":9})");
      out.clear();
      REQUIRE(append_csv(two, wide_message({text, u"end"}, layout), out).ok());
      CHECK(out == "7," + json + ",end,9");
    }
    std::string out;
    CHECK(append_json(one, wide_message({u"a\xD83Cz\xDFCE"}, layout), out).ok());  // halves of pairs
    CHECK(out == "{\"a\":7,\"x\":\"a\uFFFDz\uFFFD\",\"b\":9}");
    const std::string whole = wide_message({u"abc"}, layout);
    for (std::size_t size = 0; size + 8 < whole.size(); ++size) CHECK_FALSE(append_json(one, whole.substr(0, size), out).ok());
    const Definition bounded = parsed("p/msg/Wide", "uint8 a\nwstring<=1 x\nuint8 b\n");
    const Status brief = append_json(bounded, wide_message({u"abcd"}, layout), out);
    REQUIRE_FALSE(brief.ok());
    if (layout == WideLayout::kWords) CHECK(brief.error().message.find("x: a wstring longer than 1") != std::string::npos);
  }
}

TEST_CASE("the stamp of a message is its first time, wherever the first fields lead") {
  LaserScan scan;
  scan.header.stamp = {3, 4};
  CHECK((*first_stamp(describe<LaserScan>(), write(scan)))->ns == 3'000'000'004);
  TFMessage tf;
  CHECK_FALSE(first_stamp(describe<TFMessage>(), write(tf))->has_value());
  tf.transforms.resize(2);
  tf.transforms[0].header.stamp = {5, 0};
  CHECK((*first_stamp(describe<TFMessage>(), write(tf)))->ns == 5'000'000'000);
  Log log;
  log.stamp = {-1, 999'999'999};
  CHECK((*first_stamp(describe<Log>(), write(log)))->ns == -1);
  CHECK_FALSE(first_stamp(describe<Twist>(), write(Twist{}))->has_value());
  CHECK_FALSE(first_stamp(describe<Float64>(), write(Float64{}))->has_value());
  CHECK_FALSE(first_stamp(describe<LaserScan>(), write(scan).substr(0, 10)).ok());
  CHECK_FALSE(first_stamp(describe<LaserScan>(), "").ok());
}

}  // namespace pitwall::ros_messages
