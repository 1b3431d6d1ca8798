// SPDX-License-Identifier: Apache-2.0
#include "tracks/raycast.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/check.hpp"
#include "core/math.hpp"

namespace pitwall::tracks {
namespace {

// A row or column guessed from x0 + t dx is off by less than this (rounding: 4 units in the last place of 2^28 cells);
// nearer to a line than this, the crossings decide.
constexpr double kGuessMargin = 1e-6;
// Below this a component of the direction cannot move any ray on the map by a bit.
constexpr double kNoDirection = 1e-100;
// Sizes of boxes that the walk leaps over; four bits choose one. 0: blocked, or outside the map.
constexpr std::array<int, 16> kLeaps{0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 24, 36, 60, 110, 255};

// One coordinate of a ray. A cell is entered over its near line and left over its far one.
template <bool kForward>
struct Axis {
  double start;
  double direction;
  double inverse;  // infinite for a ray across this axis

  Axis(double from, double along) : start(from), direction(along), inverse(kForward ? 1.0 / std::fabs(along) : -1.0 / std::fabs(along)) {}

  [[nodiscard]] double crossing(int line) const { return (static_cast<double>(line) - start) * inverse; }
  static int near_line(int cell) { return kForward ? cell : cell + 1; }
  static int far_line(int cell, int leap) { return kForward ? cell + leap : cell + 1 - leap; }
  static int cell_behind(int line) { return kForward ? line : line - 1; }
  static int ahead(int cell) { return kForward ? cell + 1 : cell - 1; }
  static int back(int cell) { return kForward ? cell - 1 : cell + 1; }

  // Sets `cell` to the one entered before t and not left before t; returns whether it is left exactly at t.
  [[nodiscard]] bool locate(double t, int& cell) const {
    const double guess = start + t * direction;
    cell = static_cast<int>(guess);  // towards 0, which is floor except where the margin sends it on
    const double fraction = guess - static_cast<double>(cell);
    if (fraction > kGuessMargin && fraction < 1.0 - kGuessMargin) return false;
    while (!(crossing(near_line(cell)) < t)) cell = back(cell);
    while (crossing(far_line(cell, 1)) < t) cell = ahead(cell);
    return crossing(far_line(cell, 1)) == t;
  }

