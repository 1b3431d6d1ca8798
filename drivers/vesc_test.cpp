// SPDX-License-Identifier: Apache-2.0
#include "drivers/vesc.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/rng.hpp"
#include "drivers/test_bytes.hpp"

using namespace pitwall;
using namespace pitwall::vesc;
using drivers::test::append;
using drivers::test::hex;
using drivers::test::to_hex;

namespace {

std::string frame_of(CommandKind kind, double value) {
  std::vector<std::byte> out;
  CHECK(append_command({kind, value}, out));
  return to_hex(out);
}

std::vector<std::byte> framed(Bytes payload) {
  std::vector<std::byte> out;
  append_frame(payload, out);
  return out;
}

std::vector<std::string> payloads(FrameDecoder& decoder) {
  std::vector<std::string> found;
  while (const auto payload = decoder.next()) {
    found.push_back(to_hex(*payload));
  }
  return found;
}

std::vector<std::byte> counting(std::size_t count) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i < count; ++i) {
    bytes.push_back(static_cast<std::byte>(i & 0xFFU));
  }
  return bytes;
}

// Payload of GET_VALUES as firmware 7.01 lays it out, each field with a value of its own.
const char* const kFullReply =
    "04 0141 ff38 000004d2 fffffb2e 00000065 fffffe0c fe0c ffffedfa 00a5 000186a0 00030d40 00061a80 000c3500 fffffff6 00000064 02"
    "055d4a80 07 0001 0002 0003 000003e8 fffffc18 03";

}  // namespace

TEST_CASE("CRC-16 of the check string is the published one") { CHECK(crc16(drivers::bytes_of("123456789")) == 0x31C3); }

TEST_CASE("requests and commands are the frames of the firmware, to the byte") {
  std::vector<std::byte> out;
  const auto once = [&](auto&& make) {
    out.clear();
    make();
    return to_hex(out);
  };
  CHECK(once([&] { append_request(Id::kFwVersion, out); }) == "020100000003");
  CHECK(once([&] { append_request(Id::kGetValues, out); }) == "020104408403");
  CHECK(once([&] { append_request(Id::kAlive, out); }) == "02011ef3ff03");
  CHECK(once([&] { append_selective_request(Id::kGetValuesSelective, kRacingMask, out); }) == "0205320020a3ff987603");
  CHECK(once([&] { append_imu_request(0x01FF, out); }) == "02034101ff075c03");
  CHECK(once([&] { append_forwarded(9, hex("04"), out); }) == "020322090412ba03");
  CHECK(once([&] { append_estop(2000, out); }) == "02039f07d006e203");
  CHECK(frame_of(CommandKind::kDuty, 0.1) == "02050500002710ae1703");
  CHECK(frame_of(CommandKind::kCurrent, 3.5) == "02050600000daccfbf03");
  CHECK(frame_of(CommandKind::kCurrent, -3.5) == "020506fffff254269703");
  CHECK(frame_of(CommandKind::kBrakeCurrent, 10) == "02050700002710ea9403");
  CHECK(frame_of(CommandKind::kErpm, 4614) == "0205080000120607fa03");
  CHECK(frame_of(CommandKind::kErpm, -4614) == "020508ffffedfaae5603");
  CHECK(frame_of(CommandKind::kErpm, 0) == "02050800000000022d03");
  CHECK(frame_of(CommandKind::kPosition, 90) == "020509055d4a807b2903");
  CHECK(frame_of(CommandKind::kHandbrake, 5) == "02050a00001388000e03");
  CHECK(frame_of(CommandKind::kCurrentRelative, 0.25) == "020554000061a890cd03");
  CHECK(frame_of(CommandKind::kServo, 0.530) == "02030c0212217003");
  CHECK(frame_of(CommandKind::kServo, 0.15) == "02030c0096961e03");
}

TEST_CASE("a value is rounded to the nearest step, both signs, and saturates; what is not finite makes no frame") {
  CHECK(frame_of(CommandKind::kServo, 0.5304) == frame_of(CommandKind::kServo, 0.530));
  CHECK(frame_of(CommandKind::kServo, 0.5306) == frame_of(CommandKind::kServo, 0.531));
  CHECK(frame_of(CommandKind::kCurrent, -0.0006) == frame_of(CommandKind::kCurrent, -0.001));
  CHECK(frame_of(CommandKind::kErpm, 1e300).substr(6, 8) == "7fffffff");
  CHECK(frame_of(CommandKind::kErpm, -1e300).substr(6, 8) == "80000000");
  CHECK(frame_of(CommandKind::kServo, 99).substr(6, 4) == "7fff");
  CHECK(frame_of(CommandKind::kServo, -99).substr(6, 4) == "8000");
  CHECK(frame_of(CommandKind::kPosition, std::numeric_limits<double>::max()).substr(6, 8) == "7fffffff");
  std::vector<std::byte> out;
  for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
    CHECK_FALSE(append_command({CommandKind::kErpm, bad}, out));
    CHECK_FALSE(append_command({CommandKind::kServo, bad}, out));
  }
  CHECK(out.empty());
}

