// SPDX-License-Identifier: Apache-2.0
// An occupancy map as nav_msgs/OccupancyGrid, and back: the same cells and values.
#pragma once

#include "core/result.hpp"
#include "ros_messages/nav.hpp"
#include "tracks/map.hpp"

namespace pitwall::scenarios {

/// In frame "map", without a stamp.
ros_messages::OccupancyGrid map_message(const tracks::OccupancyMap& map);
/// Errors: those of OccupancyMap::make().
Result<tracks::OccupancyMap> map_of(const ros_messages::OccupancyGrid& message);

}  // namespace pitwall::scenarios
