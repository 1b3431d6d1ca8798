// SPDX-License-Identifier: Apache-2.0
// Bytes of recordings: little-endian numbers in and out of memory, whatever the machine.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pitwall::recording {

using Bytes = std::span<const std::uint8_t>;
using Buffer = std::vector<std::uint8_t>;

/// The number whose bytes begin at `from`, least significant first.
template <std::unsigned_integral T>
constexpr T load_le(const std::uint8_t* from) {
  T value = 0;
  for (std::size_t k = 0; k < sizeof(T); ++k) value = static_cast<T>(value | static_cast<T>(static_cast<T>(from[k]) << (8 * k)));
  return value;
}
/// The same, most significant first (as SQLite stores numbers).
template <std::unsigned_integral T>
constexpr T load_be(const std::uint8_t* from) {
  T value = 0;
  for (std::size_t k = 0; k < sizeof(T); ++k) value = static_cast<T>(static_cast<std::uint64_t>(value) << 8 | from[k]);
  return value;
}
/// Appends the number, least significant byte first.
template <std::unsigned_integral T>
void append_le(Buffer& out, T value) {
  for (std::size_t k = 0; k < sizeof(T); ++k) out.push_back(static_cast<std::uint8_t>(value >> (8 * k)));
}

inline void append(Buffer& out, Bytes bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); }

inline Bytes as_bytes(std::string_view text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }
inline std::string_view as_text(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace pitwall::recording
