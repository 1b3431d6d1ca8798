// SPDX-License-Identifier: Apache-2.0
// The frames of a VESC, by the rules of its firmware:
//   02 LEN payload CRC16 03          payload of 1..255 bytes
//   03 LEN_HI LEN_LO payload CRC16 03   255..512 bytes (what the board sends itself is short up to 255)
// Integers are big-endian; CRC-16/XMODEM of the payload. Whatever is wrong with a frame, one byte is dropped and the rest is looked
// at again, so a good frame inside a bad one is found; and a stray `03 01 80` keeps everything waiting for 384 bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace pitwall::emulators {

/// CRC-16/XMODEM: polynomial 0x1021 from 0, not reflected.
std::uint16_t crc16_xmodem(std::span<const std::uint8_t> bytes);

/// The payload as a frame.
std::vector<std::uint8_t> vesc_frame(std::span<const std::uint8_t> payload);

/// The board's end of the line.
class PacketDecoder {
 public:
  static constexpr std::size_t kLongest = 512;

  /// Calls `packet` with the payload of each frame that is complete now.
  void feed(std::span<const std::uint8_t> bytes, const std::function<void(std::span<const std::uint8_t>)>& packet);
  void clear() { buffer_.clear(); }
  /// Bytes dropped since made.
  [[nodiscard]] std::int64_t rejected() const { return rejected_; }
  /// Bytes that wait for more.
  [[nodiscard]] std::size_t waiting() const { return buffer_.size(); }

 private:
  std::vector<std::uint8_t> buffer_;
  std::int64_t rejected_ = 0;
};

}  // namespace pitwall::emulators
