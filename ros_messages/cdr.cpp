// SPDX-License-Identifier: Apache-2.0
#include "ros_messages/cdr.hpp"

#include <array>
#include <limits>

#include "core/check.hpp"

namespace pitwall::ros_messages {

namespace {

constexpr std::size_t kEncapsulationSize = 4;
constexpr std::size_t kMostPadding = 7;  // some middlewares pad to 4 or 8 bytes

constexpr std::array<std::string_view, 12> kEncapsulations = {"CDR big endian",
                                                              "CDR little endian",
                                                              "PL_CDR big endian",
                                                              "PL_CDR little endian",
                                                              "",
                                                              "",
                                                              "CDR2 big endian",
                                                              "CDR2 little endian",
                                                              "delimited CDR2 big endian",
                                                              "delimited CDR2 little endian",
                                                              "PL_CDR2 big endian",
                                                              "PL_CDR2 little endian"};

void append_utf8(std::uint32_t code, std::string& out) {
  const auto add = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  const auto rest = [&](unsigned shift) { add(0x80U | ((code >> shift) & 0x3FU)); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xC0U | code >> 6U);
    return rest(0);
  }
  if (code < 0x10000) {
    add(0xE0U | code >> 12U);
  } else {
    add(0xF0U | code >> 18U);
    rest(12);
  }
  rest(6);
  rest(0);
}

}  // namespace

CdrReader::CdrReader(std::string_view message) {
  if (message.size() < kEncapsulationSize) {
    error_ = "a message of " + std::to_string(message.size()) + " bytes has no encapsulation (4 bytes)";
    return;
  }
  const unsigned id = static_cast<unsigned char>(message[0]) * 256U + static_cast<unsigned char>(message[1]);
  if (id > 1) {
    const std::string_view name = id < kEncapsulations.size() ? kEncapsulations[id] : "";
    error_ = "encapsulation " + std::to_string(id) + (name.empty() ? "" : " (" + std::string(name) + ")") +
             (message.substr(0, 4) == "\x28\xb5\x2f\xfd" ? ", the first bytes of a zstd frame," : "") +
             " is not read; plain CDR (0 big endian, 1 little endian) is";
    return;
  }
  body_ = message.substr(kEncapsulationSize);
  swap_ = (id == 0) != (std::endian::native == std::endian::big);
}

bool CdrReader::align(std::size_t size) {
  const std::size_t rest = at_ % size;
  if (rest != 0) at_ += std::min(size - rest, left());
  return ok();
}

bool CdrReader::need(std::size_t count, std::size_t size) {
  if (!ok()) return false;
  if (count <= left() / size) return true;
  fail(std::to_string(count) + (count == 1 ? " value of " : " values of ") + std::to_string(size) + " bytes");
  return false;
}

std::string_view CdrReader::text() {
  const auto length = number<std::uint32_t>();
  if (length == 0 || !need(length, 1)) return {};
  const std::string_view bytes = body_.substr(at_, length);
  if (bytes.back() != '\0') {
    error_ = "the string at byte " + std::to_string(kEncapsulationSize + at_) + " does not end in NUL";
    return {};
  }
  at_ += length;
  return bytes.substr(0, length - 1);
}

std::string CdrReader::wide_text(WideLayout layout) {
  constexpr std::uint32_t kReplacement = 0xFFFD;
  constexpr std::uint32_t kMost = 0x10FFFF;
  const bool words = layout == WideLayout::kWords;
  const std::size_t bytes = count(words ? sizeof(std::uint32_t) : 1);
  if (!words && bytes % 2 != 0) fail("a wide string of " + std::to_string(bytes) + " bytes");
  const std::size_t units = words ? bytes : bytes / 2;
  std::string text;
  std::uint32_t high = 0;  // the first half of a pair
  for (std::size_t i = 0; i < units && ok(); ++i) {
    const std::uint32_t unit = words ? number<std::uint32_t>() : number<std::uint16_t>();
    if (unit > kMost) fail("a wide character of " + std::to_string(unit));
    const bool low = unit >= 0xDC00 && unit < 0xE000;
    if (high != 0 && low) {
      append_utf8(0x10000 + ((high - 0xD800) << 10U) + (unit - 0xDC00), text);
      high = 0;
      continue;
    }
    if (high != 0) append_utf8(kReplacement, text);
    high = unit >= 0xD800 && unit < 0xDC00 ? unit : 0;
    if (high == 0) append_utf8(low ? kReplacement : unit, text);
  }
  if (high != 0) append_utf8(kReplacement, text);
  return text;
}

std::size_t CdrReader::count(std::size_t element_size) {
  const auto elements = number<std::uint32_t>();
  if (!need(elements, element_size)) return 0;
  return elements;
}

void CdrReader::fail(const std::string& what) {
  if (ok())
    error_ = what + " at byte " + std::to_string(kEncapsulationSize + at_) + ", where " + std::to_string(left()) + " bytes are left";
}

void CdrReader::in_field(std::string_view name) { field_ = std::string(name) + (field_.empty() || field_[0] == '[' ? "" : ".") + field_; }

Status CdrReader::finish() const {
  if (!ok()) return Error{(field_.empty() ? "" : field_ + ": ") + error_};
  if (left() > kMostPadding) return Error{std::to_string(left()) + " bytes are left over after the last field (up to 7 are padding)"};
  return {};
}

CdrWriter::CdrWriter(std::string& out) : out_(out) {
  out_.clear();
  out_.append(std::string_view("\0\1\0\0", kEncapsulation));
}

void CdrWriter::text(std::string_view value) {
  count(value.size() + 1);
  out_.append(value);
  out_ += '\0';
}

void CdrWriter::count(std::size_t elements) {
  PITWALL_CHECK(elements <= std::numeric_limits<std::uint32_t>::max(), elements);
  number(static_cast<std::uint32_t>(elements));
}

}  // namespace pitwall::ros_messages