TEST_CASE("255 bytes go in the short form, 256 in the long one") {
  const std::string short_form = to_hex(framed(counting(255)));
  CHECK(short_form.substr(0, 6) == "02ff00");
  CHECK(short_form.substr(short_form.size() - 6) == "053003");
  const std::string long_form = to_hex(framed(counting(256)));
  CHECK(long_form.substr(0, 8) == "03010000");
  CHECK(long_form.substr(long_form.size() - 6) == "7e5503");
  const std::string longest = to_hex(framed(counting(512)));
  CHECK(longest.substr(0, 6) == "030200");
  CHECK(longest.substr(longest.size() - 6) == "40da03");
}

TEST_CASE("a stream of frames is the same however it is cut") {
  std::vector<std::byte> stream;
  std::vector<std::string> expected;
  for (const std::size_t size : {1U, 28U, 74U, 255U, 256U, 512U, 1024U}) {
    append(stream, framed(counting(size)));
    expected.push_back(to_hex(counting(size)));
  }
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    FrameDecoder decoder;
    decoder.push(Bytes(stream).first(cut));
    auto found = payloads(decoder);
    decoder.push(Bytes(stream).subspan(cut));
    for (auto& more : payloads(decoder)) {
      found.push_back(std::move(more));
    }
    REQUIRE(found == expected);
    REQUIRE(decoder.dropped_bytes() == 0);
    REQUIRE_FALSE(decoder.partial());
  }
  FrameDecoder decoder;
  std::vector<std::string> found;
  for (const std::byte b : stream) {
    decoder.push({&b, 1});
    for (auto& more : payloads(decoder)) {
      found.push_back(std::move(more));
    }
  }
  CHECK(found == expected);
}

TEST_CASE("lengths that no sender would write are dropped a byte at a time") {
  for (const char* bad : {"0200000000", "0300000000", "0300040102",  // zero, and long form for what fits the short one
                          "03040100"}) {                             // 1025 bytes
    FrameDecoder decoder;
    auto stream = hex(bad);
    append(stream, hex("020104408403"));
    decoder.push(stream);
    CHECK(payloads(decoder) == std::vector<std::string>{"04"});
    CHECK(decoder.dropped_bytes() == hex(bad).size());
    CHECK(decoder.resyncs() == 1);
  }
  // 255 in the long form is odd but whole.
  auto stream = hex("0300ff");
  const auto payload = counting(255);
  append(stream, payload);
  append(stream, hex("053003"));
  FrameDecoder decoder;
  decoder.push(stream);
  CHECK(payloads(decoder).size() == 1);
}

TEST_CASE("a good frame inside a bad one is found") {
  auto inner = framed(hex("0405"));
  auto payload = hex("99");
  append(payload, inner);
  auto stream = framed(payload);
  stream.back() = std::byte{0};  // no stop byte: the outer frame is none
  FrameDecoder decoder;
  decoder.push(stream);
  CHECK(payloads(decoder) == std::vector<std::string>{"0405"});
  CHECK(decoder.bad_sums() == 0);
  stream.back() = std::byte{3};
  stream[stream.size() - 2] ^= std::byte{1};
  decoder.push(stream);
  CHECK(payloads(decoder) == std::vector<std::string>{"0405"});
  CHECK(decoder.bad_sums() == 1);
}

TEST_CASE("a stray 03 01 80 holds frames back until the line has been silent, then they all come") {
  FrameDecoder decoder;
  decoder.push(hex("030180"));
  decoder.push(hex("020104408403"));
  decoder.push(hex("020100000003"));
  CHECK(payloads(decoder).empty());
  CHECK(decoder.partial());
  decoder.give_up_partial();
  CHECK(payloads(decoder) == std::vector<std::string>{"04", "00"});
  CHECK_FALSE(decoder.partial());
  CHECK(decoder.dropped_bytes() == 3);
  // And a frame that comes in time is not given up.
  decoder.push(hex("0201"));
  CHECK(payloads(decoder).empty());
  decoder.push(hex("04408403"));
  CHECK(payloads(decoder).size() == 1);
}

