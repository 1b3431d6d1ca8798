// SPDX-License-Identifier: Apache-2.0
// Where a set of points fits best on points that are known already, by looking everywhere in a window (Olson, "Real-time correlative scan
// matching", ICRA 2009), and yet not one pose at a time: a pyramid of maxima bounds what a block of poses can reach at most, and
// blocks are opened best first until no bound exceeds the best pose found (Hess et al., "Real-time loop closure in 2D LIDAR SLAM", ICRA
// 2016). Cells hold whole numbers and so do sums, so that the result is exactly that of trying every pose, ties broken by the first in
// order of yaw, y, x.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/geometry.hpp"

namespace pitwall::slam {

/// A grid of how near the next known point is, 0 .. 255 (255: in this cell), and its maxima over blocks.
class ResponseGrid {
 public:
  /// Cells of `resolution_m`; a point makes cells within 3 `smear_m` of it exp(-d^2 / (2 smear^2)). `levels` above the grid itself.
  ResponseGrid(std::span<const Vec2> points, double resolution_m, double smear_m, int levels);
  [[nodiscard]] double resolution_m() const { return resolution_m_; }
  [[nodiscard]] int levels() const { return static_cast<int>(levels_.size()) - 1; }
  /// Cell that a point is in.
  [[nodiscard]] std::int32_t column(double x) const;
  [[nodiscard]] std::int32_t row(double y) const;
  /// The largest value of the 2^level x 2^level cells from (i, j) to the right and up; 0 outside.
  [[nodiscard]] int value(int level, std::int32_t i, std::int32_t j) const {
    // Blocks that begin to the left of the grid or below it may reach into it.
    const std::int32_t a = i + reach_;
    const std::int32_t b = j + reach_;
    if (a < 0 || b < 0 || a >= width_ || b >= height_) return 0;
    return levels_[static_cast<std::size_t>(level)]
                  [static_cast<std::size_t>(b) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(a)];
  }
  /// Mean value over the points at T_map_scan, 0 .. 1.
  [[nodiscard]] double response(std::span<const Vec2> points, const Pose2& T_map_scan) const;

 private:
  double resolution_m_;
  Vec2 corner_;
  std::int32_t reach_ = 0;
  std::int32_t width_ = 0;
  std::int32_t height_ = 0;
  std::vector<std::vector<std::uint8_t>> levels_;
};

struct SearchWindow {
  Pose2 T_map_centre;   ///< of the scan
  double half_m = 0.5;  ///< both ways in x and in y
  double half_rad = 0.35;
  double step_rad = 0.01;
  /// Standard deviations of the centre, 0: not known. A pose d away loses 0.02 d^2 / sigma^2 of its response,
  /// at most 0.12, for x, y and yaw each: along a corridor, where walls
  /// behind are known and those ahead are not, responses rise towards where the car was.
  double sigma_m = 0.0;
  double sigma_rad = 0.0;
};

struct SearchResult {
  Pose2 T_map_scan;
  double response = 0.0;  ///< 0 .. 1, before the loss
  std::size_t tried = 0;  ///< blocks and poses that were summed up
};

/// Places that a second look leaves out: within this of one that was found.
struct Excluded {
  Pose2 T_map_scan;
  double half_m = 0.5;
  double half_rad = 0.2;
};

/// The pose of the window whose response, less what it loses for its distance, is highest, if that is above `least`. The window is walked
/// in steps of the resolution.
std::optional<SearchResult> search(const ResponseGrid& grid, std::span<const Vec2> points, const SearchWindow& window, double least,
                                   const std::optional<Excluded>& excluded = std::nullopt);

/// The first point of each cell of that size, in their order.
std::vector<Vec2> thinned(std::span<const Vec2> points, double cell_m);

}  // namespace pitwall::slam
