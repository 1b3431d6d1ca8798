// SPDX-License-Identifier: Apache-2.0
// From a lap that was driven to a line that can be followed: the last revolution alone, evenly spaced, without what is
// narrower than the car can steer, as near to what was driven as walls and steering allow.
//
// The low-pass keeps the lowest harmonics of the closed curve x + i y over its arc length. Fewer harmonics make a smoother
// line that strays farther; they are taken off one by one until the line fits the rack.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/fields.hpp"
#include "core/geometry.hpp"
#include "core/result.hpp"
#include "tracks/distance_field.hpp"
#include "tracks/map.hpp"
#include "tracks/path.hpp"

namespace pitwall::tracks {

struct LapCleanupSettings {
  double spacing_m = 0.15;
  double shortest_feature_m = 1.5;     ///< length of the highest harmonic that is tried
  double max_deviation_m = 0.35;       ///< from what was driven
  double max_curvature_per_m = 0.739;  ///< of the steering rack: tan(steering limit) / wheelbase
  double clearance_m = 0.20;           ///< from line to wall; less where what was driven had less
  double least_clearance_m = 0.155;    ///< half the car: a lap nearer than that to a wall is refused
  double max_over_curvature = 1.5;     ///< peak that is still accepted, over the rack's
  double max_share_over = 0.25;        ///< share of points beyond the rack that is still accepted
  void fields(FieldVisitor& f);
};

/// A line, and how it came about.
struct CleanedLap {
  Path path;
  std::size_t points_dropped = 0;  ///< repeated ones
  double trimmed_m = 0.0;          ///< way before the last revolution
  double gap_m = 0.0;              ///< between the ends of the revolution
  std::int64_t harmonics = 0;
  double deviation_m = 0.0;  ///< largest distance of the line from what was driven
  double max_curvature_per_m = 0.0;
  double share_over = 0.0;   ///< of points beyond the rack
  double clearance_m = 0.0;  ///< smallest, of the line
  double driven_clearance_m = 0.0;
};

/// Cleans a recorded lap, oldest point first. Refused with the reason: points that are not finite, fewer than 8, no way back to the
/// start, a lap too near to a wall, a line that no number of harmonics makes drivable. Without a map (both null) walls do not count.
Result<CleanedLap> clean_lap(const std::vector<Vec2>& driven, const LapCleanupSettings& settings, const OccupancyMap* map,
                             const DistanceField* distance);

}  // namespace pitwall::tracks
