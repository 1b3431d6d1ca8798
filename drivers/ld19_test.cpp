// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/math.hpp"
#include "drivers/ld19_session.hpp"
#include "drivers/test_line.hpp"
#include "drivers/test_turning.hpp"

using namespace pitwall;
using namespace pitwall::drivers;
using namespace pitwall::drivers::test;

namespace {}  // namespace

TEST_CASE("LD19: the vendor's example frame, both of its checks, and points clockwise") {
  // From the development manual of the LD19.
  const auto frame =
      hex("54 2c 68 08 ab 7e e0 00 e4 dc 00 e2 d9 00 e5 d5 00 e3 d3 00 e4 d0 00 e9 cd 00 e4 ca 00 e2 c7 00 e9 c5 00 e5 c2 00 e5 c0 00 e5 "
          "be 82 3a 1a 50");
  REQUIRE(frame.size() == ld19::kFrameBytes);
  CHECK(ld19::crc8(Bytes(frame).first(46)) == 0x50);
  ld19::FrameDecoder decoder;
  decoder.push(frame);
  const auto decoded = decoder.next();
  REQUIRE(decoded);
  CHECK(decoded->speed_deg_per_s == 2152);
  CHECK(decoded->time_ms == 0x1A3A);
  CHECK(decoded->points[0].distance_m == doctest::Approx(0.224));
  CHECK(decoded->points[0].intensity == 0xE4);
  CHECK(decoded->points[11].distance_m == doctest::Approx(0.192));
  CHECK(decoded->points[0].clockwise_rad == doctest::Approx(324.27 * math::kDegree));
  CHECK(decoded->points[11].clockwise_rad == doctest::Approx(334.7 * math::kDegree));
}

TEST_CASE("LD19: 54 54 2C finds the second 54; no cut and no damaged byte makes a wrong frame") {
  const auto frame = ld19_frame(359.0, 1.0, 500, 1234);
  auto stream = hex("54");
  append(stream, frame);
  append(stream, frame);
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    ld19::FrameDecoder decoder;
    int frames = 0;
    for (const Bytes part : {Bytes(stream).first(cut), Bytes(stream).subspan(cut)}) {
      decoder.push(part);
      while (decoder.next()) {
        ++frames;
      }
    }
    REQUIRE(frames == 2);
    REQUIRE(decoder.dropped_bytes() == 1);
  }
  for (std::size_t i = 0; i < 47; ++i) {
    for (unsigned flip = 1; flip < 256; ++flip) {
      auto damaged = frame;
      damaged[i] ^= static_cast<std::byte>(flip);
      append(damaged, frame);
      ld19::FrameDecoder decoder;
      decoder.push(damaged);
      REQUIRE(decoder.next().has_value());  // the second: eight bits in a row are always noticed
      REQUIRE_FALSE(decoder.next().has_value());
    }
  }
  ld19::FrameDecoder decoder;
  decoder.push(frame);
  const auto decoded = decoder.next();
  CHECK(decoded->points[0].clockwise_rad == doctest::Approx(359.0 * math::kDegree));
  CHECK(decoded->points[11].clockwise_rad == doctest::Approx(361.0 * math::kDegree));  // over the seam, not back through the turn
}

TEST_CASE("an LD19 on the line gives a scan a turn with stamps of its own clock, over its wrap of 30 s") {
  Ld19Session session;
  Line line(session);
  line.start();
  const Time begin = line.now;
  const double frame_s = 12.0 / 4500.0;
  int scans = 0;
  double worst = 0.0;
  for (int i = 0; i < 375 * 40; ++i) {
    const double t = i * frame_s;
    const double deg = std::fmod(t * 3600.0, 360.0);
    const double end_s = t + 11.0 / 4500.0;
    const auto time_ms = static_cast<unsigned>(std::floor(end_s * 1e3 + 12'345.0)) % 30'000U;
    const Time measured = begin + from_seconds(end_s);
    line.reply(ld19_frame(deg, 11.0 / 4500.0 * 3600.0 / 2.0, 3600, time_ms), measured + from_milliseconds(2 + i % 3) - line.now);
    line.run(begin + from_seconds((i + 1) * frame_s) - line.now);
    while (const auto scan = session.next_scan()) {
      ++scans;
      CHECK(scan->stamp <= scan->arrival);
      // A turn ends behind the sensor: at a half turn, every 0.1 s.
      const double phase = std::remainder((scan->stamp - begin).seconds() - 0.05, 0.1);
      worst = std::max(worst, std::abs(phase));
      CHECK(std::count_if(scan->value.ranges.begin(), scan->value.ranges.end(), [](float r) { return std::isfinite(r); }) == 450);
    }
  }
  CHECK(scans >= 398);
  CHECK(worst < 2.5e-3);
  CHECK(session.phase() == Phase::kRunning);
  CHECK(session.counters().device_restarts == 0);
  line.run(from_milliseconds(90));
  CHECK(session.phase() == Phase::kSilent);
  line.run(from_milliseconds(500));
  CHECK(session.phase() == Phase::kReconnect);
}

TEST_CASE("two LD19 do not disturb each other") {
  Ld19Session one;
  Ld19Session two;
  one.start(ms(0));
  two.start(ms(0));
  const auto frame = ld19_frame(10.0, 5.0, 3600, 7);
  for (std::size_t i = 0; i < frame.size(); ++i) {
    one.receive({&frame[i], 1}, ms(10));
    two.receive({&frame[(i + 20) % frame.size()], 1}, ms(10));
  }
  CHECK(one.phase() == Phase::kRunning);
  CHECK(two.phase() == Phase::kIdentifying);
}
