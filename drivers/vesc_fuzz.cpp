// SPDX-License-Identifier: Apache-2.0
// Any bytes are frames or none, however cut; what is found frames to bytes that are found again; a session outlives all of it.
#include <bit>
#include <cmath>

#include "drivers/test_fuzz.hpp"
#include "drivers/vesc_session.hpp"

using namespace pitwall;
using namespace pitwall::drivers;

namespace {

void look_at(Bytes payload) {
  (void)vesc::decode_values(payload);
  (void)vesc::decode_setup_values(payload);
  if (const auto version = vesc::decode_fw_version(payload)) {
    PITWALL_CHECK(version->hardware.size() < payload.size());
    (void)version->text();
  }
  (void)vesc::decode_print(payload);
  if (const auto imu = vesc::decode_imu(payload)) {
    PITWALL_CHECK(std::isfinite(imu->linear_acceleration_mps2[2]) && std::isfinite(imu->quaternion_wxyz[0]));
  }
  std::vector<std::byte> frame;
  vesc::append_frame(payload, frame);
  vesc::FrameDecoder again;
  again.push(frame);
  const auto found = again.next();
  PITWALL_CHECK(found && test::to_hex(*found) == test::to_hex(payload));
}

void give_command(VescSession& session, Bytes bytes) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    bits = bits << 8U | u8_at(bytes, i);
  }
  const auto value = std::bit_cast<double>(bits);
  const auto kind = static_cast<vesc::CommandKind>(u8_at(bytes, 8) % 8);
  const auto handed = session.command({kind, value});
  PITWALL_CHECK((handed == VescSession::Handed::kNotFinite) == !std::isfinite(value), value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  test::check_cuts<vesc::FrameDecoder>(bytes, [](vesc::FrameDecoder& decoder, std::string& all) {
    while (const auto payload = decoder.next()) {
      all += test::to_hex(*payload) + " ";
    }
  });
  vesc::FrameDecoder decoder;
  decoder.push(bytes);
  while (const auto payload = decoder.next()) {
    look_at(*payload);
  }
  decoder.give_up_partial();
  while (const auto payload = decoder.next()) {
    look_at(*payload);
  }
  PITWALL_CHECK(!decoder.partial());
  if (size >= 3) {
    look_at(bytes.first(std::min<std::size_t>(size, 1024)));
  }
  VescSession session;
  session.start(test::ms(1000));
  session.receive(test::hex("02030006028ae403"), test::ms(1001));
  PITWALL_CHECK(session.firmware());
  test::drive(session, bytes, test::ms(1001), [&](Time now) {
    if (size >= 9) {
      give_command(session, bytes);
    }
    while (const auto values = session.next_telemetry()) {
      PITWALL_CHECK(values->stamp <= values->arrival && values->arrival <= now);
    }
  });
  return 0;
}
