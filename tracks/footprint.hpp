// SPDX-License-Identifier: Apache-2.0
// How near the chassis comes to walls, standing or swept along a line: what a line must leave free, whatever its points do.
#pragma once

#include <vector>

#include "core/car.hpp"
#include "core/geometry.hpp"
#include "tracks/distance_field.hpp"
#include "tracks/path.hpp"

namespace pitwall::tracks {

/// Distance from a standing chassis to the nearest wall, to within a millimetre or two (outline sampled every 2 cm, or as asked for);
/// `limit_m` where there is none nearer.
double footprint_clearance_m(const BodyRectangle& chassis, const Pose2& T_map_base, const DistanceField& distance, double limit_m,
                             double outline_m = 0.02);

/// Where a swept chassis comes nearest to a wall.
struct SweptClearance {
  double clearance_m = 0.0;
  double s_m = 0.0;
  Pose2 T_map_base;
};

/// The chassis swept along a path that base_link follows exactly, heading along it; poses every `step_m`, `limit_m` where it is farther
/// away all along.
SweptClearance swept_clearance(const BodyRectangle& chassis, const Path& path, const DistanceField& distance, double limit_m,
                               double step_m = 0.05);

/// The clearance at each point of the path, at most `limit_m`.
std::vector<double> clearance_along(const BodyRectangle& chassis, const Path& path, const DistanceField& distance, double limit_m);

}  // namespace pitwall::tracks
