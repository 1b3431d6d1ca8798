// SPDX-License-Identifier: Apache-2.0
// RPLIDAR and LD19 as drivers.md section 3 has them.
#include <doctest/doctest.h>

#include <cmath>

#include "core/math.hpp"
#include "drivers/emulators/ld19.hpp"
#include "drivers/emulators/room.hpp"
#include "drivers/emulators/rplidar.hpp"
#include "drivers/emulators/test_hex.hpp"

namespace pitwall::emulators {
namespace {

unsigned u16(const Bytes& bytes, std::size_t at) { return bytes[at] | static_cast<unsigned>(bytes[at + 1]) << 8; }

std::string asked(Rplidar& lidar, Time now, std::string_view hex) {
  (void)lidar.take();
  lidar.receive(now, bytes_of(hex));
  return hex_of(said_by(lidar));
}

/// Range of the room at a clockwise bearing, mm.
double room_mm(double clockwise_deg) { return 1e3 * room_range_m(-clockwise_deg * math::kPi / 180.0); }

}  // namespace

TEST_CASE("RPLIDAR: info, health and sample rate with their descriptors") {
  Rplidar lidar;
  CHECK(asked(lidar, at_ms(1), "a550") ==
        "a55a1400000004"
        "281d0105"
        "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf");
  CHECK(asked(lidar, at_ms(1), "a552") ==
        "a55a0300000006"
        "000000");
  CHECK(asked(lidar, at_ms(1), "a559") ==
        "a55a0400000015"
        "fa00fa00");
  turn(lidar, at_ms(1), "health 2");
  CHECK(asked(lidar, at_ms(1), "a552") ==
        "a55a0300000006"
        "020080");
  CHECK(asked(lidar, at_ms(1), "a520").empty());
}

TEST_CASE("RPLIDAR: configuration asks with a sum, and a wrong sum is no request") {
  Rplidar lidar;
  // 84 with key 70: a5 ^ 84 ^ 04 ^ 70 = 55.
  CHECK(asked(lidar, at_ms(1),
              "a5840470000000"
              "55") ==
        "a55a0600000020"
        "70000000"
        "0200");
  CHECK(asked(lidar, at_ms(1),
              "a5840470000000"
              "54")
            .empty());
  CHECK(asked(lidar, at_ms(1), "ffa552") == "a55a0300000006000000");
}

TEST_CASE("RPLIDAR: standard nodes turn clockwise, with one start bit a turn") {
  Rplidar lidar;
  CHECK(asked(lidar, at_ms(0), "a520") ==
        "a55a05000040"
        "81");
  lidar.advance(at_ms(1000));
  const Bytes nodes = said_by(lidar);
  REQUIRE(nodes.size() == 5 * 4000);
  int starts = 0;
  for (std::size_t i = 0; i < nodes.size(); i += 5) {
    const bool start = (nodes[i] & 1) != 0;
    CHECK(start != ((nodes[i] & 2) != 0));
    CHECK((nodes[i + 1] & 1) == 1);
    starts += start ? 1 : 0;
    const double angle = (u16(nodes, i + 1) >> 1) / 64.0;
    CHECK(std::fabs(u16(nodes, i + 3) / 4.0 - room_mm(angle)) < 20.0);
  }
  CHECK(starts == 10);
  (void)asked(lidar, at_ms(1000), "a525");
  lidar.advance(at_ms(2000));
  CHECK(lidar.take().empty());
}

TEST_CASE("RPLIDAR: capsules have their sums in the sync nibbles, start angles a capsule apart, and the first one marked") {
  for (const bool dense : {false, true}) {
    CAPTURE(dense);
    RplidarConfig config;
    config.capsule = dense ? RplidarCapsule::kDense : RplidarCapsule::kLegacy;
    Rplidar lidar(config);
    CHECK(asked(lidar, at_ms(0),
                "a582050000000000"
                "22") == (dense ? "a55a5400004085" : "a55a5400004082"));
    lidar.advance(at_ms(1000));
    const std::vector<Bytes> capsules = lidar.take();
    const int points = dense ? 40 : 32;
    REQUIRE(capsules.size() == static_cast<std::size_t>(4000 / points));
    for (std::size_t i = 0; i < capsules.size(); ++i) {
      const Bytes& c = capsules[i];
      REQUIRE(c.size() == 84);
      std::uint8_t sum = 0;
      for (std::size_t k = 2; k < 84; ++k) sum ^= c[k];
      CHECK((c[0] >> 4) == 0xa);
      CHECK((c[1] >> 4) == 0x5);
      CHECK(((c[0] & 15) | (c[1] & 15) << 4) == sum);
      CHECK((u16(c, 2) >> 15) == (i == 0 ? 1U : 0U));
      const double start_deg = (u16(c, 2) & 0x7fff) / 64.0;
      CHECK(start_deg == doctest::Approx(std::fmod(0.9 * points * static_cast<double>(i), 360.0)).epsilon(0.001));
      const double first_mm = dense ? u16(c, 4) : u16(c, 4) >> 2;
      CHECK(first_mm == doctest::Approx(room_mm(start_deg)).epsilon(0.01));
    }
  }
}

TEST_CASE("RPLIDAR: ultra capsules have 32 words of a distance and two differences, past the axis as the laser looks") {
  RplidarConfig config;
  config.capsule = RplidarCapsule::kUltra;
  config.samples_per_s = 8000.0;
  Rplidar lidar(config);
  // 1 m all round: 512 + (1000 - 512) / 2 = 756, and both neighbours as far.
  lidar.look([](Time, double) { return 1.0; });
  CHECK(asked(lidar, at_ms(0), "a58205000000000022") == "a55a8400004084");
  lidar.advance(at_ms(24));
  const std::vector<Bytes> capsules = lidar.take();
  REQUIRE(capsules.size() == 2);
  for (const Bytes& c : capsules) {
    REQUIRE(c.size() == 132);
    for (std::size_t at = 4; at < 132; at += 4) CHECK((u16(c, at) | u16(c, at + 2) << 16) == 756U);
  }
  CHECK(u16(capsules[0], 2) == 0x8000);
  CHECK(u16(capsules[1], 2) == 2765);  // 43.2 degrees in 64ths
  // A wall that begins at 90 degrees to the right is met 6.6 degrees later by the encoder: 8 - (64 k + k^3 / 98304) / 65536 rad, k = 24.59.
  Rplidar edge(config);
  edge.look([](Time, double bearing_rad) { return bearing_rad < -math::kPi / 2 && bearing_rad > -math::kPi ? 1.0 : 0.0; });
  (void)asked(edge, at_ms(0), "a58205000000000022");
  edge.advance(at_ms(36));
  int word = 0;
  for (const Bytes& c : edge.take()) {
    for (std::size_t at = 4; at < 132 && (u16(c, at) & 0xfff) == 0; at += 4) ++word;
    if (word % 32 != 0) break;
  }
  CHECK(word * 3 * 0.45 == doctest::Approx(96.6).epsilon(0.02));
}

TEST_CASE("LD19: the check value of the CRC, and frames of 47 bytes with 12 points at their angles") {
  Ld19 lidar;
  lidar.advance(at_ms(1000));
  const std::vector<Bytes> frames = lidar.take();
  REQUIRE(frames.size() == 375);
  for (const Bytes& frame : frames) {
    REQUIRE(frame.size() == 47);
    CHECK(frame[0] == 0x54);
    CHECK(frame[1] == 0x2c);
    CHECK(u16(frame, 2) == 3600);
    CHECK(crc8_ld19(ByteView(frame).first(46)) == frame[46]);
    const double start = u16(frame, 4) / 100.0;
    const double span = std::fmod(u16(frame, 42) / 100.0 - start + 360.0, 360.0);
    CHECK(span == doctest::Approx(11 * 0.8).epsilon(0.01));
    for (int i = 0; i < 12; ++i)
      CHECK(u16(frame, 6 + 3 * static_cast<std::size_t>(i)) == doctest::Approx(room_mm(start + i * span / 11)).epsilon(0.02));
  }
  CHECK(u16(frames.back(), 44) == 1000);
}

TEST_CASE("LD19: its clock wraps at 30 s") {
  Ld19 lidar;
  turn(lidar, at_ms(0), "wrap_in 0.5");
  lidar.advance(at_ms(600));
  bool wrapped = false;
  unsigned last = 0;
  for (const Bytes& frame : lidar.take()) {
    const unsigned ms = u16(frame, 44);
    CHECK(ms < 30000);
    wrapped = wrapped || ms < last;
    last = ms;
  }
  CHECK(wrapped);
}

}  // namespace pitwall::emulators
