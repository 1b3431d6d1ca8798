// SPDX-License-Identifier: Apache-2.0
// Where on a whole map a scan fits best, a little at a time. Branch and bound over blocks of poses (Hess et al., "Real-time loop closure in
// 2D LIDAR SLAM", ICRA 2016) on the pyramid of localization/slam/correlative.hpp: what a block can reach at most is bounded by the maxima
// of its cells, so that the result is that of trying every pose on free floor. Unlike slam::search() it is done in portions, allocates
// nothing once begun, and knows where a car cannot be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/geometry.hpp"
#include "localization/slam/correlative.hpp"
#include "tracks/map.hpp"

namespace pitwall::localization {

/// A map made ready for searches; may be shared.
struct SearchMap {
  /// `resolution_m` between the poses that are tried, and of the grid.
  SearchMap(const tracks::OccupancyMap& map, double resolution_m);
  slam::ResponseGrid walls;  ///< how near the next face of a wall is
  slam::ResponseGrid floor;  ///< where a car may be
  Vec2 low;                  ///< of the free floor, map frame
  Vec2 high;

 private:
  SearchMap(const std::vector<Vec2>& hit, const std::vector<Vec2>& free, double resolution_m);
};

struct GlobalSearchSettings {
  double step_rad = 0.02;    ///< between headings
  std::size_t points = 100;  ///< of the scan, at most
};

class GlobalSearch {
 public:
  GlobalSearch(std::shared_ptr<const SearchMap> map, const GlobalSearchSettings& settings);

  /// Begins anew with points in the frame of the pose that is looked for; uses at most settings.points of them, evenly. What responds
  /// less than `least` (of 1) is no place.
  void begin(std::span<const Vec2> points, double least);
  /// Begins anew with the same points, for another place than one that was found.
  void begin_elsewhere(const slam::Excluded& excluded, double least);
  /// Looks at about so many blocks of poses more; true once the search is over.
  bool advance(std::size_t blocks);
  /// The pose that fits best, once the search is over.
  [[nodiscard]] std::optional<slam::SearchResult> result() const;
  [[nodiscard]] std::size_t tried() const { return tried_; }

 private:
  struct Cell {
    std::int32_t i = 0;
    std::int32_t j = 0;
  };
  struct Block {
    std::int32_t score = 0;
    std::int16_t level = 0;
    std::int16_t turn = 0;
    std::int32_t x = 0;  // column and row of its first cell
    std::int32_t y = 0;
  };
  static bool first_in_order(const Block& a, const Block& b);
  // The blocks of the top level, in order of turn, y, x.
  bool next_top(Block& block);
  void restart(double least);
  [[nodiscard]] bool is_excluded(const Block& block, Vec2 corner) const;
  void consider(Block block);

  std::shared_ptr<const SearchMap> map_;
  GlobalSearchSettings settings_;
  std::int32_t turns_;
  std::int32_t columns_;
  std::int32_t rows_;
  std::vector<Cell> cells_;  // by heading: cells of the points from the cell of the sensor
  std::size_t count_ = 0;
  std::vector<Block> tops_;  // to be opened, by score once all are looked at
  std::vector<Block> open_;  // a stack: the best part on top
  Block next_;
  bool sorted_ = false;
  std::size_t opened_ = 0;
  std::optional<slam::Excluded> excluded_;
  Block best_;
  std::int32_t least_ = 0;
  std::size_t tried_ = 0;
  bool over_ = true;
};

}  // namespace pitwall::localization
