// SPDX-License-Identifier: Apache-2.0
// What an RPLIDAR and an LD19 write, for tests.
#pragma once

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "drivers/ld19.hpp"
#include "drivers/test_bytes.hpp"

namespace pitwall::drivers::test {

inline void append_little_endian(std::uint32_t value, int count, std::vector<std::byte>& out) {
  for (int i = 0; i < count; ++i) {
    out.push_back(static_cast<std::byte>(value >> (8 * i) & 0xFFU));
  }
}

inline std::vector<std::byte> standard_packet(bool first, unsigned quality, double deg, double mm) {
  std::vector<std::byte> packet;
  append_little_endian(quality << 2U | (first ? 1U : 2U), 1, packet);
  append_little_endian(static_cast<unsigned>(std::lround(deg * 64.0)) << 1U | 1U, 2, packet);
  append_little_endian(static_cast<unsigned>(std::lround(mm * 4.0)), 2, packet);
  return packet;
}

/// Two sync nibbles with the sum of what follows.
inline std::vector<std::byte> capsule(Bytes body) {
  unsigned sum = 0;
  for (const std::byte b : body) {
    sum ^= std::to_integer<unsigned>(b);
  }
  std::vector<std::byte> packet{static_cast<std::byte>(0xA0U | (sum & 0xFU)), static_cast<std::byte>(0x50U | sum >> 4U)};
  append(packet, body);
  return packet;
}

inline std::vector<std::byte> begin_capsule(double deg, bool first) {
  std::vector<std::byte> body;
  append_little_endian(static_cast<unsigned>(std::lround(deg * 64.0)) | (first ? 0x8000U : 0U), 2, body);
  return body;
}

struct ExpressPoint {
  unsigned mm = 0;
  unsigned eighths_deg = 0;  // 0..63
};
inline std::vector<std::byte> express_packet(double deg, bool first, const std::array<ExpressPoint, 32>& points) {
  auto body = begin_capsule(deg, first);
  for (std::size_t i = 0; i < 32; i += 2) {
    append_little_endian(points[i].mm << 2U | points[i].eighths_deg >> 4U, 2, body);
    append_little_endian(points[i + 1].mm << 2U | points[i + 1].eighths_deg >> 4U, 2, body);
    append_little_endian((points[i].eighths_deg & 15U) | (points[i + 1].eighths_deg & 15U) << 4U, 1, body);
  }
  return capsule(body);
}

inline std::vector<std::byte> dense_packet(double deg, bool first, const std::vector<unsigned>& mm) {
  auto body = begin_capsule(deg, first);
  for (const unsigned distance : mm) {
    append_little_endian(distance, 2, body);
  }
  return capsule(body);
}

/// Pairs of distance bits and scale, quality 0.
inline std::vector<std::byte> ultra_dense_packet(double deg, const std::vector<std::pair<unsigned, unsigned>>& points) {
  std::vector<std::byte> body;
  append_little_endian(123456, 4, body);
  append_little_endian(0, 2, body);
  append(body, begin_capsule(deg, false));
  for (std::size_t i = 0; i < points.size(); i += 2) {
    const unsigned a = points[i].first << 2U | points[i].second;
    const unsigned b = points[i + 1].first << 2U | points[i + 1].second;
    append_little_endian(a & 0xFFFFU, 2, body);
    append_little_endian(b & 0xFFFFU, 2, body);
    append_little_endian(a >> 16U | (b >> 16U) << 4U, 1, body);
  }
  return capsule(body);
}

struct UltraWord {
  unsigned major = 0;
  int first = 0;
  int second = 0;
};
inline std::vector<std::byte> ultra_packet(double deg, const std::vector<UltraWord>& words) {
  auto body = begin_capsule(deg, false);
  for (const UltraWord& word : words) {
    const auto ten = [](int value) { return static_cast<std::uint32_t>(value) & 0x3FFU; };
    append_little_endian(word.major | ten(word.first) << 12U | ten(word.second) << 22U, 4, body);
  }
  return capsule(body);
}

/// Twelve points from `deg` on over twice `half_span_deg`, at 1 m.
inline std::vector<std::byte> ld19_frame(double deg, double half_span_deg, unsigned speed, unsigned time_ms) {
  std::vector<std::byte> frame{std::byte{0x54}, std::byte{0x2C}};
  append_little_endian(speed, 2, frame);
  append_little_endian(static_cast<unsigned>(std::lround(deg * 100.0)) % 36000U, 2, frame);
  for (int i = 0; i < 12; ++i) {
    append_little_endian(1000, 2, frame);
    append_little_endian(200, 1, frame);
  }
  append_little_endian(static_cast<unsigned>(std::lround((deg + 2.0 * half_span_deg) * 100.0)) % 36000U, 2, frame);
  append_little_endian(time_ms, 2, frame);
  frame.push_back(static_cast<std::byte>(ld19::crc8(frame)));
  return frame;
}

}  // namespace pitwall::drivers::test
