// SPDX-License-Identifier: Apache-2.0
// From the map of a real place to a track: the course is found (course.hpp), its centre line smoothed, what is no part of it (rooms at
// the side, what was never explored, specks) made wall or floor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/fields.hpp"
#include "core/geometry.hpp"
#include "core/result.hpp"
#include "tracks/build/course.hpp"
#include "tracks/build/generator.hpp"
#include "tracks/map.hpp"

namespace pitwall::tracks::build {

struct ImportSettings {
  CourseNeeds needs;
  double spacing_m = 0.1;           ///< of the centre line's points
  double smoothing_m = 0.2;         ///< standard deviation of the smoothing along the line: the roughness of cells goes, corners stay
  double largest_edge_share = 0.2;  ///< of a loop, where the edge of the picture stands in for a wall; more is no closed course
  double straight_m = 3.0;          ///< the start lies in the middle of the straightest stretch of this length
  std::vector<Vec2> around;         ///< a point in each hole that the course goes around; none: the one course that there is
  bool reverse = false;             ///< clockwise
};

/// A course, ready to be driven.
struct ImportedTrack {
  OccupancyMap map;     ///< free is the course alone; has a frame of one cell more than the map it was made from
  CentreLine centre{};  ///< the half width is the clearance on the side where there is less
  double length_m = 0.0;
  double min_width_m = 0.0;  ///< clearance to the left and to the right
  Vec2 narrowest{};
  double largest_offset_m = 0.0;  ///< half of what the clearances to the left and to the right differ by, at most
  std::vector<Island> islands{};
  double closed_area_m2 = 0.0;  ///< of rooms at the side, which are wall now
  std::size_t specks = 0;       ///< that are floor now
  std::vector<std::string> warnings{};
};

/// Refused, with the reason: no closed loop, one too narrow (with its place), several (with the list), cells that are not 0.005 .. 0.5 m.
Result<ImportedTrack> import_track(const OccupancyMap& map, const ImportSettings& settings);

}  // namespace pitwall::tracks::build
