// SPDX-License-Identifier: Apache-2.0
// Numbers as a VESC has them on the wire: big-endian, fixed point cut towards zero.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "drivers/emulators/device.hpp"

namespace pitwall::emulators {

inline std::uint32_t read_u32(ByteView bytes) {
  return (std::uint32_t{bytes[0]} << 24) | (std::uint32_t{bytes[1]} << 16) | (std::uint32_t{bytes[2]} << 8) | std::uint32_t{bytes[3]};
}
inline std::int32_t read_i32(ByteView bytes) { return static_cast<std::int32_t>(read_u32(bytes)); }
inline std::int16_t read_i16(ByteView bytes) { return static_cast<std::int16_t>((bytes[0] << 8) | bytes[1]); }

/// A payload under construction.
class VescPayload {
 public:
  explicit VescPayload(std::uint8_t id) { bytes_.push_back(id); }
  void u8(int value) { bytes_.push_back(static_cast<std::uint8_t>(value)); }
  void u16(std::uint32_t value) {
    u8(static_cast<int>(value >> 8 & 0xff));
    u8(static_cast<int>(value & 0xff));
  }
  void u32(std::uint32_t value) {
    u16(value >> 16);
    u16(value & 0xffff);
  }
  void i16(double value, double scale) { u16(static_cast<std::uint32_t>(static_cast<std::int32_t>(value * scale)) & 0xffff); }
  void i32(double value, double scale) { u32(static_cast<std::uint32_t>(static_cast<std::int64_t>(value * scale))); }
  /// IEEE 754 for normal numbers; the board has none below 1.5e-38.
  void float_auto(double value) {
    const auto single = static_cast<float>(value);
    u32(std::fabs(single) < 1.5e-38F ? 0U : std::bit_cast<std::uint32_t>(single));
  }
  void text(std::string_view string) {
    bytes_.insert(bytes_.end(), string.begin(), string.end());
    bytes_.push_back(0);
  }
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

}  // namespace pitwall::emulators
