// SPDX-License-Identifier: Apache-2.0
// What makes a line unfit to be followed, said with the number of the point and the place: what every program that takes a line
// asks first.
#pragma once

#include <optional>
#include <vector>

#include "core/geometry.hpp"
#include "core/result.hpp"
#include "tracks/path.hpp"
#include "tracks/track.hpp"

namespace pitwall::tracks {

/// Refused, with point and place: values that are not finite, fewer than 3 points (two make no line), neighbours nearer than a
/// millimetre, a gap (farther from the next point than 1 m and than ten times the usual), a line that crosses itself.
Status check_line(const std::vector<Vec2>& points, bool closed);

/// Where a line runs against the way of the centre line, if it does.
std::optional<std::string> check_direction(const Path& line, const Path& centre);

/// Where a line is nearer to a wall than half the car, in it, or beyond the map, if it is.
std::optional<std::string> check_walls(const Path& line, const OccupancyMap& map, const DistanceField& distance, double half_width_m);

}  // namespace pitwall::tracks
