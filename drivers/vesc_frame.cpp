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
constexpr std::size_t kTail = 3;        // sum and stop byte

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

// What the first byte of some bytes begins.
struct Begun {
  enum What { kNothing, kUnfinished, kBadSum, kFrame } what = kNothing;
  std::size_t head = 0;    // start byte and length
  std::size_t length = 0;  // of the payload
};

Begun begun_at(Bytes bytes) {
  const bool is_short = bytes[0] == kShortStart;
  if (!is_short && bytes[0] != kLongStart) {
    return {};
  }
  Begun begun{Begun::kUnfinished, is_short ? std::size_t{2} : std::size_t{3}, 0};
  if (bytes.size() < begun.head) {
    return begun;
  }
  begun.length = is_short ? drivers::u8_at(bytes, 1) : static_cast<std::size_t>(drivers::u8_at(bytes, 1)) << 8U | drivers::u8_at(bytes, 2);
  if (begun.length == 0 || begun.length > FrameDecoder::kLongestPayload || (!is_short && begun.length < kShortest)) {
    return {};
  }
  const std::size_t end = begun.head + begun.length;
  if (bytes.size() < end + kTail) {
    return begun;
  }
  if (bytes[end + kTail - 1] != kStop) {
    return {};
  }
  const unsigned crc = static_cast<unsigned>(drivers::u8_at(bytes, end)) << 8U | drivers::u8_at(bytes, end + 1);
  begun.what = crc == crc16(bytes.subspan(begun.head, begun.length)) ? Begun::kFrame : Begun::kBadSum;
  return begun;
}

// Where behind the first byte a whole frame begins; 0: nowhere.
std::size_t first_frame_in(Bytes bytes) {
  for (std::size_t at = 1; at < bytes.size(); ++at) {
    if (begun_at(bytes.subspan(at)).what == Begun::kFrame) {
      return at;
    }
  }
  return 0;
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
  patience_ = Patience::kForTheRest;
  bytes_.push(bytes);
}

void FrameDecoder::clear() {
  patience_ = Patience::kForTheRest;
  bytes_.clear();
}

std::optional<Bytes> FrameDecoder::next() {
  while (!bytes_.empty()) {
    const Begun begun = begun_at(bytes_.rest());
    if (begun.what == Begun::kFrame) {
      return bytes_.take(begun.head + begun.length + kTail).subspan(begun.head, begun.length);
    }
    if (begun.what == Begun::kBadSum) {
      bytes_.drop_bad_sum();
      continue;
    }
    std::size_t drop = 1;
    if (begun.what == Begun::kUnfinished && patience_ != Patience::kNone) {
      drop = patience_ == Patience::kForWholeFrames ? first_frame_in(bytes_.rest()) : 0;
    }
    if (drop == 0) {
      return std::nullopt;
    }
    for (; drop > 0; --drop) {
      bytes_.drop_byte();
    }
  }
  patience_ = Patience::kForTheRest;
  return std::nullopt;
}

}  // namespace pitwall::vesc
