// SPDX-License-Identifier: Apache-2.0
#include "ros_messages/message_sinks.hpp"

#include <algorithm>

namespace pitwall::ros_messages {

namespace detail {

namespace {

/// Bytes of the UTF-8 character at the front (RFC 3629), or 0.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xC2 && first < 0xE0 ? 2 : first >= 0xE0 && first < 0xF0 ? 3 : first >= 0xF0 && first < 0xF5 ? 4 : 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool outside = (first == 0xED && byte(1) >= 0xA0) || (first == 0xF4 && byte(1) >= 0x90);
  return overlong || outside ? 0 : length;
}

}  // namespace

void append_json_string(std::string_view text, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  while (!text.empty()) {
    const char c = text[0];
    const std::size_t length = utf8_length(text);
    if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (c == '\n' || c == '\t' || c == '\r') {
      (out += '\\') += c == '\n' ? 'n' : c == '\t' ? 't' : 'r';
    } else if (static_cast<unsigned char>(c) < 0x20) {
      ((out += "\\u00") += kHex[static_cast<unsigned char>(c) >> 4U]) += kHex[static_cast<unsigned char>(c) & 15U];
    } else if (length == 0) {
      out += "\xef\xbf\xbd";
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max(std::size_t{1}, length));
  }
  out += '"';
}

}  // namespace detail

std::string json_string(std::string_view text) {
  std::string out;
  detail::append_json_string(text, out);
  return out;
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace pitwall::ros_messages
