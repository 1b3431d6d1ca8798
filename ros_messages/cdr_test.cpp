// SPDX-License-Identifier: Apache-2.0
#include "ros_messages/cdr.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "ros_messages/known_types.hpp"

namespace pitwall::ros_messages {

namespace {

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += static_cast<char>(value);
  return text;
}

/// Every kind of field that a struct can have.
struct Everything {
  static constexpr std::string_view kType = "pitwall_test/msg/Everything";
  bool flag = false;
  std::int16_t i16 = 0;
  std::uint8_t u8 = 0;
  double f64 = 0.0;
  std::string text;
  float f32 = 0.0F;
  std::array<bool, 3> flags{};
  std::array<std::int32_t, 2> pair{};
  std::vector<double> doubles;
  std::vector<std::string> texts;
  std::vector<Vector3> points;
  std::vector<bool> bits;
  std::vector<std::byte> raw;
  std::int64_t i64 = 0;
  BoundedString<4> brief;
  Empty nothing;
  std::uint32_t last = 0;
  template <class Self, class Visitor>
  static void fields(Self& m, Visitor& v) {
    v("flag", m.flag)("i16", m.i16)("u8", m.u8)("f64", m.f64)("text", m.text)("f32", m.f32)("flags", m.flags)("pair", m.pair);
    v("doubles", m.doubles)("texts", m.texts)("points", m.points)("bits", m.bits)("raw", m.raw)("i64", m.i64)("brief", m.brief);
    v("nothing", m.nothing)("last", m.last);
  }
  bool operator==(const Everything&) const = default;
};

Everything everything() {
  Everything m;
  m.flag = true;
  m.i16 = -2;
  m.u8 = 200;
  m.f64 = 0.1;
  m.text = "abc";
  m.f32 = 1.5F;
  m.flags = {true, false, true};
  m.pair = {-1, 7};
  m.doubles = {1.0, -0.0};
  m.texts = {"", "x"};
  m.points = {{1, 2, 3}};
  m.bits = {true, false};
  m.raw = {std::byte{9}};
  m.i64 = -5;
  m.brief.value = "four";
  m.last = 77;
  return m;
}

/// The bytes of everything(), laid out by hand from the rules of CDR.
std::string everything_bytes() {
  return bytes({0, 1, 0, 0,                                      // little endian
                1, 0, 0xfe, 0xff, 200, 0, 0, 0,                  // bool, pad, int16, uint8, pad to 8
                0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f,  // 0.1
                4, 0, 0, 0, 'a', 'b', 'c', 0,                    // string
                0, 0, 0xc0, 0x3f, 1, 0, 1, 0,                    // 1.5F, three bools, pad to 4
                0xff, 0xff, 0xff, 0xff, 7, 0, 0, 0,              // int32[2]
                2, 0, 0, 0, 0, 0, 0, 0,                          // two doubles follow, pad to 8
                0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0x80, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,  // two strings:
                                                                                                              // "", pad to 4
                2, 0, 0, 0, 'x', 0, 0, 0,                                                                     // "x", pad to 4
                1, 0, 0, 0,  // one point, which lies at a multiple of 8
                0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 8, 0x40, 2, 0, 0, 0, 1, 0, 0,
                0,                                               // bool[]: true, false, pad to 4
                1, 0, 0, 0, 9, 0, 0, 0,                          // byte[], pad to 8
                0xfb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,  // -5
                5, 0, 0, 0, 'f', 'o', 'u', 'r', 0,               // string<=4
                0, 0, 0, 77, 0, 0, 0});                          // a struct without fields is one byte; pad to 4; uint32
}

}  // namespace

TEST_CASE("a message of every kind of field is the bytes that the rules of CDR give") {
  CHECK(write(everything()) == everything_bytes());
  const Result<Everything> read_back = read<Everything>(everything_bytes());
  REQUIRE_MESSAGE(read_back.ok(), read_back.error().message);
  CHECK(*read_back == everything());
  CHECK(std::signbit(read_back->doubles[1]));
}

TEST_CASE("big endian is read too") {
  const std::string message = bytes({0,    0,    0,    0,                        // big endian
                                     0xff, 0xff, 0xff, 0xfe, 0,    0,   1,   0,  // sec -2, nanosec 256
                                     0,    0,    0,    4,    'm',  'a', 'p', 0,  // frame_id
                                     0x3f, 0x80, 0,    0,    0xbf, 0,   0,   0, 0x40, 0x20, 0, 0, 0, 0, 0, 0, 0x42, 0xc8, 0, 0});
  const auto read_back = read<AckermannDriveStamped>(message);
  REQUIRE_MESSAGE(read_back.ok(), read_back.error().message);
  CHECK(read_back->header == Header{{-2, 256}, "map"});
  CHECK(read_back->drive == AckermannDrive{1.0F, -0.5F, 2.5F, 0.0F, 100.0F});

  const std::string numbers = bytes({0, 0, 0, 0, 0,    0,    0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0,    0,    0,    0,  // stamp 0, frame_id ""
                                     0, 0, 0, 1, 0x3f, 0x80, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff});
  const auto joy = read<Joy>(numbers);
  REQUIRE_MESSAGE(joy.ok(), joy.error().message);
  CHECK(joy->axes == std::vector<float>{1.0F});
  CHECK(joy->buttons == std::vector<std::int32_t>{1, -1});
}

TEST_CASE("a message cut off anywhere is an error that names the type, never a crash") {
  const std::string whole = everything_bytes();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string cut = whole.substr(0, length);
    const auto read_back = read<Everything>(cut);
    REQUIRE_FALSE_MESSAGE(read_back.ok(), length);
    CHECK(read_back.error().message.find("pitwall_test/msg/Everything") == 0);
  }
}

