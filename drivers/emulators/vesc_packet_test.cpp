// SPDX-License-Identifier: Apache-2.0
// Frames, and the replies in them (vesc_packet.cpp, vesc_replies.cpp).
#include "drivers/emulators/vesc_packet.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "drivers/emulators/test_vesc.hpp"

namespace pitwall::emulators {
namespace {

std::vector<Bytes> decoded(PacketDecoder& decoder, const Bytes& bytes) {
  std::vector<Bytes> packets;
  decoder.feed(bytes, [&](ByteView payload) { packets.emplace_back(payload.begin(), payload.end()); });
  return packets;
}

// drivers.md 1.10, made by the firmware's own code: name, frame.
constexpr std::array<std::string_view, 19> kGolden = {
    "020100000003",         "020104408403",         "02011ef3ff03",         "02050500002710ae1703", "02050600000daccfbf03",
    "020506fffff254269703", "02050700002710ea9403", "0205080000120607fa03", "020508ffffedfaae5603", "02050800000000022d03",
    "020509055d4a807b2903", "02050a00001388000e03", "020554000061a890cd03", "02030c0212217003",     "02030c0096961e03",
    "0205320020a3ff987603", "02034101ff075c03",     "020322090412ba03",     "02039f07d006e203"};

}  // namespace

TEST_CASE("the check value of the CRC") { CHECK(crc16_xmodem(bytes_of_text("123456789")) == 0x31C3); }

TEST_CASE("the golden frames are taken, and made again from their payloads") {
  for (const std::string_view hex : kGolden) {
    CAPTURE(hex);
    PacketDecoder decoder;
    const Bytes frame = bytes_of(hex);
    const std::vector<Bytes> packets = decoded(decoder, frame);
    REQUIRE(packets.size() == 1);
    CHECK(packets[0] == Bytes(frame.begin() + 2, frame.end() - 3));
    CHECK(hex_of(vesc_frame(packets[0])) == hex);
    CHECK(decoder.rejected() == 0);
  }
}

TEST_CASE("payloads of 255, 256 and 512 bytes have the heads and sums of the firmware") {
  Bytes payload(512);
  std::iota(payload.begin(), payload.end(), std::uint8_t{0});
  const auto ends = [](const Bytes& frame, std::string_view head, std::string_view tail) {
    const std::string hex = hex_of(frame);
    return hex.starts_with(head) && hex.ends_with(tail);
  };
  CHECK(ends(vesc_frame(ByteView(payload).first(255)), "02ff00", "053003"));
  CHECK(ends(vesc_frame(ByteView(payload).first(256)), "03010000", "7e5503"));
  CHECK(ends(vesc_frame(payload), "03020000", "40da03"));
  PacketDecoder decoder;
  CHECK(decoded(decoder, vesc_frame(payload)) == std::vector<Bytes>{payload});
}

TEST_CASE("255 bytes may come in a long frame, fewer may not, nor more than 512") {
  const auto long_frame = [](std::size_t length) {
    const Bytes payload(length, 0x55);
    Bytes frame = {3, static_cast<std::uint8_t>(length >> 8), static_cast<std::uint8_t>(length & 0xff)};
    frame.insert(frame.end(), payload.begin(), payload.end());
    const std::uint16_t crc = crc16_xmodem(payload);
    for (const int byte : {crc >> 8, crc & 0xff, 3}) frame.push_back(static_cast<std::uint8_t>(byte));
    return frame;
  };
  for (const auto& [length, taken] : {std::pair<std::size_t, bool>{254, false}, {255, true}, {512, true}, {513, false}}) {
    CAPTURE(length);
    PacketDecoder decoder;
    CHECK(decoded(decoder, long_frame(length)).size() == (taken ? 1 : 0));
  }
}

TEST_CASE("a good frame inside a bad one is found: one byte is dropped at a time") {
  const Bytes alive = bytes_of("02011ef3ff03");
  Bytes bad = {2, 7};
  bad.insert(bad.end(), alive.begin(), alive.end());
  bad.insert(bad.end(), {0, 0, 0, 0});
  PacketDecoder decoder;
  CHECK(decoded(decoder, bad) == std::vector<Bytes>{{30}});
}

TEST_CASE("a wrong sum, a wrong stop byte, a length of 0 and an unknown start are dropped") {
  for (const std::string_view hex : {"02011ef3fe03", "02011ef3ff04", "0200000003", "04011ef3ff03"}) {
    CAPTURE(hex);
    PacketDecoder decoder;
    Bytes bytes = bytes_of(hex);
    const Bytes good = bytes_of("020104408403");
    bytes.insert(bytes.end(), good.begin(), good.end());
    CHECK(decoded(decoder, bytes) == std::vector<Bytes>{{4}});
    CHECK(decoder.rejected() > 0);
  }
}

TEST_CASE("byte by byte gives the same packets") {
  Bytes bytes;
  for (const std::string_view hex : kGolden) {
    const Bytes frame = bytes_of(hex);
    bytes.insert(bytes.end(), frame.begin(), frame.end());
  }
  PacketDecoder whole;
  PacketDecoder bits;
  std::vector<Bytes> one_by_one;
  for (const std::uint8_t byte : bytes) {
    const auto packets = decoded(bits, {byte});
    one_by_one.insert(one_by_one.end(), packets.begin(), packets.end());
  }
  CHECK(one_by_one == decoded(whole, bytes));
  CHECK(one_by_one.size() == kGolden.size());
}

TEST_CASE("a stray 03 01 80 keeps everything waiting for 384 bytes, and then all of it comes at once") {
  PacketDecoder decoder;
  const Bytes alive = bytes_of("02011ef3ff03");
  CHECK(decoded(decoder, {3, 1, 0x80}).empty());
  std::size_t fed = 3;
  std::size_t packets = 0;
  std::size_t in_one_go = 0;
  while (packets == 0 && fed < 1000) {
    in_one_go = decoded(decoder, alive).size();
    packets += in_one_go;
    fed += alive.size();
  }
  // The claim is complete with 3 + 384 + 3 bytes: 65 frames of 6 bytes behind the stray ones.
  CHECK(fed == 393);
  CHECK(in_one_go == 65);
}

TEST_CASE("FW_VERSION is the example of the document") {
  VescConfig config;
  config.hardware = "PEER_60";
  config.uuid = {0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b};
  config.paired = false;
  config.test_version = 1;
  Vesc vesc(config);
  CHECK(hex_of(asked(vesc, at_ms(1), {0})) ==
        "000701"
        "504545525f363000"
        "101112131415161718191a1b"
        "000100000000000000"
        "deadbeef");
}

TEST_CASE("the full reply is 74 bytes of 7.01, 73 of 5.2, 59 of 3.40, and the old layout before 3.33") {
  for (const auto& [firmware, length] :
       {std::pair{"firmware 7 1", 74}, {"firmware 5 2", 73}, {"firmware 3 40", 59}, {"firmware 2 18", 56}}) {
    CAPTURE(firmware);
    Vesc vesc;
    turn(vesc, at_ms(0), firmware);
    CHECK(values(vesc, at_ms(1)).size() == static_cast<std::size_t>(length));
  }
  Vesc old;
  turn(old, at_ms(0), "firmware 2 18");
  CHECK(asked(old, at_ms(1), {0}) == Bytes{0, 2, 18});
}

TEST_CASE("the fields of the full reply are where the table has them") {
  VescConfig config;
  config.own_motor = false;
  Vesc vesc(config);
  turn(vesc, at_ms(0), "battery 11.3");
  turn(vesc, at_ms(0), "fet_temperature 41.2");
  turn(vesc, at_ms(0), "motor_temperature -12.7");
  MotorState motor;
  motor.erpm = -4614.0;
  motor.revolutions = -100.5;
  motor.travelled = 200.5;
  motor.current_a = 12.34;
  motor.input_a = -3.21;
  motor.duty = -0.25;
  vesc.drive(at_ms(0), motor);
  vesc.advance(at_ms(11));
  const Bytes p = values(vesc, at_ms(11));
  CHECK(p[0] == 4);
  CHECK(i16_at(p, 1, 10) == doctest::Approx(41.2));
  CHECK(i16_at(p, 3, 10) == doctest::Approx(-12.7));
  CHECK(i32_at(p, 5, 100) == doctest::Approx(12.34).epsilon(0.001));
  CHECK(i32_at(p, 9, 100) == doctest::Approx(-3.21).epsilon(0.004));
  CHECK(i32_at(p, 17, 100) == doctest::Approx(12.34).epsilon(0.001));
  CHECK(i16_at(p, 21, 1000) == -0.25);
  CHECK(i32_at(p, 23, 1) == -4614);
  CHECK(i16_at(p, 27, 10) == doctest::Approx(11.3));
  CHECK(i32_at(p, 45, 1) == -603);
  CHECK(i32_at(p, 49, 1) == 1203);
  CHECK(p[53] == 0);
  CHECK(p[58] == 9);
  CHECK(p[73] == 0);
}

TEST_CASE("the selective reply echoes the mask and has the set fields only") {
  Vesc vesc;
  const Bytes racing = asked(vesc, at_ms(1), bytes_of("320020a3ff"));
  // Bits 0..9, 13, 15 and 21.
  CHECK(racing.size() == 5 + 2 + 2 + 4 * 4 + 2 + 4 + 2 + 4 + 4 + 1 + 1);
  CHECK(hex_of(ByteView(racing).first(5)) == "320020a3ff");
  CHECK(asked(vesc, at_ms(2), bytes_of("3200000100")).size() == 7);
  turn(vesc, at_ms(3), "firmware 5 2");
  CHECK(asked(vesc, at_ms(4), bytes_of("320020a3ff")).size() == racing.size() - 1);
}

TEST_CASE("the set-up view is 70 bytes and tells the time since the start") {
  Vesc vesc;
  const Bytes p = asked(vesc, at_ms(1500), {vesc_id::kGetValuesSetup});
  CHECK(p.size() == 70);
  CHECK(i32_at(p, 66, 1) == 1500);
}

TEST_CASE("the IMU answers 68 bytes for everything and 28 for rates and accelerations, in g and degrees per second") {
  Vesc vesc;
  vesc.feel({{0.0, 0.0, 0.0}, {0.25, -0.5, 1.0}, {10.0, 0.0, -90.5}});
  CHECK(asked(vesc, at_ms(1), bytes_of("41ffff")).size() == 68);
  const Bytes p = asked(vesc, at_ms(1), bytes_of("4101f8"));
  CHECK(p.size() == 28);
  const auto value = [&](std::size_t i) { return std::bit_cast<float>(read_u32(ByteView(p).subspan(3 + 4 * i))); };
  CHECK(value(0) == 0.25F);
  CHECK(value(1) == -0.5F);
  CHECK(value(2) == 1.0F);
  CHECK(value(3) == 10.0F);
  CHECK(value(5) == -90.5F);
  turn(vesc, at_ms(2), "imu 0");
  const Bytes none = asked(vesc, at_ms(2), bytes_of("4101f8"));
  CHECK(std::all_of(none.begin() + 3, none.begin() + 27, [](std::uint8_t byte) { return byte == 0; }));
}

TEST_CASE("unknown ids are passed over in silence") {
  Vesc vesc;
  vesc.receive(at_ms(1), vesc_frame(Bytes{200, 1, 2, 3}));
  vesc.receive(at_ms(1), vesc_frame(Bytes{vesc_id::kSetRpm, 1}));
  CHECK(vesc.take().empty());
  CHECK(vesc.log().empty());
}

}  // namespace pitwall::emulators
