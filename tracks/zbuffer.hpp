// SPDX-License-Identifier: Apache-2.0
// The one-dimensional z-buffer over the beams of a fan, and what still and sweeping fans share of it (internal to fan.cpp and
// sweep_fan.cpp; the vector code is in zbuffer_inl.hpp).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tracks/fan.hpp"

namespace pitwall::tracks::detail {

inline constexpr std::size_t kBlock = 1024;  // edges at a time
inline constexpr std::size_t kPad = 64;      // vectors may run over by less
inline constexpr std::size_t kLevels = 12;   // 2^11 beams
inline constexpr int kEmptyByte = 0x7f;      // twice: farther than any line of a map of Walls::kMaxSide

// Level l, entry a: the nearest edge that covers the 2^l beams from a on, and was entered there.
struct DepthBuffer {
  alignas(64) std::int16_t level[kLevels][FanQuery::kMaxBeams + kPad];
  unsigned used = 0;  // levels in use, one bit each; the others are not even initialised
};

struct Corners {
  alignas(64) std::int32_t number[kBlock + kPad];     // first beam at or past it, not limited to the fan
  alignas(64) std::uint16_t covering[kBlock + kPad];  // edges, counted from the first of the block
};

// The set bits of four, first to last. (Highway's CompressStore copies its table to the stack at every call under g++.)
inline constexpr std::uint16_t kSetBits[16][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {2, 0, 0, 0}, {0, 2, 0, 0},
                                                  {1, 2, 0, 0}, {0, 1, 2, 0}, {3, 0, 0, 0}, {0, 3, 0, 0}, {1, 3, 0, 0}, {0, 1, 3, 0},
                                                  {2, 3, 0, 0}, {0, 2, 3, 0}, {1, 2, 3, 0}, {0, 1, 2, 3}};

// What four beams meet: low bits, whether they meet anything; high bits, whether that lies across x.
inline constexpr auto kFaces = [] {
  std::array<std::array<Face, 4>, 256> faces{};
  for (unsigned bits = 0; bits < 256; ++bits) {
    for (unsigned lane = 0; lane < 4; ++lane) {
      const Face across = (bits >> (lane + 4) & 1U) != 0 ? Face::kAcrossX : Face::kAcrossY;
      faces[bits][lane] = (bits >> lane & 1U) != 0 ? across : Face::kNone;
    }
  }
  return faces;
}();

inline void clear(std::int16_t* level, std::size_t beams) { std::memset(level, kEmptyByte, (beams + kPad) * sizeof(std::int16_t)); }

inline void cover(DepthBuffer& buffer, std::size_t beams, std::int32_t first, std::int32_t end, std::int16_t depth) {
  const auto a = static_cast<std::size_t>(std::max(first, 0));
  const auto b = std::min(static_cast<std::size_t>(std::max(end, 0)), beams);
  if (a >= b) return;
  const auto l = static_cast<std::size_t>(std::bit_width(b - a)) - 1;
  std::int16_t* const level = buffer.level[l];
  if ((buffer.used >> l & 1) == 0) {
    buffer.used |= 1U << l;
    clear(level, beams);
  }
  const std::size_t c = b - (std::size_t{1} << l);
  level[a] = std::min(level[a], depth);
  level[c] = std::min(level[c], depth);
}

// A coordinate of the sensor, split so that cell differences keep their relative precision in float: whole cells, the nearest
// 4096th, and the rest, which is smaller than any other difference.
struct Split {
  Split(double at, int cell) : whole(cell) {
    const double rest = at - static_cast<double>(cell);
    coarse = static_cast<float>(std::floor(rest * 4096.0 + 0.5) / 4096.0);
    fine = static_cast<float>(rest - static_cast<double>(coarse));
  }
  std::int32_t whole;
  float coarse;
  float fine;
};

}  // namespace pitwall::tracks::detail
