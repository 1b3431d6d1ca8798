// SPDX-License-Identifier: Apache-2.0
// The plain exact cell walk: what tracks/raycast.hpp must equal to the bit and is measured against. One cell a step, no
// tables, no leaps, written for being read. Closed squares: at a corner all four cells count.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "tracks/map.hpp"
#include "tracks/raycast.hpp"

namespace pitwall::bench {

/// Distance in cells along the unit vector `d` from `o` (grid frame, within [0, width) x [0, height)) to the first blocked closed square;
/// +inf where the ray leaves the map.
inline double cell_walk(const tracks::OccupancyMap& map, Vec2 o, Vec2 d) {
  constexpr double kNoReturn = std::numeric_limits<double>::infinity();
  const int step_x = d.x < 0.0 ? -1 : 1;
  const int step_y = d.y < 0.0 ? -1 : 1;
  const double low_x = std::floor(o.x);
  const double low_y = std::floor(o.y);
  const bool on_x = low_x == o.x;  // on a line x = whole number
  const bool on_y = low_y == o.y;
  const int column = static_cast<int>(low_x);
  const int row = static_cast<int>(low_y);
  if (map.blocked(column, row) || (on_x && map.blocked(column - 1, row)) || (on_y && map.blocked(column, row - 1)) ||
      (on_x && on_y && map.blocked(column - 1, row - 1))) {
    return 0.0;
  }
  // A ray along a line drags the cells of its other side with it.
  const int twin_x = d.x == 0.0 && on_x ? -1 : 0;
  const int twin_y = d.y == 0.0 && on_y ? -1 : 0;
  const bool twin = twin_x != 0 || twin_y != 0;
  int i = on_x && step_x < 0 ? column - 1 : column;
  int j = on_y && step_y < 0 ? row - 1 : row;
  const double inverse_x = 1.0 / d.x;
  const double inverse_y = 1.0 / d.y;
  int line_x = step_x > 0 ? i + 1 : i;
  int line_y = step_y > 0 ? j + 1 : j;
  const int last_x = step_x > 0 ? map.width() : -1;
  const int last_y = step_y > 0 ? map.height() : -1;
  double t_x = d.x == 0.0 ? kNoReturn : (line_x - o.x) * inverse_x;
  double t_y = d.y == 0.0 ? kNoReturn : (line_y - o.y) * inverse_y;
  const auto inside_blocked = [cells = map.blocked_cells().data(), width = static_cast<std::ptrdiff_t>(map.width())](
                                  int column_at, int row_at) { return cells[row_at * width + column_at] != 0; };
  while (i != last_x && j != last_y) {
    // The cell is free here: the first one by the test above, the others by the one below.
    double t = 0.0;
    if (t_x < t_y) {
      t = t_x;
      i += step_x;
      if (i == last_x) break;
      line_x += step_x;
      t_x = (line_x - o.x) * inverse_x;
    } else if (t_y < t_x) {
      t = t_y;
      j += step_y;
      if (j == last_y) break;
      line_y += step_y;
      t_y = (line_y - o.y) * inverse_y;
    } else {
      t = t_x;
      if (map.blocked(i + step_x, j) || map.blocked(i, j + step_y)) return t;
      i += step_x;
      j += step_y;
      if (i == last_x || j == last_y) break;
      line_x += step_x;
      t_x = (line_x - o.x) * inverse_x;
      line_y += step_y;
      t_y = (line_y - o.y) * inverse_y;
    }
    if (inside_blocked(i, j) || (twin && map.blocked(i + twin_x, j + twin_y))) return t;
  }
  return kNoReturn;
}

/// A fan from `pose`, in m; +inf beyond `max_range_m`.
inline void walk_fan(const tracks::OccupancyMap& map, const Pose2& pose, const tracks::BeamFan& fan, double max_range_m,
                     std::vector<double>& out) {
  const Vec2 origin = map.to_grid(pose.position());
  const math::SinCos turn = math::sincos(map.to_grid_yaw(pose.yaw));
  for (std::size_t b = 0; b < fan.directions.size(); ++b) {
    const Vec2 beam = fan.directions[b];
    const double range =
        map.resolution_m() * cell_walk(map, origin, {turn.cos * beam.x - turn.sin * beam.y, turn.sin * beam.x + turn.cos * beam.y});
    out[b] = range <= max_range_m ? range : std::numeric_limits<double>::infinity();
  }
}

}  // namespace pitwall::bench
