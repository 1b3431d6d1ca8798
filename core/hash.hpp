// SPDX-License-Identifier: Apache-2.0
// A 64-bit running hash for traces and data files: equal on every machine, compiler and byte order. Each 64-bit word
// goes through the finaliser of MurmurHash3 (a bijection), so a single differing bit moves the whole value. Not
// cryptographic.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pitwall {

/// Add values in order, read value() at any time. add(double) hashes the bits, so -0.0 and 0.0 differ.
class Hash {
 public:
  constexpr void add(std::uint64_t word) {
    std::uint64_t h = state_ ^ word;
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdULL;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    state_ = (h ^ (h >> 33)) + 0x9e3779b97f4a7c15ULL;
  }
  constexpr void add(std::int64_t word) { add(static_cast<std::uint64_t>(word)); }
  constexpr void add(double value) { add(std::bit_cast<std::uint64_t>(value)); }
  constexpr void add(float value) { add(std::uint64_t{std::bit_cast<std::uint32_t>(value)}); }
  /// The text with its length, eight bytes a word, little-endian whatever the machine.
  constexpr void add(std::string_view text) {
    add(std::uint64_t{text.size()});
    for (std::size_t i = 0; i < text.size(); i += 8) {
      std::uint64_t word = 0;
      for (std::size_t k = 0; k < 8 && i + k < text.size(); ++k) {
        word |= std::uint64_t{static_cast<unsigned char>(text[i + k])} << (8 * k);
      }
      add(word);
    }
  }
  /// Many floats, two a word, in eight lanes that do not wait for one another (a scan of 1081: 0.5 us instead of 3).
  void add(std::span<const float> values);
  [[nodiscard]] constexpr std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0;
};

/// 16 lower-case hexadecimal digits.
std::string to_hex(std::uint64_t value);

}  // namespace pitwall
