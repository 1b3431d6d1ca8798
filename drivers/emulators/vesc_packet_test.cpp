// SPDX-License-Identifier: Apache-2.0
#include "drivers/emulators/vesc_packet.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "drivers/emulators/test_hex.hpp"

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

}  // namespace pitwall::emulators
