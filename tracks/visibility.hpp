// SPDX-License-Identifier: Apache-2.0
// Which wall edges can be seen from a tile of 16 x 16 cells, conservatively: every edge that any ray from a free cell of
// one component in the tile hits first, and some more. Worked out for a tile when it is first asked for, under a lock; a
// function of the map alone, so that it does not matter who asks first. All memory is taken at construction.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "tracks/walls.hpp"

namespace pitwall::tracks {

/// `count` edges from edge `first` (an even number) on.
struct EdgeRange {
  std::uint32_t first;
  std::uint32_t count;
};

class Visibility {
 public:
  static constexpr int kTile = 16;

  /// `walls` must be available and outlive this.
  explicit Visibility(const Walls& walls);

  /// The edges that the cells of `component` in the tile of cell (i, j) may see; rises in edge numbers. Empty once the
  /// memory for tiles is used up: see with other means then. Safe from several threads.
  [[nodiscard]] std::span<const EdgeRange> from(int i, int j, std::uint32_t component) const;

  [[nodiscard]] std::size_t bytes() const;
  /// Tiles worked out so far.
  [[nodiscard]] std::size_t tiles_built() const;

 private:
  // Interval of entry into a line of cells, along that line.
  struct Interval {
    double low;
    double high;
  };
  struct Set {
    std::uint32_t component;
    std::uint32_t next;  // set of the same tile, kNoSet at the end
    std::uint32_t first;
    std::uint32_t count;
  };
  // Rays that travel along one axis by `step` and along the other by `low` to `high` cells per cell.
  struct Sector {
    bool along_x;
    int step;
    double low;
    double high;
  };

  [[nodiscard]] std::uint32_t find(std::size_t tile, std::uint32_t component, std::memory_order order) const;
  [[nodiscard]] std::uint32_t build(std::size_t tile, std::uint32_t component) const;
  void flood(int tile_x, int tile_y, std::uint32_t component, const Sector& sector) const;
  void cross_line(const Sector& sector, int line, Interval entry) const;
  void mark(Facing facing, int line, double low, double high) const;
  [[nodiscard]] bool gather(Set& set) const;

  const Walls& walls_;
  std::size_t tiles_across_;
  std::unique_ptr<std::atomic<std::uint32_t>[]> heads_;  // first set of each tile

  // Written under the lock only, and read by others only what a head leads to.
  mutable std::mutex lock_;
  std::unique_ptr<Set[]> sets_;
  std::unique_ptr<EdgeRange[]> ranges_;
  mutable std::uint32_t sets_used_ = 0;
  mutable std::uint32_t ranges_used_ = 0;
  mutable std::vector<std::uint64_t> marks_;  // by edge
  mutable std::vector<Interval> entries_;
  mutable std::vector<Interval> exits_;
};

}  // namespace pitwall::tracks
