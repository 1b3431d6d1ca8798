// SPDX-License-Identifier: Apache-2.0
// Any bytes are responses or none, however cut; what passes the gate is finite and bounded; a session outlives all of it.
#include <cmath>

#include "drivers/bno055_session.hpp"
#include "drivers/test_fuzz.hpp"

using namespace pitwall;
using namespace pitwall::drivers;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  test::check_cuts<bno055::ResponseReader>(bytes, [](bno055::ResponseReader& reader, std::string& all) {
    while (const auto response = reader.next()) {
      all += std::to_string(response->status) + ":" + test::to_hex(response->data) + " ";
      (void)bno055::error_text(response->status);
    }
  });
  bno055::SampleGate gate;
  for (std::size_t at = 0; at + bno055::kSampleBytes <= size; at += bno055::kSampleBytes) {
    const auto sample = bno055::decode_sample(bytes.subspan(at, bno055::kSampleBytes));
    PITWALL_CHECK(sample && std::abs(sample->linear_acceleration_mps2[0]) <= 327.68);
    (void)gate.judge(*sample);
  }
  Bno055Session session;
  session.start(test::ms(1000));
  test::drive(session, bytes, test::ms(1000), [&](Time now) {
    while (const auto imu = session.next_imu()) {
      PITWALL_CHECK(imu->stamp <= imu->arrival && imu->arrival <= now);
    }
  });
  return 0;
}
