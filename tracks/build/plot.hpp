// SPDX-License-Identifier: Apache-2.0
// A picture of a track for people: the map, its centre line, the start and the direction of travel.
#pragma once

#include <filesystem>

#include "core/result.hpp"
#include "tracks/build/generator.hpp"

namespace pitwall::tracks::build {

/// Writes a PNG of one pixel per cell: walls dark, track light, centre line blue, the start line red with the first two
/// metres of the way green.
/// What is free in `before`, where it is given, and wall in the map, is shown apart.
Status write_plot(const OccupancyMap& map, const CentreLine& centre, const std::filesystem::path& file,
                  const OccupancyMap* before = nullptr);

}  // namespace pitwall::tracks::build
