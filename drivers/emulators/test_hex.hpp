// SPDX-License-Identifier: Apache-2.0
// Bytes as the documents print them, for tests.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "core/text.hpp"
#include "drivers/emulators/device.hpp"

namespace pitwall::emulators {

inline Bytes bytes_of(std::string_view hex) {
  std::vector<std::string_view> words = split(hex, ' ');
  const auto bytes = parse_hex(words);
  REQUIRE(bytes.ok());
  return *bytes;
}

inline std::string hex_of(ByteView bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

inline Bytes bytes_of_text(std::string_view text) { return {text.begin(), text.end()}; }

/// Everything that a device has said since the last call.
inline Bytes said_by(Device& device) {
  Bytes all;
  for (const Bytes& message : device.take()) all.insert(all.end(), message.begin(), message.end());
  return all;
}

inline std::string text_of(Device& device) {
  const Bytes bytes = said_by(device);
  return {bytes.begin(), bytes.end()};
}

inline Time at_ms(std::int64_t ms) { return Time{} + from_milliseconds(ms); }

inline void turn(Device& device, Time now, std::string_view knob) {
  const Status turned = device.knobs().turn(now, knob);
  REQUIRE_MESSAGE(turned.ok(), (turned.ok() ? "" : turned.error().message));
}

}  // namespace pitwall::emulators
