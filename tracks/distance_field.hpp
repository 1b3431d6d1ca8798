// SPDX-License-Identifier: Apache-2.0
// Exact Euclidean distance transform of a map (Felzenszwalb and Huttenlocher, "Distance transforms of sampled
// functions", Theory of Computing 8, 2012): the distance between the centre of each cell and the centre of the nearest
// blocked one.
#pragma once

#include <vector>

#include "core/geometry.hpp"
#include "tracks/map.hpp"

namespace pitwall::tracks {

/// Distances to the nearest blocked cell, in m, from anywhere on the map; 4 bytes a cell.
class DistanceField {
 public:
  explicit DistanceField(const OccupancyMap& map);

  /// Distance in metres from the centre of cell (i, j) to the centre of the nearest blocked cell, exact but for being rounded down to a
  /// float; 1e9 cells where there is none. The cell must be inside.
  [[nodiscard]] double centre_distance_m(int i, int j) const;
  /// A distance in metres that no blocked cell square is nearer than, from any point of the map frame; 0 outside the map.
  /// At most 2 sqrt(2) cells below the true distance.
  [[nodiscard]] double lower_bound_m(Vec2 p_map) const;

 private:
  // Copies what it needs of the map's frame, so that it does not depend on the map's lifetime.
  int width_;
  int height_;
  double resolution_m_;
  Vec2 origin_;
  Vec2 axis_x_;  // of the grid frame, in the map frame
  std::vector<float> distance_cells_;
};

/// Exact distance in metres from a point to the nearest blocked cell square, searching at most `limit_m` far; +inf beyond.
double clearance_m(const OccupancyMap& map, Vec2 p_map, double limit_m);

}  // namespace pitwall::tracks