  // Where the ray enters the closed interval [0, size] from outside; -1 from inside, math::kInfinity if never.
  [[nodiscard]] double entry(int size) const {
    if (start >= 0.0 && start <= static_cast<double>(size)) return -1.0;
    const double t = crossing(kForward ? 0 : size);
    return t > 0.0 ? t : math::kInfinity;
  }
};

}  // namespace

namespace {

std::shared_ptr<const OccupancyMap> there(std::shared_ptr<const OccupancyMap> map) {
  PITWALL_CHECK(map != nullptr);
  return map;
}

}  // namespace

RayCaster::RayCaster(std::shared_ptr<const OccupancyMap> map)
    : map_(there(std::move(map))),
      axis_x_(unit_vector(map_->origin().yaw)),
      row_(static_cast<std::size_t>(map_->width()) + 2),
      leap_(row_ * (static_cast<std::size_t>(map_->height()) + 2)),
      walls_(*map_) {
  for (const bool up : {false, true}) {
    for (const bool right : {false, true}) fill_leaps(right, up);
  }
  if (walls_.available()) visibility_ = std::make_unique<const Visibility>(walls_);
}

// The largest free square with its near corner at a cell is one larger than the least of those at the three cells ahead.
void RayCaster::fill_leaps(bool right, bool up) {
  std::array<std::uint8_t, 256> code{};
  for (std::size_t side = 0; side < code.size(); ++side) {
    const auto above = std::upper_bound(kLeaps.begin(), kLeaps.end(), static_cast<int>(side));
    code[side] = static_cast<std::uint8_t>(above - kLeaps.begin() - 1);
  }
  const int shift = (right ? 4 : 0) + (up ? 8 : 0);
  const int width = map_->width();
  const int height = map_->height();
  const std::ptrdiff_t step = right ? 1 : -1;
  // The row ahead becomes the row under way cell by cell; the cell after the last is the frame's.
  std::vector<std::uint8_t> sides(static_cast<std::size_t>(width) + 2, 0);
  for (int n = 0; n < height; ++n) {
    const int j = up ? height - 1 - n : n;
    const int first = right ? width - 1 : 0;
    std::uint8_t* side = sides.data() + first + 1;
    std::uint16_t* here = leap_.data() + cell_index(first, j);
    const std::uint8_t* blocked = map_->blocked_cells().data() + static_cast<std::size_t>(j) * static_cast<std::size_t>(width) + first;
    int beside = 0;
    int diagonal = 0;
    for (int m = 0; m < width; ++m) {
      const int ahead = *side;
      const int least = std::min({beside, ahead, diagonal});
      diagonal = ahead;
      beside = *blocked != 0 ? 0 : std::min(255, least + 1);
      *side = static_cast<std::uint8_t>(beside);
      *here = static_cast<std::uint16_t>(*here | code[static_cast<std::size_t>(beside)] << shift);
      side -= step;
      here -= step;
      blocked -= step;
    }
  }
}

RayCaster::Start RayCaster::start_at(Vec2 p) const {
  Start start;
  start.origin = p;
  start.finite = std::fabs(p.x) < kFarCells && std::fabs(p.y) < kFarCells;
  if (!start.finite) return start;
  start.right = static_cast<int>(std::floor(p.x));
  start.up = static_cast<int>(std::floor(p.y));
  start.on_vertical = static_cast<double>(start.right) == p.x;
  start.on_horizontal = static_cast<double>(start.up) == p.y;
  start.left = start.on_vertical ? start.right - 1 : start.right;
  start.down = start.on_horizontal ? start.up - 1 : start.up;
  start.inside = p.x >= 0.0 && p.y >= 0.0 && p.x <= static_cast<double>(map_->width()) && p.y <= static_cast<double>(map_->height());
  start.blocked = map_->blocked(start.left, start.down) || map_->blocked(start.right, start.down) || map_->blocked(start.left, start.up) ||
                  map_->blocked(start.right, start.up);
  return start;
}

// A ray along a grid line touches the cells on both sides of it all the way.
double RayCaster::along_line(const Start& from, Vec2 direction) const {
  const bool vertical = direction.x == 0.0;
  const double start = vertical ? from.origin.y : from.origin.x;
  const double along = vertical ? direction.y : direction.x;
  const double inverse = 1.0 / along;  // a unit vector need not be one exactly
  const bool forward = along > 0.0;
  const int beside = vertical ? from.right : from.up;
  const int first = vertical ? from.up : from.right;
  const int last = (vertical ? map_->height() : map_->width()) - 1;
  int cell = forward ? std::max(first, 0) : std::min(first, last);
  for (; cell >= 0 && cell <= last; cell += forward ? 1 : -1) {
    const bool hit = vertical ? map_->blocked(beside - 1, cell) || map_->blocked(beside, cell)
                              : map_->blocked(cell, beside - 1) || map_->blocked(cell, beside);
    if (hit) return (static_cast<double>(forward ? cell : cell + 1) - start) * inverse;
  }
  return math::kInfinity;
}

// Brings a ray from outside to the first cell of the map that it touches; +inf if there is none within `limit`.
template <bool kRight, bool kUp>
double RayCaster::enter(Vec2 origin, Vec2 direction, double limit, int& i, int& j) const {
  const Axis<kRight> x(origin.x, direction.x);
  const Axis<kUp> y(origin.y, direction.y);
  const double t_x = x.entry(map_->width());
  const double t_y = y.entry(map_->height());
  const double t = std::max(t_x, t_y);
  const Vec2 p = origin + t * direction;
  if (!(t <= limit) || !(p.x > -1.0 && p.y > -1.0 && p.x < map_->width() + 1.0 && p.y < map_->height() + 1.0)) return math::kInfinity;
  i = kRight ? 0 : map_->width() - 1;
  j = kUp ? 0 : map_->height() - 1;
  if (t_x > t_y) {
    if (y.locate(t, j) && !map_->blocked(i, j)) j = Axis<kUp>::ahead(j);
  } else if (t_y > t_x) {
    if (x.locate(t, i) && !map_->blocked(i, j)) i = Axis<kRight>::ahead(i);
  }
  return map_->inside(i, j) ? t : math::kInfinity;
}

template <bool kRight, bool kUp>
double RayCaster::walk(const Start& start, Vec2 direction, double limit) const {
  const Axis<kRight> x(start.origin.x, direction.x);
  const Axis<kUp> y(start.origin.y, direction.y);
  constexpr int kShift = (kRight ? 4 : 0) + (kUp ? 8 : 0);
  double t = 0.0;
  int i = kRight ? start.right : start.left;
  int j = kUp ? start.up : start.down;
  if (!start.inside) {
    t = enter<kRight, kUp>(start.origin, direction, limit, i, j);
    if (t == math::kInfinity) return t;
  }
  for (;;) {
    const int side = kLeaps[leap_[cell_index(i, j)] >> kShift & 15U];
    if (side == 0) return map_->blocked(i, j) ? t : math::kInfinity;
    const int line_x = Axis<kRight>::far_line(i, side);
    const int line_y = Axis<kUp>::far_line(j, side);
    const double t_x = x.crossing(line_x);
    const double t_y = y.crossing(line_y);
    if (t_x < t_y) {
      t = t_x;
      i = Axis<kRight>::cell_behind(line_x);
      if (y.locate(t, j)) {
        if (map_->blocked(i, j)) return t;
        j = Axis<kUp>::ahead(j);
      }
    } else if (t_y < t_x) {
      t = t_y;
      j = Axis<kUp>::cell_behind(line_y);
      if (x.locate(t, i)) {
        if (map_->blocked(i, j)) return t;
        i = Axis<kRight>::ahead(i);
      }
    } else {
      t = t_x;
      i = Axis<kRight>::cell_behind(line_x);
      j = Axis<kUp>::cell_behind(line_y);
      if (map_->blocked(i, Axis<kUp>::back(j)) || map_->blocked(Axis<kRight>::back(i), j)) return t;
    }
    if (t > limit) return math::kInfinity;
  }
}

double RayCaster::cast_cells(const Start& start, Vec2 direction, double limit) const {
  if (std::fabs(direction.x) < kNoDirection || std::fabs(direction.y) < kNoDirection) {
    if (std::fabs(direction.x) < kNoDirection) direction.x = 0.0;
    if (std::fabs(direction.y) < kNoDirection) direction.y = 0.0;
    if (direction == Vec2{}) return math::kInfinity;
    if ((direction.x == 0.0 && start.on_vertical) || (direction.y == 0.0 && start.on_horizontal)) return along_line(start, direction);
  }
  if (direction.y >= 0.0)
    return direction.x >= 0.0 ? walk<true, true>(start, direction, limit) : walk<false, true>(start, direction, limit);
  return direction.x >= 0.0 ? walk<true, false>(start, direction, limit) : walk<false, false>(start, direction, limit);
}

double RayCaster::cast(Vec2 origin_map, Vec2 direction_map, double max_range_m) const {
  const Start start = start_at(map_->to_grid(origin_map));
  const Vec2 direction{dot(axis_x_, direction_map), cross(axis_x_, direction_map)};
  if (!start.finite || !std::isfinite(direction.x) || !std::isfinite(direction.y)) return math::kInfinity;
  if (start.blocked) return 0.0;
  const double range = map_->resolution_m() * cast_cells(start, direction, max_range_m / map_->resolution_m() + 1.0);
  return range <= max_range_m ? range : math::kInfinity;
}

std::size_t RayCaster::bytes() const {
  return sizeof(*this) + 2 * leap_.capacity() + walls_.bytes() + (visibility_ != nullptr ? visibility_->bytes() : 0);
}

}  // namespace pitwall::tracks
