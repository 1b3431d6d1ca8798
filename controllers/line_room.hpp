// SPDX-License-Identifier: Apache-2.0
// How much room there is beside a line, and a line that keeps its distance. Shipped racing lines pass walls nearer than
// half a car plus what a controller can hold; where they do, the line to drive is moved towards the middle, smoothly.
#pragma once

#include <vector>

#include "controllers/line_to_follow.hpp"
#include "core/car.hpp"

namespace pitwall::controllers {

/// Room in m on each side of the line, per point: what the axis of a car on the line has to the nearest wall, from its
/// rear to its front edge, so that the swing of the front in corners is in it. Empty where it is not known.
struct Room {
  std::vector<double> right_m;
  std::vector<double> left_m;
  [[nodiscard]] bool known() const { return !right_m.empty() && !left_m.empty(); }
};

/// From the rays of the map, or else from the widths that come with the line; at most 10 m.
Room measure_room(const LineToFollow& line, const BodyRectangle& body);
/// The same with the least room within `reach_m` along the line, before and behind.
Room narrowed(const Room& room, const tracks::Path& path, double reach_m);

/// The line moved sideways so that a body of that half width keeps `clearance_m` from the walls, or stays in the middle
/// where there is less room; the move is spread over some metres. The line itself where room is unknown or enough.
LineToFollow keep_clear(const LineToFollow& line, const BodyRectangle& body, double clearance_m);

}  // namespace pitwall::controllers
