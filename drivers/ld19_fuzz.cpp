// SPDX-License-Identifier: Apache-2.0
// Any bytes are frames or none, however cut; a session outlives all of it, scans are never from the future.
#include <cmath>

#include "drivers/ld19_session.hpp"
#include "drivers/test_fuzz.hpp"

using namespace pitwall;
using namespace pitwall::drivers;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  test::check_cuts<ld19::FrameDecoder>(bytes, [](ld19::FrameDecoder& decoder, std::string& all) {
    while (const auto frame = decoder.next()) {
      all += std::to_string(frame->time_ms) + " ";
      for (const ld19::Point& point : frame->points) {
        PITWALL_CHECK(std::isfinite(point.clockwise_rad) && point.distance_m >= 0.0 && point.distance_m < 66.0);
      }
    }
  });
  // Frames made of the input, since no mutation hits a CRC: 46 bytes each, their sum put behind them.
  std::vector<std::byte> script;
  for (std::size_t at = 0; at + 44 <= size; at += 44) {
    std::vector<std::byte> frame{std::byte{46}, std::byte{0x54}, std::byte{0x2C}};
    test::append(frame, bytes.subspan(at, 44));
    frame.push_back(static_cast<std::byte>(ld19::crc8(Bytes(frame).subspan(1))));
    test::append(script, frame);
    script.push_back(static_cast<std::byte>(0x80U | (u8_at(bytes, at) & 0xFU)));
  }
  for (const Bytes part : {Bytes(script), bytes}) {
    Ld19Session session;
    session.start(test::ms(1000));
    test::drive(session, part, test::ms(1000), [&](Time now) {
      while (const auto scan = session.next_scan()) {
        PITWALL_CHECK(scan->stamp <= scan->arrival && scan->arrival <= now);
      }
    });
  }
  return 0;
}
