// SPDX-License-Identifier: Apache-2.0
// Checksums and numbers of SCIP: six bits a character, from '0' on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pitwall::emulators {

/// The checksum character of a line.
inline char scip_sum(std::string_view line) {
  unsigned sum = 0;
  for (const char c : line) sum += static_cast<unsigned char>(c);
  return static_cast<char>((sum & 0x3fU) + 0x30U);
}

/// "00" as "00P".
inline std::string summed(std::string_view line) { return std::string(line) + scip_sum(line); }

/// "DMIN:20" as "DMIN:20;4": the sum leaves the semicolon out.
inline std::string summed_entry(const std::string& entry) { return entry + ";" + scip_sum(entry); }

/// The value in that many characters, the highest bits first.
inline std::string encoded(std::uint32_t value, int characters) {
  std::string text;
  for (int i = characters - 1; i >= 0; --i) text.push_back(static_cast<char>((value >> (6 * i) & 0x3fU) + 0x30U));
  return text;
}

}  // namespace pitwall::emulators