TEST_CASE("behind a frame with a wrong byte, whose stop byte reads as the start of a long frame, whole frames are found while bytes come") {
  std::vector<std::byte> stream = framed(hex("3200208080aa"));
  stream[4] ^= std::byte{1};
  FrameDecoder decoder;
  decoder.push(stream);
  decoder.push(framed(hex("3200208080bb")));  // 03 02 06: a frame of 518 bytes
  decoder.push(hex("020106"));                // and the beginning of another
  CHECK(payloads(decoder).empty());
  decoder.look_inside_partial();
  CHECK(payloads(decoder) == std::vector<std::string>{"3200208080bb"});
  CHECK(decoder.bad_sums() == 1);
  CHECK(decoder.partial());
  std::vector<std::byte> rest = framed(hex("06"));
  rest.erase(rest.begin(), rest.begin() + 3);
  decoder.push(rest);
  CHECK(payloads(decoder) == std::vector<std::string>{"06"});
  // Nothing whole inside: nothing is given up.
  decoder.push(hex("030180020106"));
  CHECK(payloads(decoder).empty());
  decoder.look_inside_partial();
  CHECK(payloads(decoder).empty());
  decoder.push(rest);
  decoder.look_inside_partial();
  CHECK(payloads(decoder) == std::vector<std::string>{"06"});
}

TEST_CASE("of random garbage between frames no frame is invented and none is lost") {
  // A payload is at least two known bytes, so that an invented one would show; chance makes one in 2^24 places a frame.
  const Rng rng(7, "vesc garbage");
  std::uint64_t draw = 0;
  for (int round = 0; round < 200; ++round) {
    FrameDecoder decoder;
    std::vector<std::byte> stream;
    const int frames = 20;
    for (int i = 0; i < frames; ++i) {
      const auto noise = static_cast<std::size_t>(rng.uniform(draw++) * 8.0);
      for (std::size_t k = 0; k < noise; ++k) {
        stream.push_back(static_cast<std::byte>(static_cast<unsigned>(rng.uniform(draw++) * 256.0)));
      }
      append(stream, framed(hex("0102030405")));
    }
    stream.insert(stream.end(), 1030, std::byte{0});
    decoder.push(stream);
    const auto found = payloads(decoder);
    REQUIRE(found == std::vector<std::string>(frames, "0102030405"));
  }
}

TEST_CASE("every field of GET_VALUES is where firmware 7.01 has it") {
  const auto values = decode_values(hex(kFullReply));
  REQUIRE(values);
  CHECK(values->present == 0x3FFFFF);
  CHECK(values->fet_temperature_degC == 32.1);
  CHECK(values->motor_temperature_degC == -20.0);
  CHECK(values->motor_current_A == 12.34);
  CHECK(values->input_current_A == -12.34);
  CHECK(values->id_A == 1.01);
  CHECK(values->iq_A == -5.0);
  CHECK(values->duty == -0.5);
  CHECK(values->erpm == -4614.0);
  CHECK(values->input_voltage_V == 16.5);
  CHECK(values->ampere_hours == 10.0);
  CHECK(values->ampere_hours_charged == 20.0);
  CHECK(values->watt_hours == 40.0);
  CHECK(values->watt_hours_charged == 80.0);
  CHECK(values->tachometer == -10);
  CHECK(values->tachometer_abs == 100);
  CHECK(values->fault == 2);
  CHECK(values->pid_position_deg == 90.0);
  CHECK(values->controller_id == 7);
  CHECK(values->mosfet_temperatures_degC == std::array<double, 3>{0.1, 0.2, 0.3});
  CHECK(values->vd_V == 1.0);
  CHECK(values->vq_V == -1.0);
  CHECK(values->timeout_active);
  CHECK(values->kill_switch);
}

TEST_CASE("a reply that ends early gives the fields before its end, wherever that is") {
  const auto full = hex(kFullReply);
  REQUIRE(full.size() == 74);
  constexpr std::array<std::size_t, 22> kEnds{3, 5, 9, 13, 17, 21, 23, 27, 29, 33, 37, 41, 45, 49, 53, 54, 58, 59, 65, 69, 73, 74};
  for (std::size_t size = 0; size <= full.size(); ++size) {
    const auto values = decode_values(Bytes(full).first(size));
    unsigned whole = 0;
    while (whole < kEnds.size() && kEnds[whole] <= size) {
      ++whole;
    }
    REQUIRE(values.has_value() == (whole > 0));
    if (values) {
      REQUIRE(values->present == (1U << whole) - 1U);
      REQUIRE((values->fault == 2) == (size >= 54));
    }
  }
  CHECK_FALSE(decode_values(Bytes(full).first(73))->timeout_active);  // firmware 5.2 has no status
}

