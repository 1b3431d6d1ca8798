// SPDX-License-Identifier: Apache-2.0
#include "core/rng.hpp"

#include <cmath>

#include "core/hash.hpp"
#include "core/math.hpp"

namespace pitwall {

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  constexpr std::uint64_t kMultiplier0 = 0xD2511F53;
  constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57;
  constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
  constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = kMultiplier0 * counter[0];
    const std::uint64_t p1 = kMultiplier1 * counter[2];
    counter = {static_cast<std::uint32_t>(p1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(p1),
               static_cast<std::uint32_t>(p0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

Rng::Rng(std::uint64_t seed, std::string_view stream) {
  Hash hash;
  hash.add(seed);
  hash.add(stream);
  const std::uint64_t h = hash.value();
  key_ = {static_cast<std::uint32_t>(h), static_cast<std::uint32_t>(h >> 32)};
  Hash second;
  second.add(stream);
  second.add(seed);
  stream_ = static_cast<std::uint32_t>(second.value());
}

std::array<std::uint32_t, 4> Rng::block(std::uint64_t sample, std::uint32_t lane) const {
  return philox4x32({static_cast<std::uint32_t>(sample), static_cast<std::uint32_t>(sample >> 32), lane, stream_}, key_);
}

std::array<double, 2> Rng::uniform_pair(std::uint64_t sample, std::uint32_t lane) const {
  const auto r = block(sample, lane);
  const auto to_unit = [](std::uint32_t high, std::uint32_t low) {
    const std::uint64_t bits = (static_cast<std::uint64_t>(high) << 32) | low;
    return static_cast<double>(bits >> 11) * 0x1.0p-53;
  };
  return {to_unit(r[0], r[1]), to_unit(r[2], r[3])};
}

double Rng::uniform(std::uint64_t sample, std::uint32_t lane) const { return uniform_pair(sample, lane)[0]; }

double Rng::normal(std::uint64_t sample, std::uint32_t lane) const { return normal_pair(sample, lane)[0]; }

std::array<double, 2> Rng::normal_pair(std::uint64_t sample, std::uint32_t lane) const {
  const auto u = uniform_pair(sample, lane);
  // 1 - u lies in (0, 1], so the logarithm is finite.
  const double radius = std::sqrt(-2.0 * math::log(1.0 - u[0]));
  const auto [s, c] = math::sincos(2.0 * math::kPi * u[1]);
  return {radius * c, radius * s};
}

}  // namespace pitwall
