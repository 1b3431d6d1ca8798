// SPDX-License-Identifier: Apache-2.0
#include "drivers/ld19.hpp"

#include "core/math.hpp"

namespace pitwall::ld19 {
namespace {

using drivers::u16_le_at;
using drivers::u8_at;

constexpr std::byte kStart{0x54};
constexpr std::byte kLength{0x2C};
constexpr std::array<std::size_t, 5> kOffsets{2, 4, 6, 42, 44};  // speed, start angle, points, end angle, time

Frame decode(Bytes bytes) {
  constexpr double kHundredth = math::kPi / 18000.0;
  constexpr int kTurn = 36000;
  Frame frame;
  frame.speed_deg_per_s = u16_le_at(bytes, kOffsets[0]);
  frame.time_ms = u16_le_at(bytes, kOffsets[4]);
  const int start = u16_le_at(bytes, kOffsets[1]);
  const int span = ((u16_le_at(bytes, kOffsets[3]) - start) % kTurn + kTurn) % kTurn;
  for (std::size_t i = 0; i < kPoints; ++i) {
    const std::size_t at = kOffsets[2] + 3 * i;
    const double angle = start + span * static_cast<double>(i) / (kPoints - 1);
    frame.points[i] = {angle * kHundredth, u16_le_at(bytes, at) * 1e-3, u8_at(bytes, at + 2)};
  }
  return frame;
}

}  // namespace

std::uint8_t crc8(Bytes bytes) {
  unsigned crc = 0;
  for (const std::byte b : bytes) {
    crc ^= std::to_integer<unsigned>(b);
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc << 1U ^ ((crc & 0x80U) != 0 ? 0x4DU : 0U)) & 0xFFU;
    }
  }
  return static_cast<std::uint8_t>(crc);
}

std::optional<Frame> FrameDecoder::next() {
  while (!bytes_.empty()) {
    const Bytes rest = bytes_.rest();
    if (rest[0] != kStart || (rest.size() > 1 && rest[1] != kLength)) {
      bytes_.drop_byte();
    } else if (rest.size() < kFrameBytes) {
      return std::nullopt;
    } else if (crc8(rest.first(kFrameBytes - 1)) != u8_at(rest, kFrameBytes - 1)) {
      bytes_.drop_bad_sum();
    } else {
      return decode(bytes_.take(kFrameBytes));
    }
  }
  return std::nullopt;
}

}  // namespace pitwall::ld19
