// SPDX-License-Identifier: Apache-2.0
// LDROBOT LD06, LD19 and kin: frames of 47 bytes, 54 2C, twelve points each, CRC-8. The sensor only talks. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "drivers/bytes.hpp"
#include "drivers/frame_buffer.hpp"

namespace pitwall::ld19 {

using drivers::Bytes;

inline constexpr std::size_t kFrameBytes = 47;
inline constexpr std::size_t kPoints = 12;
/// The clock counts ms modulo this.
inline constexpr std::uint32_t kClockModulus = 30'000;

struct Point {
  double clockwise_rad = 0.0;
  double distance_m = 0.0;  ///< 0: no return
  int intensity = 0;
};

struct Frame {
  int speed_deg_per_s = 0;
  std::uint32_t time_ms = 0;
  std::array<Point, kPoints> points;
};

/// CRC-8, polynomial 0x4D, initial value 0.
[[nodiscard]] std::uint8_t crc8(Bytes bytes);

/// Finds frames. Whatever is none costs one byte.
class FrameDecoder {
 public:
  void push(Bytes bytes) { bytes_.push(bytes); }
  std::optional<Frame> next();
  void clear() { bytes_.clear(); }

  [[nodiscard]] std::uint64_t bad_sums() const { return bytes_.bad_sums(); }
  [[nodiscard]] std::uint64_t dropped_bytes() const { return bytes_.dropped_bytes(); }
  [[nodiscard]] std::uint64_t resyncs() const { return bytes_.resyncs(); }

 private:
  drivers::FrameBuffer bytes_;
};

}  // namespace pitwall::ld19
