// SPDX-License-Identifier: Apache-2.0
// Maps without any pattern, for what has to hold on every map.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/rng.hpp"
#include "tracks/map.hpp"

namespace pitwall {

/// Each cell is blocked with probability `density`, drawn from the seed; resolution in m, origin as OccupancyMap::make has it.
inline std::shared_ptr<const tracks::OccupancyMap> noise_map(std::uint64_t seed, int width, int height, double density,
                                                             double resolution_m = 1.0, const Pose2& origin = {}) {
  const Rng rng(seed, "map");
  std::vector<std::int8_t> values;
  for (int k = 0; k < width * height; ++k) values.push_back(rng.uniform(static_cast<std::uint64_t>(k)) < density ? 100 : 0);
  Result<tracks::OccupancyMap> map = tracks::OccupancyMap::make(width, height, resolution_m, origin, std::move(values));
  REQUIRE(map.ok());
  return std::make_shared<const tracks::OccupancyMap>(std::move(map).value());
}

}  // namespace pitwall
