// SPDX-License-Identifier: Apache-2.0
// Any bytes are packets or none, however cut; points are finite; a session outlives all of it, scans are never from the future.
#include <cmath>

#include "drivers/rplidar_session.hpp"
#include "drivers/test_fuzz.hpp"

using namespace pitwall;
using namespace pitwall::drivers;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  test::check_cuts<rplidar::PacketReader>(bytes, [](rplidar::PacketReader& reader, std::string& all) {
    while (const auto packet = reader.next()) {
      all += std::to_string(static_cast<int>(packet->type)) + ":" + test::to_hex(packet->data) + " ";
    }
  });
  rplidar::PacketReader reader;
  reader.push(bytes);
  rplidar::PointDecoder decoder;
  std::vector<rplidar::Point> points;
  while (const auto packet = reader.next()) {
    decoder.decode(*packet, points);
    (void)rplidar::decode_info(*packet);
    (void)rplidar::decode_health(*packet);
    (void)rplidar::decode_sample_rate(*packet);
    (void)rplidar::decode_configuration(*packet);
  }
  for (const rplidar::Point& point : points) {
    PITWALL_CHECK(std::isfinite(point.clockwise_rad) && point.distance_m >= 0.0 && point.distance_m < 70.0, point.distance_m);
  }
  // The formats themselves, without a sum in the way.
  using rplidar::AnswerType;
  for (const AnswerType type :
       {AnswerType::kStandard, AnswerType::kExpress, AnswerType::kUltra, AnswerType::kDense, AnswerType::kUltraDense}) {
    const std::size_t length = rplidar::packet_length(type);
    for (std::size_t at = 0; at + length <= size && at < 4 * length; at += length) {
      decoder.decode({type, bytes.subspan(at, length), false}, points);
    }
  }
  for (const bool express : {true, false}) {
    RplidarSession session({.express = express});
    session.start(test::ms(1000));
    session.advance(test::ms(1100));
    session.receive(test::hex("a55a1400000004 18 1d 01 07 000102030405060708090a0b0c0d0e0f"), test::ms(1101));
    session.receive(test::hex("a55a0300000006 00 0000"), test::ms(1102));
    if (!express) {
      session.receive(test::hex("a55a0400000015 f401 fa00"), test::ms(1103));
    }
    test::drive(session, bytes, test::ms(1103), [&](Time now) {
      while (const auto scan = session.next_scan()) {
        PITWALL_CHECK(scan->stamp <= scan->arrival && scan->arrival <= now);
      }
    });
  }
  return 0;
}
