// SPDX-License-Identifier: Apache-2.0
#include "tracks/distance_field.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

namespace pitwall::tracks {
namespace {

// Where the map has no blocked cell at all.
constexpr float kNothingNear = 1e9F;
constexpr std::int32_t kNoneInColumn = std::numeric_limits<std::int32_t>::max();
// Half the diagonal of a cell, and a little for the rounding of coordinates.
constexpr double kHalfDiagonal = 0.70710678118654757 + 1e-6;
// Beyond this nothing is looked for; keeps the arithmetic of cells within int.
constexpr double kFarCells = 5e8;

// Rows to the nearest blocked cell of the same column: one sweep down, one up, row by row for the cache's sake.
std::vector<std::int32_t> column_distances(const OccupancyMap& map) {
  const auto width = static_cast<std::size_t>(map.width());
  const auto height = static_cast<std::size_t>(map.height());
  const std::vector<std::uint8_t>& blocked = map.blocked_cells();
  std::vector<std::int32_t> rows(width * height, kNoneInColumn);
  const auto relax = [&](std::size_t here, std::size_t neighbour) {
    if (rows[neighbour] != kNoneInColumn) rows[here] = std::min(rows[here], rows[neighbour] + 1);
  };
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (blocked[k] != 0) rows[k] = 0;
    if (k >= width) relax(k, k - width);
  }
  for (std::size_t k = rows.size() - width; k-- > 0;) relax(k, k + width);
  return rows;
}

// Lower envelope of the parabolas (x - column)^2 + rows^2 of one row of cells.
class Envelope {
 public:
  explicit Envelope(std::size_t width) : column_(width), square_(width), begins_(width) {}

  void build(const std::int32_t* rows, std::int64_t width) {
    size_ = 0;
    for (std::int64_t q = 0; q < width; ++q) {
      if (rows[q] == kNoneInColumn) continue;
      const double square = static_cast<double>(rows[q]) * static_cast<double>(rows[q]);
      const auto at = static_cast<double>(q);
      double begins = -std::numeric_limits<double>::infinity();
      while (size_ > 0) {
        const double other = column_[size_ - 1];
        // Exact where it matters: the numerator is a whole number below 2^53 on maps up to 2^26 cells long.
        begins = ((square + at * at) - (square_[size_ - 1] + other * other)) / (2.0 * (at - other));
        if (begins > begins_[size_ - 1]) break;
        --size_;
        begins = -std::numeric_limits<double>::infinity();
      }
      column_[size_] = at;
      square_[size_] = square;
      begins_[size_] = begins;
      ++size_;
    }
  }

  void write(float* out, std::int64_t width) const {
    if (size_ == 0) {
      std::fill_n(out, width, kNothingNear);
      return;
    }
    std::size_t k = 0;
    for (std::int64_t q = 0; q < width; ++q) {
      const auto at = static_cast<double>(q);
      while (k + 1 < size_ && begins_[k + 1] < at) ++k;
      const double across = at - column_[k];
      const double exact = std::sqrt(across * across + square_[k]);
      const auto rounded = static_cast<float>(exact);
      // Down, so that the lower bound stays one.
      out[q] = static_cast<double>(rounded) > exact ? std::nextafter(rounded, 0.0F) : rounded;
    }
  }

 private:
  std::vector<double> column_;
  std::vector<double> square_;
  std::vector<double> begins_;
  std::size_t size_ = 0;
};

// Distance from x to the interval [cell, cell + 1].
double gap(double x, int cell) { return std::max({0.0, static_cast<double>(cell) - x, x - static_cast<double>(cell + 1)}); }

}  // namespace

DistanceField::DistanceField(const OccupancyMap& map)
    : width_(map.width()),
      height_(map.height()),
      resolution_m_(map.resolution_m()),
      origin_(map.origin().position()),
      axis_x_(unit_vector(map.origin().yaw)) {
  const std::vector<std::int32_t> rows = column_distances(map);
  distance_cells_.resize(rows.size());
  Envelope envelope(static_cast<std::size_t>(width_));
  for (std::size_t first = 0; first < rows.size(); first += static_cast<std::size_t>(width_)) {
    envelope.build(rows.data() + first, width_);
    envelope.write(distance_cells_.data() + first, width_);
  }
}

double DistanceField::centre_distance_m(int i, int j) const {
  const std::size_t index = static_cast<std::size_t>(j) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(i);
  return resolution_m_ * static_cast<double>(distance_cells_[index]);
}

double DistanceField::lower_bound_m(Vec2 p_map) const {
  const Vec2 from_origin = p_map - origin_;
  const double x = dot(axis_x_, from_origin) / resolution_m_;
  const double y = cross(axis_x_, from_origin) / resolution_m_;
  if (!(x >= 0.0 && y >= 0.0 && x < width_ && y < height_)) return 0.0;
  const int i = static_cast<int>(x);
  const int j = static_cast<int>(y);
  const double to_centre = norm({x - i - 0.5, y - j - 0.5});
  return std::max(0.0, centre_distance_m(i, j) - resolution_m_ * (to_centre + kHalfDiagonal));
}

double clearance_m(const OccupancyMap& map, Vec2 p_map, double limit_m) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const Vec2 p = map.to_grid(p_map);
  if (!(std::fabs(p.x) < kFarCells && std::fabs(p.y) < kFarCells)) return kNone;
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
