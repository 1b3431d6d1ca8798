// SPDX-License-Identifier: Apache-2.0
// What World::make refuses. Internal to sim; world.hpp says it in words.
#pragma once

#include <vector>

#include "core/result.hpp"
#include "sim/world.hpp"

namespace pitwall::sim {

/// The first thing that makes no sense, by name and value.
Status check_world(const Place& place, const WorldSettings& settings, const std::vector<CarSetup>& cars, const Surroundings& surroundings);

}  // namespace pitwall::sim
