// SPDX-License-Identifier: Apache-2.0
// What a LiDAR on the desk sees: the walls of an empty room.
#pragma once

#include <functional>

#include "core/time.hpp"

namespace pitwall::emulators {

/// Distance in m at that bearing (rad, counter-clockwise from straight ahead): walls 3 m ahead, 2 m behind, 1.5 m to the left and 1 m to
/// the right, so that a mirrored or turned scan is seen.
double room_range_m(double bearing_rad);

/// What a turning LiDAR sees: distance in m at an instant, along a bearing (rad, counter-clockwise from straight ahead of the sensor as it
/// is then). Not finite: nothing.
using Sight = std::function<double(Time at, double bearing_rad)>;

/// The room, from a sensor that stands.
inline double still_room(Time /*at*/, double bearing_rad) { return room_range_m(bearing_rad); }

/// As a device writes it: 0 where it measures nothing.
int millimetres_of(double range_m);

}  // namespace pitwall::emulators
