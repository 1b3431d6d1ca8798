// SPDX-License-Identifier: Apache-2.0
// A fan whose sensor moves while it turns, by the method of fan.hpp (internal to RayCaster).
//
// The number of a corner is that of the first beam that leaves when the corner is no longer to its left. Seen from the sensor
// on its way a corner's bearing changes more slowly than the beams turn, as long as the corner is not close by: so there is one
// such beam, and the edges of an outline share out the beams as before. The number is estimated in float: by one Newton step
// from the middle of the way, and a second from where the first one leads, along a parabola that is laid through the way. What
// that may be wrong by is known (rounding, the way's distance from the parabola, what a further step would change); where it
// reaches a whole beam, the cross product at that beam's own pose decides, in double.
//
// Depths are whole cells from lines on either side of the whole way, which keeps their order for every beam; which of the
// nearest lines across x and across y comes first is decided from the beam's own origin, in double.
//
// Edges with a corner near the way, or that may pass behind the sensor, are entered by which side they show; where that
// changes on the way, the beams in question are walked. So are all beams if a corner lies closer than the bearing allows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tracks/fan.hpp"
#include "tracks/sweep.hpp"

namespace pitwall::tracks {

struct SweepQuery {
  static constexpr std::size_t kMaxTiles = 8;
  /// Fans wider than this are done in parts, so that no corner behind comes into sight on the way.
  static constexpr double kMaxSpan = 4.8;
  /// Greatest length of a way in cells.
  static constexpr double kMaxWay = 24.0;
  /// Greatest turn on the way.
  static constexpr double kMaxTurn = 0.3;

  const std::uint32_t* vertices = nullptr;                 // Walls::vertices()
  std::array<std::span<const EdgeRange>, kMaxTiles> seen;  // from each tile on the way
  std::size_t tiles = 0;
  int width = 0;  // of the map in cells
  int height = 0;
  const Sweep* sweep = nullptr;  // gentle, its way free of blocked squares and within the map
  std::size_t first = 0;         // beam
  std::size_t count = 0;
  double resolution_m = 1.0;
  double max_range_m = 0.0;
};

/// As cast_fan_edges(); beam query.first goes to out[0], and to bit 0 of `ties`. False, and nothing more, where the way is too long or
/// turns too fast for the beams, or passes a corner too closely.
[[nodiscard]] bool cast_sweep_edges(const SweepQuery& query, double* out, Face* faces, Ties& ties);

}  // namespace pitwall::tracks
