// SPDX-License-Identifier: Apache-2.0
#include "core/hash.hpp"

#include <array>

namespace pitwall {

// add(word) waits for the word before it: 14 cycles each. Eight words at a time, each into a lane of its own, keep the processor busy.
void Hash::add(std::span<const float> values) {
  constexpr std::size_t kLanes = 8;
  std::array<std::uint64_t, kLanes> lanes{};
  const auto bits = [&](std::size_t i) { return std::uint64_t{std::bit_cast<std::uint32_t>(values[i])}; };
  const auto mix = [](std::uint64_t lane, std::uint64_t w) {
    const std::uint64_t h = (lane ^ w) * 0x9fb21c651e98df25ULL;
    return h ^ (h >> 32);
  };
  std::size_t i = 0;
  for (; i + 2 * kLanes <= values.size(); i += 2 * kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) lanes[k] = mix(lanes[k], bits(i + 2 * k) | (bits(i + 2 * k + 1) << 32));
  }
  for (std::size_t k = 0; i < values.size(); ++i, ++k) lanes[k / 2] = mix(lanes[k / 2], bits(i));
  for (const std::uint64_t lane : lanes) add(lane);
  add(std::uint64_t{values.size()});
}

}  // namespace pitwall
