// SPDX-License-Identifier: Apache-2.0
#include "drivers/emulators/vesc_packet.hpp"

#include <optional>

namespace pitwall::emulators {
namespace {

constexpr std::uint8_t kShort = 2;
constexpr std::uint8_t kLong = 3;
constexpr std::uint8_t kPacketStop = 3;

struct Head {
  std::size_t length = 0;  // of the head
  std::size_t payload = 0;
};

/// Nothing where the head cannot begin a frame; a payload of 0 where it is not complete.
std::optional<Head> head_of(std::span<const std::uint8_t> bytes) {
  if (bytes[0] == kShort) {
    if (bytes.size() < 2) return Head{2, 0};
    if (bytes[1] == 0) return std::nullopt;
    return Head{2, bytes[1]};
  }
  if (bytes[0] == kLong) {
    if (bytes.size() < 3) return Head{3, 0};
    const std::size_t payload = (static_cast<std::size_t>(bytes[1]) << 8) | bytes[2];
    if (payload < 255 || payload > PacketDecoder::kLongest) return std::nullopt;
    return Head{3, payload};
  }
  return std::nullopt;
}

}  // namespace

std::uint16_t crc16_xmodem(std::span<const std::uint8_t> bytes) {
  unsigned crc = 0;
  for (const std::uint8_t byte : bytes) {
    crc ^= static_cast<unsigned>(byte) << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000U) != 0 ? (crc << 1) ^ 0x1021U : crc << 1;
    crc &= 0xffffU;
  }
  return static_cast<std::uint16_t>(crc);
}

std::vector<std::uint8_t> vesc_frame(std::span<const std::uint8_t> payload) {
  std::vector<std::uint8_t> frame;
  const std::size_t length = payload.size();
  if (length > 255) {
    frame = {kLong, static_cast<std::uint8_t>(length >> 8), static_cast<std::uint8_t>(length & 0xff)};
  } else {
    frame = {kShort, static_cast<std::uint8_t>(length)};
  }
  frame.insert(frame.end(), payload.begin(), payload.end());
  const std::uint16_t crc = crc16_xmodem(payload);
  frame.push_back(static_cast<std::uint8_t>(crc >> 8));
  frame.push_back(static_cast<std::uint8_t>(crc & 0xff));
  frame.push_back(kPacketStop);
  return frame;
}

void PacketDecoder::feed(std::span<const std::uint8_t> bytes, const std::function<void(std::span<const std::uint8_t>)>& packet) {
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  std::size_t at = 0;
  while (at < buffer_.size()) {
    const std::span<const std::uint8_t> rest = std::span<const std::uint8_t>(buffer_).subspan(at);
    const std::optional<Head> head = head_of(rest);
    if (head) {
      const std::size_t total = head->length + head->payload + 3;
      if (head->payload == 0 || rest.size() < total) break;
      const auto payload = rest.subspan(head->length, head->payload);
      const std::uint16_t crc = crc16_xmodem(payload);
      const std::uint8_t* tail = rest.data() + head->length + head->payload;
      if (tail[0] == crc >> 8 && tail[1] == (crc & 0xff) && tail[2] == kPacketStop) {
        packet(payload);
        at += total;
        continue;
      }
    }
    ++at;
    ++rejected_;
  }
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace pitwall::emulators
