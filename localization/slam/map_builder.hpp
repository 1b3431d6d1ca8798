// SPDX-License-Identifier: Apache-2.0
// The occupancy map that scans at known poses make. Convention of cells as in tracks/map.hpp: cell (i, j) is the square from
// origin + (i, j) resolution, so that what a beam hits is in the cell floor((p - origin) / resolution). The map is the bounding box of all
// sensors and hits, rounded out to whole cells, and `pad_cells` more on every side; its corner is a whole multiple of the resolution.
//
// A beam passes every cell from the sensor up to the one before its end, and hits the one it ends in; that one counts one pass and one
// hit. A cell that nothing passed is unknown; it is occupied if the share of hits is at least `occupied_share`, else free.
#pragma once

#include <cstdint>
#include <span>

#include "core/fields.hpp"
#include "core/geometry.hpp"
#include "core/messages.hpp"
#include "core/result.hpp"
#include "localization/twist.hpp"
#include "tracks/map.hpp"

namespace pitwall::slam {

struct MapParameters {
  double resolution_m = 0.05;
  double max_range_m = 20.0;    ///< beams are followed this far; a hit beyond it is none
  double occupied_share = 0.2;  ///< of hits among passes
  std::int64_t min_passes = 1;  ///< cells with fewer are unknown
  std::int64_t pad_cells = 2;   ///< around everything that was seen
  bool clear_infinite = true;   ///< a beam of +inf is free up to max_range_m or the sensor's (REP 117); NaN never is
  void fields(FieldVisitor& f);
};

/// A scan with where it was taken.
struct PlacedScan {
  const LaserScan* scan = nullptr;
  Pose2 T_map_base;              ///< at the stamp of the scan
  localization::Twist velocity;  ///< of base_link while the scanner sweeps, in its axes
};

struct BuiltMap {
  tracks::OccupancyMap map;
  std::int64_t ghost_cells = 0;  ///< free cells that were hit at least three times: something that moved
};

/// Errors: no scan has a valid beam; more than 2^28 cells.
Result<BuiltMap> build_map(std::span<const PlacedScan> scans, const Pose2& T_base_sensor, const MapParameters& parameters);

}  // namespace pitwall::slam