TEST_CASE("a selective reply holds only what was asked for; a device without the status bit sends a short tail") {
  const auto values = decode_values(hex("32 00208080 ffffedfa 00"));
  REQUIRE(values);
  CHECK(values->present == (kErpmNow | kFault));
  CHECK(values->erpm == -4614.0);
  CHECK(decode_values(hex("32 00202000 fffffff6 01"))->timeout_active);
  CHECK(decode_values(hex("32 00202000 fffffff6 02"))->kill_switch);
  CHECK(decode_values(hex("32 00202000 fffffff6"))->tachometer == -10);
  CHECK_FALSE(decode_values(hex("32 0020")));
  CHECK_FALSE(decode_values(hex("33 00002000 fffffff6")));
  CHECK_FALSE(decode_values({}));
}

TEST_CASE("GET_VALUES_SETUP is read to its 70 bytes") {
  const auto reply =
      hex("2f 0141 00c8 000004d2 fffffb2e 01f4 00001206 000003e8 00a5 0320 000186a0 00030d40 00061a80 000c3500 000007d0 00000bb8 055d4a80 "
          "04 09 01"
          "00002710 00000064 0001e240");
  REQUIRE(reply.size() == 70);
  const auto values = decode_setup_values(reply);
  REQUIRE(values);
  CHECK(values->present == 0x3FFFFF);
  CHECK(values->speed_mps == 1.0);
  CHECK(values->battery_level == 0.8);
  CHECK(values->distance_m == 2.0);
  CHECK(values->distance_abs_m == 3.0);
  CHECK(values->fault == 4);
  CHECK(values->controller_id == 9);
  CHECK(values->controllers == 1);
  CHECK(values->watt_hours_left == 10.0);
  CHECK(values->odometer_m == 100);
  CHECK(values->uptime_ms == 123456);
  CHECK(decode_setup_values(hex("33 00000040 fffffc18"))->speed_mps == -1.0);
}

TEST_CASE("the IMU's g and degrees become SI; zeros are no IMU, NaN is no reply") {
  auto reply = hex("41 01f8");
  for (const float x : {0.0F, 0.5F, 1.0F, 180.0F, -90.0F, 0.0F}) {
    drivers::append_big_endian(std::bit_cast<std::uint32_t>(x), 4, reply);
  }
  reply.push_back(std::byte{9});
  REQUIRE(reply.size() == 28);
  const auto imu = decode_imu(reply);
  REQUIRE(imu);
  CHECK(imu->has_imu());
  CHECK(imu->linear_acceleration_mps2 == std::array<double, 3>{0.0, 4.903325, 9.80665});
  CHECK(imu->angular_velocity_radps[0] == doctest::Approx(3.14159265358979));
  CHECK(imu->angular_velocity_radps[1] == doctest::Approx(-1.570796326794897));
  CHECK(imu->controller_id == 9);
  CHECK_FALSE(decode_imu(hex("41 0038 00000000 00000000 00000000 00"))->has_imu());
  CHECK_FALSE(decode_imu(hex("41 0038 3f800000 7fc00000 00000000 00")));
  CHECK_FALSE(decode_imu(hex("41 0038 3f800000 ff800000 00000000 00")));
  CHECK_FALSE(decode_imu(hex("41 0038 3f800000 00000000")));  // cut off
  CHECK_FALSE(decode_imu(hex("41 0000")));
}

TEST_CASE("FW_VERSION may end after any field") {
  const auto reply = hex("00 07 01 504545525f3630 00 0102030405060708090a0b0c 00 01 00 00 00 00 00 00 00 deadbeef");
  const auto full = decode_fw_version(reply);
  REQUIRE(full);
  CHECK(full->text() == "7.01 (test 1) on PEER_60, UUID 0102030405060708090a0b0c");
  CHECK(full->supported());
  for (std::size_t size = 0; size < reply.size(); ++size) {
    const auto part = decode_fw_version(Bytes(reply).first(size));
    REQUIRE(part.has_value() == (size >= 3));
    if (part) {
      REQUIRE(part->uuid.has_value() == (size >= 23));
      REQUIRE(part->hardware == std::string("PEER_60").substr(0, std::min<std::size_t>(size - 3, 7)));
    }
  }
  CHECK_FALSE(decode_fw_version(hex("00 03 20"))->supported());
  CHECK(decode_fw_version(hex("00 03 21"))->supported());
  CHECK(decode_fw_version(hex("00 05 02"))->text() == "5.02");
}

TEST_CASE("faults have a name and say what to look at; unknown ones print as a number") {
  CHECK(fault_name(0) == "no fault");
  CHECK(fault_hint(0).empty());
  CHECK(fault_name(2) == "under-voltage");
  CHECK(fault_name(10) == "booted from watchdog reset");
  CHECK(fault_name(17) == "high offset of current sensor 3");
  CHECK(fault_name(33) == "absolute overspeed");
  CHECK(fault_name(77) == "fault 77");
  CHECK(fault_name(-1) == "fault -1");
  for (int code = 1; code <= 34; ++code) {
    CHECK_FALSE(fault_hint(code).empty());
  }
}
