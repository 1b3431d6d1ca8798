// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "core/check.hpp"
#include "drivers/vesc.hpp"

namespace pitwall::vesc {
namespace {

constexpr std::byte kShortStart{2};
constexpr std::byte kLongStart{3};
constexpr std::byte kStop{3};
constexpr std::size_t kShortest = 255;  // payloads above it need the long form

constexpr std::array<std::uint16_t, 256> crc_table() {
  std::array<std::uint16_t, 256> table{};
  for (unsigned i = 0; i < 256; ++i) {
    unsigned crc = i << 8U;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc << 1U ^ ((crc & 0x8000U) != 0 ? 0x1021U : 0U)) & 0xFFFFU;
    }
    table[i] = static_cast<std::uint16_t>(crc);
  }
  return table;
}

}  // namespace

std::uint16_t crc16(Bytes bytes) {
  static constexpr std::array<std::uint16_t, 256> kTable = crc_table();
  unsigned crc = 0;
  for (const std::byte b : bytes) {
    crc = (crc << 8U & 0xFFFFU) ^ kTable[crc >> 8U ^ std::to_integer<unsigned>(b)];
  }
  return static_cast<std::uint16_t>(crc);
}

void append_frame(Bytes payload, std::vector<std::byte>& out) {
  PITWALL_CHECK(!payload.empty() && payload.size() <= 65535, payload.size());
  const bool is_short = payload.size() <= kShortest;
  out.push_back(is_short ? kShortStart : kLongStart);
  drivers::append_big_endian(static_cast<std::uint32_t>(payload.size()), is_short ? 1 : 2, out);
  const std::uint16_t crc = crc16(payload);
  out.insert(out.end(), payload.begin(), payload.end());
  drivers::append_big_endian(crc, 2, out);
  out.push_back(kStop);
}

void FrameDecoder::push(Bytes bytes) {
  give_up_ = false;
  bytes_.push(bytes);
}

void FrameDecoder::clear() {
  give_up_ = false;
  bytes_.clear();
}

std::optional<Bytes> FrameDecoder::next() {
  while (!bytes_.empty()) {
    const Bytes rest = bytes_.rest();
    const bool is_short = rest[0] == kShortStart;
    const std::size_t head = is_short ? 2 : 3;
    if (!is_short && rest[0] != kLongStart) {
      bytes_.drop_byte();
      continue;
    }
    if (rest.size() >= head) {
      const std::size_t length =
          is_short ? drivers::u8_at(rest, 1) : static_cast<std::size_t>(drivers::u8_at(rest, 1)) << 8U | drivers::u8_at(rest, 2);
      const std::size_t whole = head + length + 3;
      if (length == 0 || length > kLongestPayload || (!is_short && length < kShortest)) {
        bytes_.drop_byte();
        continue;
      }
      if (rest.size() >= whole) {
        const Bytes payload = rest.subspan(head, length);
        const unsigned crc = static_cast<unsigned>(drivers::u8_at(rest, head + length)) << 8U | drivers::u8_at(rest, head + length + 1);
        if (rest[whole - 1] != kStop) {
          bytes_.drop_byte();
          continue;
        }
        if (crc != crc16(payload)) {
          bytes_.drop_bad_sum();
          continue;
        }
        return bytes_.take(whole).subspan(head, length);
      }
    }
    if (!give_up_) {
      return std::nullopt;
    }
    bytes_.drop_byte();
  }
  give_up_ = false;
  return std::nullopt;
}

}  // namespace pitwall::vesc
