// SPDX-License-Identifier: Apache-2.0
// A picture of a racing line for people: the walls, the line coloured by speed, and speed and clearance over the way.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tracks/build/raceline.hpp"
#include "tracks/map.hpp"

namespace pitwall::tracks::build {

/// An SVG picture. Without a map (null) there are no walls; a line without clearances has no curve of them.
std::string raceline_svg(const std::string& title, const Path& path, const std::vector<double>& speed_mps,
                         const std::vector<double>& clearance_m, const OccupancyMap* map);

}  // namespace pitwall::tracks::build
