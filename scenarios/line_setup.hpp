// SPDX-License-Identifier: Apache-2.0
// A line as controllers are given it: with its speeds, and the free width beside each of its points.
#pragma once

#include <memory>
#include <vector>

#include "controllers/line_to_follow.hpp"
#include "tracks/distance_field.hpp"
#include "tracks/path.hpp"
#include "tracks/raycast.hpp"

namespace pitwall::scenarios {

/// `speed_mps` at the points of the line, which lies on the map of `rays` and `distance`.
controllers::LineToFollow line_to_follow(std::shared_ptr<const tracks::Path> line, std::vector<double> speed_mps,
                                         std::shared_ptr<const tracks::RayCaster> rays,
                                         std::shared_ptr<const tracks::DistanceField> distance);

}  // namespace pitwall::scenarios
