// SPDX-License-Identifier: Apache-2.0
// Random numbers addressed by (seed, stream name, sample, lane) instead of drawn in sequence: adding a sensor, a car
// or a thread never moves anybody else's noise. Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011, section 3.3); uniforms take the top 53 bits, normals are Box-Muller on core/math.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace pitwall {

/// The Philox4x32-10 block function: 128-bit counter and 64-bit key to 128 random bits.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// One named stream, for example Rng(seed, "car0/lidar"). Stateless: equal arguments give equal numbers, always.
class Rng {
 public:
  Rng(std::uint64_t seed, std::string_view stream);

  /// Uniform in [0, 1), a multiple of 2^-53.
  [[nodiscard]] double uniform(std::uint64_t sample, std::uint32_t lane = 0) const;
  /// Standard normal; |value| < 8.7.
  [[nodiscard]] double normal(std::uint64_t sample, std::uint32_t lane = 0) const;
  /// The two independent standard normals of one block (half the cost of two calls of normal()).
  [[nodiscard]] std::array<double, 2> normal_pair(std::uint64_t sample, std::uint32_t lane = 0) const;

 private:
  [[nodiscard]] std::array<double, 2> uniform_pair(std::uint64_t sample, std::uint32_t lane) const;
  std::array<std::uint32_t, 2> key_;
  std::uint32_t stream_;
};

}  // namespace pitwall
