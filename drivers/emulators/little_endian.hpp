// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace pitwall::emulators {

/// The lowest `count` bytes of a number, lowest first.
inline void append_le(std::vector<std::uint8_t>& bytes, std::uint64_t value, int count) {
  for (int i = 0; i < count; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i) & 0xff));
}

}  // namespace pitwall::emulators
