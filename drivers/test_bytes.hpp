// SPDX-License-Identifier: Apache-2.0
// Bytes for tests: written in hexadecimal, cut at every place, damaged at random.
#pragma once

#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/time.hpp"
#include "drivers/bytes.hpp"

namespace pitwall::drivers::test {

/// "02 01 00" or "020100"; blanks are skipped.
inline std::vector<std::byte> hex(std::string_view text) {
  std::vector<std::byte> bytes;
  int half = -1;
  for (const char c : text) {
    if (c == ' ') {
      continue;
    }
    const int digit = c <= '9' ? c - '0' : std::tolower(c) - 'a' + 10;
    if (half < 0) {
      half = digit;
    } else {
      bytes.push_back(static_cast<std::byte>(16 * half + digit));
      half = -1;
    }
  }
  return bytes;
}

inline std::string to_hex(Bytes bytes) {
  std::string text;
  for (const std::byte b : bytes) {
    text += "0123456789abcdef"[std::to_integer<unsigned>(b) >> 4U];
    text += "0123456789abcdef"[std::to_integer<unsigned>(b) & 15U];
  }
  return text;
}

inline void append(std::vector<std::byte>& to, Bytes bytes) { to.insert(to.end(), bytes.begin(), bytes.end()); }
inline void append(std::vector<std::byte>& to, std::string_view text) { append(to, bytes_of(text)); }

inline Time ms(std::int64_t milliseconds) { return {milliseconds * 1'000'000}; }

}  // namespace pitwall::drivers::test
