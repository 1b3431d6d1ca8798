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
  // Only here, so that the payload handed out last stays where it is until now.
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(at_));
  at_ = 0;
  give_up_ = false;
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

void FrameDecoder::clear() {
  buffer_.clear();
  at_ = 0;
  in_sync_ = true;
  give_up_ = false;
}

void FrameDecoder::drop_byte() {
  ++at_;
  ++dropped_bytes_;
  resyncs_ += in_sync_ ? 1 : 0;
  in_sync_ = false;
}

std::optional<Bytes> FrameDecoder::next() {
  while (at_ < buffer_.size()) {
    const Bytes rest = Bytes(buffer_).subspan(at_);
    const bool is_short = rest[0] == kShortStart;
    const std::size_t head = is_short ? 2 : 3;
    if (!is_short && rest[0] != kLongStart) {
      drop_byte();
      continue;
    }
    if (rest.size() >= head) {
      const std::size_t length =
          is_short ? drivers::u8_at(rest, 1) : static_cast<std::size_t>(drivers::u8_at(rest, 1)) << 8U | drivers::u8_at(rest, 2);
      const std::size_t whole = head + length + 3;
      if (length == 0 || length > kLongestPayload || (!is_short && length < kShortest)) {
        drop_byte();
        continue;
      }
      if (rest.size() >= whole) {
        const Bytes payload = rest.subspan(head, length);
        const unsigned crc = static_cast<unsigned>(drivers::u8_at(rest, head + length)) << 8U | drivers::u8_at(rest, head + length + 1);
        if (rest[whole - 1] != kStop || crc != crc16(payload)) {
          bad_sums_ += rest[whole - 1] == kStop ? 1 : 0;
          drop_byte();
          continue;
        }
        at_ += whole;
        in_sync_ = true;
        return payload;
      }
    }
    if (!give_up_) {
      return std::nullopt;
    }
    drop_byte();
  }
  give_up_ = false;
  return std::nullopt;
}

}  // namespace pitwall::vesc
