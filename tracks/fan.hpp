// SPDX-License-Identifier: Apache-2.0
// One fan of beams against a set of wall edges: a one-dimensional z-buffer over the beams (internal to RayCaster). Each
// wall corner gets the number of the first beam at or past it, so that the edges of a closed outline share out the beams
// between them without gaps or overlaps: edge k covers the beams from corner k's number up to, not including, corner k+1's.
// What faces away covers none. Depths are whole cells, for edges along y and along x apart; one pass of double arithmetic
// at the end makes distances of them, with the operations of the cell walk in its order.
//
// The numbers come from a float arctangent; wherever that is within its error of a whole beam, a cross product in double
// decides. Beams within kTieRad of a corner are reported for being walked instead. The result is the same to the bit for
// every instruction set, since floats decide nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/geometry.hpp"
#include "tracks/visibility.hpp"

namespace pitwall::tracks {

struct FanQuery {
  static constexpr std::size_t kMaxBeams = 2048;
  /// A fan of this many rad at most, so that its ends never meet behind the sensor.
  static constexpr double kMaxSpan = 6.1;
  /// A sensor may lie on a grid line, but not just beside one; in cells.
  static constexpr double kLineMargin = 1e-12;
  /// The closest beams, in rad, whose numbers a float can still tell.
  static constexpr double kMinIncrement = 1e-4;
  static constexpr double kTieRad = 1e-9;

  const std::uint32_t* vertices = nullptr;  // Walls::vertices()
  std::span<const EdgeRange> ranges;
  int width = 0;  // of the map in cells
  int height = 0;
  Vec2 origin;                  // in cells, within the map, not on or in a blocked square; see kLineMargin
  std::span<const Vec2> beams;  // in the sensor frame, evenly spaced, anticlockwise
  double rotation_cos = 1.0;    // from the sensor to the grid frame
  double rotation_sin = 0.0;
  double first_rad = 0.0;  // of beam 0, in the sensor frame
  double increment_rad = 0.0;
  double resolution_m = 1.0;
  double max_range_m = 0.0;
};

/// One bit for each beam that passes a corner too close to call.
using Ties = std::array<std::uint64_t, FanQuery::kMaxBeams / 64>;

/// Which side of a cell square a beam meets.
enum class Face : std::uint8_t {
  kNone,     ///< no return, or the sensor touches a square itself
  kAcrossX,  ///< one that lies across the x axis of the grid; also at a corner
  kAcrossY   ///< one that lies across the y axis of the grid
};

/// Distances in m (+inf: none within range or before the border of the map) for all beams but those in `ties`, for which
/// `out` holds something else. The same for `faces`, unless null. The best instruction set of this machine is found at the first call.
void cast_fan_edges(const FanQuery& query, double* out, Face* faces, Ties& ties);

}  // namespace pitwall::tracks
