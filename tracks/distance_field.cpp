// SPDX-License-Identifier: Apache-2.0
#include "tracks/distance_field.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace pitwall::tracks {
namespace {

constexpr unsigned kBelow = 1;
constexpr unsigned kAbove = 2;
constexpr unsigned kSideBits = 2;
// Half the diagonal of a cell, and a little for the rounding of coordinates.
constexpr double kHalfDiagonal = 0.70710678118654757 + 1e-6;
// Beyond this nothing is looked for; keeps the arithmetic of cells within int.
constexpr double kFarFieldCells = 5e8;

// Distance from x to the interval [cell, cell + 1].
double gap(double x, int cell) { return std::max({0.0, static_cast<double>(cell) - x, x - static_cast<double>(cell + 1)}); }

}  // namespace

DistanceField::DistanceField(const OccupancyMap& map)
    : width_(map.width()),
      height_(map.height()),
      resolution_m_(map.resolution_m()),
      origin_(map.origin().position()),
      axis_x_(unit_vector(map.origin().yaw)),
      rows_(map.blocked_cells().size()) {
  const auto width = static_cast<std::size_t>(width_);
  const std::uint8_t* blocked = map.blocked_cells().data();
  std::vector<std::uint16_t> rows(width, kFarthestCells);
  const auto relax = [&](std::size_t first, std::size_t column) {
    const auto next = static_cast<std::uint16_t>(std::min(rows[column] + 1, kFarthestCells));
    return rows[column] = blocked[first + column] != 0 ? std::uint16_t{0} : next;
  };
  for (std::size_t first = 0; first < rows_.size(); first += width) {
    for (std::size_t column = 0; column < width; ++column) rows_[first + column] = relax(first, column);
  }
  std::fill(rows.begin(), rows.end(), static_cast<std::uint16_t>(kFarthestCells));
  for (std::size_t first = rows_.size(); first > 0;) {
    first -= width;
    for (std::size_t column = 0; column < width; ++column) {
      const unsigned below = rows_[first + column];
      const unsigned above = relax(first, column);
      const unsigned sides = (below <= above ? kBelow : 0) | (above <= below ? kAbove : 0);
      rows_[first + column] = static_cast<std::uint16_t>(std::min(below, above) << kSideBits | sides);
    }
  }
}

double DistanceField::centre_distance_m(int i, int j, double enough_m) const {
  const std::uint16_t* rows = row(j);
  std::int64_t best = kFarthestCells;  // squared below; nothing is known to be farther
  best *= best;
  const auto look = [&](int column) {
    const std::int64_t across = column - i;
    const std::int64_t along = rows[column] >> kSideBits;
    best = std::min(best, across * across + along * along);
  };
  const double enough = std::min(enough_m / resolution_m_, static_cast<double>(kFarthestCells));
  const double enough_squared = enough * enough;
  const int last = std::max(i, width_ - 1 - i);
  for (int k = 0; k <= last; ++k) {
    const std::int64_t square = static_cast<std::int64_t>(k) * k;
    if (square >= best || static_cast<double>(square) >= enough_squared) break;
    if (i - k >= 0) look(i - k);
    if (i + k < width_) look(i + k);
  }
  return std::min(resolution_m_ * std::sqrt(static_cast<double>(best)), enough_m);
}

Vec2 DistanceField::to_grid(Vec2 p_map) const {
  const Vec2 from_origin = p_map - origin_;
  return {dot(axis_x_, from_origin) / resolution_m_, cross(axis_x_, from_origin) / resolution_m_};
}

double DistanceField::lower_bound_m(Vec2 p_map, double enough_m) const {
  const Vec2 p = to_grid(p_map);
  if (!(p.x >= 0.0 && p.y >= 0.0 && p.x < width_ && p.y < height_)) return 0.0;
  const int i = static_cast<int>(p.x);
  const int j = static_cast<int>(p.y);
  const double off = resolution_m_ * (norm({p.x - i - 0.5, p.y - j - 0.5}) + kHalfDiagonal);
  return std::max(0.0, centre_distance_m(i, j, enough_m + off) - off);
}

double DistanceField::clearance_m(Vec2 p_map, double limit_m) const {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const Vec2 p = to_grid(p_map);
  if (!(std::fabs(p.x) < kFarFieldCells && std::fabs(p.y) < kFarFieldCells)) return kNone;
  const int i = static_cast<int>(std::floor(p.x));
  // From a point above or below the map, the nearest of a column is the nearest to its last row.
  const int j = std::clamp(static_cast<int>(std::floor(p.y)), 0, height_ - 1);
  const std::uint16_t* rows = row(j);
  double best = kNone;
  const auto look = [&](int column) {
    const int off = rows[column] >> kSideBits;
    if (off == kFarthestCells) return;
    const double across = gap(p.x, column);
    // Of two cells as many rows away either may be nearer; of others the one of fewer rows is, wherever in its cell the point is.
    if ((rows[column] & kBelow) != 0) best = std::min(best, norm({across, gap(p.y, j - off)}));
    if ((rows[column] & kAbove) != 0) best = std::min(best, norm({across, gap(p.y, j + off)}));
  };
  const double limit = limit_m / resolution_m_;
  const int first = std::max({0, -i, i - (width_ - 1)});
  const int last = std::max(i, width_ - 1 - i);
  for (int k = first; k <= last && k - 1 <= std::min(best, limit); ++k) {
    if (i - k >= 0 && i - k < width_) look(i - k);
    if (k > 0 && i + k >= 0 && i + k < width_) look(i + k);
  }
  const double clearance = resolution_m_ * best;
  return clearance <= limit_m ? clearance : kNone;
}

double clearance_m(const OccupancyMap& map, Vec2 p_map, double limit_m) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const Vec2 p = map.to_grid(p_map);
  if (!(std::fabs(p.x) < kFarFieldCells && std::fabs(p.y) < kFarFieldCells)) return kNone;
  const int i = static_cast<int>(std::floor(p.x));
  const int j = static_cast<int>(std::floor(p.y));
  const double limit = limit_m / map.resolution_m();
  // Rings of cells around (i, j); nothing of ring r is nearer than r - 1.
  const int first = std::max({0, -i, i - (map.width() - 1), -j, j - (map.height() - 1)});
  const int last = std::max({std::abs(i), std::abs(map.width() - 1 - i), std::abs(j), std::abs(map.height() - 1 - j)});
  double best = kNone;
  const auto look = [&](int column, int row) {
    if (map.blocked(column, row)) best = std::min(best, norm({gap(p.x, column), gap(p.y, row)}));
  };
  for (int r = first; r <= last && r - 1 <= std::min(best, limit); ++r) {
    const int left = std::max(i - r, 0);
    const int right = std::min(i + r, map.width() - 1);
    for (int column = left; column <= right; ++column) {
      look(column, j - r);
      if (r > 0) look(column, j + r);
    }
    const int low = std::max(j - r + 1, 0);
    const int high = std::min(j + r - 1, map.height() - 1);
    for (int row = low; row <= high; ++row) {
      look(i - r, row);
      look(i + r, row);
    }
  }
  const double clearance = map.resolution_m() * best;
  return clearance <= limit_m ? clearance : kNone;
}

}  // namespace pitwall::tracks
