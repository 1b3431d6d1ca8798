// SPDX-License-Identifier: Apache-2.0
// What a SCIP sensor writes, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "drivers/scip.hpp"

namespace pitwall::drivers::test {

inline std::string with_sum(const std::string& text) { return text + scip::checksum(text); }
inline std::string info_line(const std::string& text) { return text + ";" + scip::checksum(text) + "\n"; }

inline std::string pp_reply(int rpm = 2400) {
  return "PP\n00P\n" + info_line("MODL:UST-10LX") + info_line("DMIN:20") + info_line("DMAX:30000") + info_line("ARES:1440") +
         info_line("AMIN:0") + info_line("AMAX:1080") + info_line("AFRT:540") + info_line("SCAN:" + std::to_string(rpm)) + "\n";
}

/// A scan with these values in their order (distance and intensity alternate where both were asked for).
inline std::string scan_reply(const scip::ScanRequest& asked, std::uint32_t time_ms, const std::vector<std::uint32_t>& values) {
  std::string text = asked.command() + (asked.continuous ? "\n99b\n" : "\n00P\n") + with_sum(scip::encode_characters(time_ms, 4)) + "\n";
  std::string data;
  for (const std::uint32_t value : values) {
    data += scip::encode_characters(value, asked.two_characters ? 2 : 3);
  }
  for (std::size_t at = 0; at < data.size(); at += 64) {
    text += with_sum(data.substr(at, 64)) + "\n";
  }
  return text + "\n";
}

}  // namespace pitwall::drivers::test
