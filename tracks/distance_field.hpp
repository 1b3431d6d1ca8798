// SPDX-License-Identifier: Apache-2.0
// Distances to the nearest wall. What is kept of a map is how many rows each cell is from the nearest blocked cell of its own column, 2
// bytes a cell, made by two sweeps over the rows. The first half of an exact Euclidean distance transform (Meijster, Roerdink and
// Hesselink, "A general algorithm for computing distance transforms in linear time", 2000) is all there is: the second half, across the
// columns, is done by each question for itself, outwards from its cell until no column can hold anything nearer. That costs a look per cell
// of the answer (20 ns in a corridor), and spares a run the transform of the ninety-nine cells in a hundred that it never asks about.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/geometry.hpp"
#include "tracks/map.hpp"

namespace pitwall::tracks {

/// Distances to the nearest blocked cell, in m, from anywhere on the map. Shareable between threads; needs the map only to be made.
class DistanceField {
 public:
  /// What is farther away counts as this many cells away.
  static constexpr int kFarthestCells = 16383;

  explicit DistanceField(const OccupancyMap& map);

  /// Exact distance in metres from the centre of cell (i, j) to the centre of the nearest blocked cell, or `enough_m` where that is less.
  /// The cell must be inside.
  [[nodiscard]] double centre_distance_m(int i, int j, double enough_m = kUnlimited) const;
  /// A distance in metres that no blocked cell square is nearer than, from any point of the map frame; 0 outside the map.
  /// At most 2 sqrt(2) cells below the true distance, or, where that is less, `enough_m` but for rounding.
  [[nodiscard]] double lower_bound_m(Vec2 p_map, double enough_m = kUnlimited) const;
  /// Exact distance in metres from any point, on the map or not, to the nearest blocked cell square, 0 within or on the edge of one; +inf
  /// where there is none within `limit_m` (inclusive), which may be +inf.
  [[nodiscard]] double clearance_m(Vec2 p_map, double limit_m) const;

 private:
  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();

  // Rows to the nearest blocked cell of the column, times 4, and on which side it is: 1 below, 2 above.
  [[nodiscard]] const std::uint16_t* row(int j) const {
    return rows_.data() + static_cast<std::size_t>(j) * static_cast<std::size_t>(width_);
  }
  [[nodiscard]] Vec2 to_grid(Vec2 p_map) const;

  // Copies of the map's frame, so that the field does not depend on the map's lifetime.
  int width_;
  int height_;
  double resolution_m_;
  Vec2 origin_;
  Vec2 axis_x_;  // of the grid frame, in the map frame
  std::vector<std::uint16_t> rows_;
};

/// DistanceField::clearance_m() for who holds no field: walks the cells around, so that its cost grows with the square of the answer.
double clearance_m(const OccupancyMap& map, Vec2 p_map, double limit_m);

}  // namespace pitwall::tracks
