// SPDX-License-Identifier: Apache-2.0
// Integers in a device's bytes, in either order. A reader that runs out says so and gives zeros from there on, so that a reply
// that breaks off is asked once, behind its last field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace pitwall::drivers {

using Bytes = std::span<const std::byte>;

inline std::uint8_t u8_at(Bytes bytes, std::size_t i) { return std::to_integer<std::uint8_t>(bytes[i]); }
/// Little-endian, bytes i and i + 1.
inline std::uint16_t u16_le_at(Bytes bytes, std::size_t i) {
  return static_cast<std::uint16_t>(u8_at(bytes, i) | u8_at(bytes, i + 1) << 8);
}
/// Little-endian, bytes i to i + 3.
inline std::uint32_t u32_le_at(Bytes bytes, std::size_t i) {
  return u16_le_at(bytes, i) | static_cast<std::uint32_t>(u16_le_at(bytes, i + 2)) << 16;
}

inline Bytes bytes_of(std::string_view text) { return {reinterpret_cast<const std::byte*>(text.data()), text.size()}; }
inline std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// Reads big-endian integers (VESC) from front to back.
class BigEndianReader {
 public:
  explicit BigEndianReader(Bytes bytes) : bytes_(bytes) {}

  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
  /// Whether every read so far was covered by the bytes.
  [[nodiscard]] bool good() const { return good_; }

  std::uint8_t u8() { return static_cast<std::uint8_t>(read(1)); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(read(2)); }
  std::uint32_t u32() { return read(4); }
  std::int16_t i16() { return static_cast<std::int16_t>(u16()); }
  std::int32_t i32() { return static_cast<std::int32_t>(u32()); }
  /// The next `count` bytes; empty (and no longer good) if there are fewer.
  Bytes take(std::size_t count) {
    if (left() < count) {
      good_ = false;
      at_ = bytes_.size();
      return {};
    }
    at_ += count;
    return bytes_.subspan(at_ - count, count);
  }

 private:
  std::uint32_t read(std::size_t count) {
    std::uint32_t value = 0;
    for (const std::byte b : take(count)) {
      value = value << 8 | std::to_integer<std::uint32_t>(b);
    }
    return value;
  }

  Bytes bytes_;
  std::size_t at_ = 0;
  bool good_ = true;
};

/// Appends the low `count` bytes of `value`, most significant first.
inline void append_big_endian(std::uint32_t value, int count, std::vector<std::byte>& out) {
  for (int shift = 8 * (count - 1); shift >= 0; shift -= 8) {
    out.push_back(static_cast<std::byte>(value >> shift & 0xFFU));
  }
}

}  // namespace pitwall::drivers
