// SPDX-License-Identifier: Apache-2.0
// What a LiDAR on the desk sees: the walls of an empty room.
#pragma once

namespace pitwall::emulators {

/// Distance in m at that bearing (rad, counter-clockwise from straight ahead): walls 3 m ahead, 2 m behind, 1.5 m to the left and 1 m to
/// the right, so that a mirrored or turned scan is seen.
double room_range_m(double bearing_rad);

}  // namespace pitwall::emulators
