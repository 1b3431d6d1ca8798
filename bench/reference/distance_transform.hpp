// SPDX-License-Identifier: Apache-2.0
// The whole exact Euclidean distance transform of a map, cell by cell (Felzenszwalb and Huttenlocher, "Distance transforms of sampled
// functions", Theory of Computing 8, 2012): what sphere tracing needs, and what tracks::DistanceField does without.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "tracks/map.hpp"

namespace pitwall::bench {

/// Distance in cells from the centre of each cell to that of the nearest blocked one, row by row; far beyond any map where there is none.
inline std::vector<float> distance_transform(const tracks::OccupancyMap& map) {
  constexpr double kFar = 1e9;
  const auto width = static_cast<std::size_t>(map.width());
  const auto height = static_cast<std::size_t>(map.height());
  std::vector<float> cells(width * height, static_cast<float>(kFar));
  for (std::size_t k = 0; k < cells.size(); ++k) {
    if (map.blocked_cells()[k] != 0) cells[k] = 0.0F;
    if (k >= width) cells[k] = std::min(cells[k], cells[k - width] + 1.0F);
  }
  for (std::size_t k = cells.size() - width; k-- > 0;) cells[k] = std::min(cells[k], cells[k + width] + 1.0F);

  // Of each row, the lower envelope of the parabolas (x - column)^2 + rows^2.
  struct Parabola {
    double column;
    double square;
    double begins;
  };
  std::vector<Parabola> envelope(width);
  for (float* row = cells.data(); row != cells.data() + cells.size(); row += width) {
    std::size_t size = 0;
    for (std::size_t q = 0; q < width; ++q) {
      Parabola next{static_cast<double>(q), static_cast<double>(row[q]) * static_cast<double>(row[q]), 0.0};
      for (;; --size) {
        next.begins = -std::numeric_limits<double>::infinity();
        if (size == 0) break;
        const Parabola& last = envelope[size - 1];
        next.begins =
            ((next.square + next.column * next.column) - (last.square + last.column * last.column)) / (2.0 * (next.column - last.column));
        if (next.begins > last.begins) break;
      }
      envelope[size++] = next;
    }
    std::size_t k = 0;
    for (std::size_t q = 0; q < width; ++q) {
      const auto at = static_cast<double>(q);
      while (k + 1 < size && envelope[k + 1].begins < at) ++k;
      row[q] = static_cast<float>(std::sqrt((at - envelope[k].column) * (at - envelope[k].column) + envelope[k].square));
    }
  }
  return cells;
}

}  // namespace pitwall::bench
