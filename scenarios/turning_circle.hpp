// SPDX-License-Identifier: Apache-2.0
// Whether a car can get round a track at all: its turning circle against the corners of the corridor.
#pragma once

#include <optional>
#include <string>

#include "core/car.hpp"
#include "tracks/track.hpp"

namespace pitwall::scenarios {

/// Why not, with place and figures; nothing where every corner can be driven. A corner that turns by theta with the radius r of the
/// centre line leaves a car with the free half width e an arc from outside to inside to outside of radius
/// r + e (1 + cos(theta / 2)) / (1 - cos(theta / 2)), for theta of half a turn and more r + e. Corners in a row that make half a turn
/// together leave half the distance between the ways before and after them, and e: who turns round needs two radii to the side.
std::optional<std::string> turning_circle_refusal(const tracks::Line& centre, const CarParameters& car);

}  // namespace pitwall::scenarios