TEST_CASE("an error names the field, down to the element, and the byte") {
  TFMessage message;
  message.transforms.resize(3);
  std::string text = write(message);
  text.resize(text.size() - 8);
  const auto read_back = read<TFMessage>(text);
  REQUIRE_FALSE(read_back.ok());
  CHECK(read_back.error().message ==
        "tf2_msgs/msg/TFMessage: transforms[2].transform.rotation.w: 1 value of 8 bytes at byte 244, where 0 bytes are left");
}

TEST_CASE("up to seven bytes behind the last field are padding, eight are an error") {
  const std::string message = write(Float32{2.0F});
  for (std::size_t padding = 0; padding < 8; ++padding) CHECK(read<Float32>(message + std::string(padding, '\7')).ok());
  const auto longer = read<Float32>(message + std::string(8, '\0'));
  REQUIRE_FALSE(longer.ok());
  CHECK(longer.error().message == "std_msgs/msg/Float32: 8 bytes are left over after the last field (up to 7 are padding)");
}

TEST_CASE("alignment counts from the fifth byte, not from the message's address") {
  const std::string message = write(Clock{{5, 6}});
  for (std::size_t shift = 0; shift < 8; ++shift) {
    const std::string moved = std::string(shift, 'x') + message;
    const auto clock = read<Clock>(std::string_view(moved).substr(shift));
    REQUIRE(clock.ok());
    CHECK(clock->clock == Stamp{5, 6});
  }
}

TEST_CASE("other encapsulations are refused by name") {
  const auto refusal = [](int high, int low) {
    std::string message = write(Bool{true});
    message[0] = static_cast<char>(high);
    message[1] = static_cast<char>(low);
    const auto read_back = read<Bool>(message);
    return read_back.ok() ? std::string("read") : read_back.error().message;
  };
  CHECK(refusal(0, 0) == "read");
  CHECK(refusal(0, 1) == "read");
  CHECK(refusal(0, 2) ==
        "std_msgs/msg/Bool: encapsulation 2 (PL_CDR big endian) is not read; plain CDR (0 big endian, 1 little endian) is");
  CHECK(refusal(0, 3).find("PL_CDR little endian") != std::string::npos);
  CHECK(refusal(0, 6).find("CDR2 big endian") != std::string::npos);
  CHECK(refusal(0, 9).find("delimited CDR2 little endian") != std::string::npos);
  CHECK(refusal(0, 11).find("PL_CDR2 little endian") != std::string::npos);
  CHECK(refusal(1, 1).find("encapsulation 257 is not read") != std::string::npos);
  CHECK(read<Bool>(bytes({0x28, 0xb5, 0x2f, 0xfd, 0})).error().message.find("zstd frame") != std::string::npos);
  CHECK(read<Bool>("").error().message.find("0 bytes has no encapsulation") != std::string::npos);
}

TEST_CASE("a sequence's length is checked against what is left before anything is allocated") {
  std::string message = write(Joy{});
  message.resize(message.size() - 8);
  message += bytes({0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0});
  Joy joy;
  const Status status = read(message, joy);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().message.find("axes: 4294967295 values of 4 bytes at byte") != std::string::npos);
  CHECK(joy.axes.capacity() == 0);

  // Elements that are structs count with all that they have at least: 68 bytes of a PoseStamped, without its padding.
  const auto path_of = [](int poses) {
    std::string path = write(Path{});
    path.resize(path.size() - 4);
    return path + bytes({poses, 0, 0, 0}) + std::string(138, '\0');
  };
  Path two;
  CHECK(read(path_of(2), two).error().message.find("poses[1].pose.orientation.w: 1 value") != std::string::npos);
  Path three;
  CHECK(read(path_of(3), three).error().message.find("poses: 3 values of 68 bytes") != std::string::npos);
  CHECK(three.poses.capacity() == 0);
}

TEST_CASE("strings: a length of 0 is empty, one without its NUL is an error, NULs inside are kept") {
  const std::string head = bytes({0, 1, 0, 0});
  CHECK(read<String>(head + bytes({0, 0, 0, 0}))->data.empty());
  CHECK(read<String>(head + bytes({2, 0, 0, 0, 'a', 'b'})).error().message.find("does not end in NUL") != std::string::npos);
  const std::string inside("a\0b", 3);
  CHECK(read<String>(write(String{inside}))->data == inside);
}

TEST_CASE("a sequence of nothing brings no padding with it") {
  ParameterValue value;  // seven sequences and strings behind each other, doubles among them
  const std::string message = write(value);
  CHECK(message.size() == 4 + 24 + 8 + 4 * 5);
  CHECK(*read<ParameterValue>(message) == value);
}

TEST_CASE("a bounded string that is too long is refused") {
  Everything m = everything();
  std::string message = everything_bytes();
  const std::size_t at = message.find(bytes({5, 0, 0, 0, 'f'}));
  message[at] = 6;
  message.replace(at + 4, 5, std::string("fours\0", 6));
  const auto read_back = read<Everything>(message);
  REQUIRE_FALSE(read_back.ok());
  CHECK(read_back.error().message.find("brief: a string longer than 4") != std::string::npos);
}

TEST_CASE("reading into a message that has been used allocates nothing and leaves nothing of the old one") {
  LaserScan scan;
  scan.header.frame_id = "laser";
  scan.ranges = {1, 2, 3};
  LaserScan reused;
  reused.header.frame_id = "a much longer name of a frame than that";
  reused.ranges.assign(100, 9.0F);
  reused.intensities.assign(100, 9.0F);
  REQUIRE(read(write(scan), reused).ok());
  CHECK(reused == scan);
}

}  // namespace pitwall::ros_messages
