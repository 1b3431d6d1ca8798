// SPDX-License-Identifier: Apache-2.0
// Random numbers addressed by (seed, stream name, sample, lane) instead of drawn in sequence: adding a sensor, a car
// or a thread never moves anybody else's noise. Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011, section 3.3); uniforms take the top 53 bits, normals are Box-Muller on core/math. For a thousand at a time
// there are float versions in SIMD (rng_bulk.cpp), with the same bits on every instruction set.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace pitwall {

/// The Philox4x32-10 block function: 128-bit counter and 64-bit key to 128 random bits.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// One named stream, for example Rng(seed, "car0/lidar"). Stateless: equal arguments give equal numbers, always. All methods draw
/// from the same blocks: one kind of draw a stream.
class Rng {
 public:
  /// Bulk draws come in groups of this many values.
  static constexpr std::size_t kGroup = 64;

  Rng(std::uint64_t seed, std::string_view stream);

  /// The 128 random bits behind the numbers of a sample and lane.
  [[nodiscard]] std::array<std::uint32_t, 4> block(std::uint64_t sample, std::uint32_t lane) const;

  /// Uniform in [0, 1), a multiple of 2^-53.
  [[nodiscard]] double uniform(std::uint64_t sample, std::uint32_t lane = 0) const;
  /// Standard normal; |value| < 8.7.
  [[nodiscard]] double normal(std::uint64_t sample, std::uint32_t lane = 0) const;
  /// The two independent standard normals of one block (half the cost of two calls of normal()).
  [[nodiscard]] std::array<double, 2> normal_pair(std::uint64_t sample, std::uint32_t lane = 0) const;

  /// Uniforms in [0, 1), multiples of 2^-24: the values first, first + 1, ... of a sample; `first` is a multiple of kGroup.
  void uniforms(std::uint64_t sample, std::size_t first, std::span<float> values) const;
  /// Standard normals, |value| < 6.6, within 1e-6 of the Box-Muller transform of their bits: the values 0, 1, ... of a sample.
  void normals(std::uint64_t sample, std::span<float> values) const;

 private:
  [[nodiscard]] std::array<double, 2> uniform_pair(std::uint64_t sample, std::uint32_t lane) const;
  std::array<std::uint32_t, 2> key_;
  std::uint32_t stream_;
};

}  // namespace pitwall
