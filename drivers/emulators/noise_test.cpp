// SPDX-License-Identifier: Apache-2.0
// Whatever a host writes, a device goes on: random bytes, and sound requests with random bytes in them.
#include <doctest/doctest.h>

#include "core/rng.hpp"
#include "drivers/emulators/bno055.hpp"
#include "drivers/emulators/hokuyo.hpp"
#include "drivers/emulators/rplidar.hpp"
#include "drivers/emulators/test_hex.hpp"
#include "drivers/emulators/vesc.hpp"

namespace pitwall::emulators {
namespace {

/// Feeds 3000 pieces of noise about `sound`, ms by ms; then `flush`, and says what the answer to `question` is.
Bytes answer_after_noise(Device& device, const Bytes& sound, const Bytes& flush, const Bytes& question) {
  const Rng noise(7, "noise");
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const auto bits = noise.block(i, 0);
    Bytes piece = sound;
    piece[bits[0] % piece.size()] = static_cast<std::uint8_t>(bits[1]);
    if (i % 3 == 0) piece.assign(bits[2] % 40, static_cast<std::uint8_t>(bits[3]));
    device.receive(at_ms(static_cast<std::int64_t>(i)), piece);
    device.advance(at_ms(static_cast<std::int64_t>(i)));
    (void)device.take();
  }
  device.receive(at_ms(3000), flush);
  (void)device.take();
  device.receive(at_ms(5000), question);
  return said_by(device);
}

}  // namespace

TEST_CASE("noise leaves a VESC able to answer, once 520 zeros have gone through") {
  Vesc vesc;
  const Bytes reply = answer_after_noise(vesc, bytes_of("0205080000120607fa03"), Bytes(520, 0), bytes_of("020100000003"));
  CHECK(reply.size() == 40);
  CHECK(vesc.rejected_bytes() > 1000);
}

TEST_CASE("noise leaves a Hokuyo able to answer") {
  Hokuyo lidar;
  const Bytes reply = answer_after_noise(lidar, bytes_of_text("MD0000108000005\n"), bytes_of_text("\nQT\n"), bytes_of_text("TM2\n"));
  CHECK(std::string(reply.begin(), reply.end()).starts_with("TM2\n0"));
}

TEST_CASE("noise leaves an RPLIDAR and a BNO055 able to answer") {
  Rplidar lidar;
  CHECK(hex_of(answer_after_noise(lidar, bytes_of("a58205000000000022"), Bytes(300, 0), bytes_of("a525a552")))
            .ends_with("a55a0300000006000000"));
  Bno055 imu;
  CHECK(hex_of(answer_after_noise(imu, bytes_of("aa003d0108"), Bytes(300, 0), bytes_of("aa010001"))).ends_with("bb01a0"));
}

}  // namespace pitwall::emulators
