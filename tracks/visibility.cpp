// SPDX-License-Identifier: Apache-2.0
// For each of many narrow sectors of directions, the rays of a tile are followed line of cells by line of cells (columns
// for sectors around the x axis, rows for the others) as intervals of where they may enter the line. Within a line a
// free run passes on what enters it, moved by the slopes of the sector and cut to the run; what is cut off has hit the
// end of the run, and what comes out on the far side may hit the walls there. Which ray entered where is forgotten from
// line to line: that only ever adds edges.
#include "tracks/visibility.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace pitwall::tracks {
namespace {

constexpr std::uint32_t kNoSet = 0xffffffff;
constexpr std::uint32_t kMaxSets = 1U << 15;
constexpr std::uint32_t kMaxRanges = 1U << 18;
// Sectors of slope per eighth of a turn.
constexpr int kSectors = 8;
// Far more than rounding can move a ray, in cells.
constexpr double kTouch = 1e-4;
// Edges that are not seen but cheaper to take along than to skip.
constexpr std::uint32_t kBridge = 8;

}  // namespace

Visibility::Visibility(const Walls& walls)
    : walls_(walls),
      tiles_across_((static_cast<std::size_t>(walls.columns().lines()) + kTile - 1) / kTile),
      sets_(std::make_unique_for_overwrite<Set[]>(kMaxSets)),
      ranges_(std::make_unique_for_overwrite<EdgeRange[]>(kMaxRanges)),
      marks_(walls.vertices().size() / 64 + 1) {
  const std::size_t tiles = tiles_across_ * ((static_cast<std::size_t>(walls.rows().lines()) + kTile - 1) / kTile);
  heads_ = std::make_unique_for_overwrite<std::atomic<std::uint32_t>[]>(tiles);
  for (std::size_t k = 0; k < tiles; ++k) heads_[k].store(kNoSet, std::memory_order_relaxed);
  // At most every second cell of a line starts a run, and neighbouring entries may share one; the tile adds its own.
  const std::size_t longest = static_cast<std::size_t>(std::max(walls.rows().length(), walls.columns().length()));
  entries_.reserve(2 * longest + 4 * kTile);
  exits_.reserve(2 * longest + 4 * kTile);
}

std::uint32_t Visibility::find(std::size_t tile, std::uint32_t component, std::memory_order order) const {
  std::uint32_t at = heads_[tile].load(order);
  while (at != kNoSet && sets_[at].component != component) at = sets_[at].next;
  return at;
}

std::span<const EdgeRange> Visibility::from(int i, int j, std::uint32_t component) const {
  const std::size_t tile = static_cast<std::size_t>(j / kTile) * tiles_across_ + static_cast<std::size_t>(i / kTile);
  std::uint32_t at = find(tile, component, std::memory_order_acquire);
  if (at == kNoSet) {
    const std::lock_guard<std::mutex> guard(lock_);
    at = find(tile, component, std::memory_order_relaxed);
    if (at == kNoSet) at = build(tile, component);
    if (at == kNoSet) return {};
  }
  return {ranges_.get() + sets_[at].first, sets_[at].count};
}

std::uint32_t Visibility::build(std::size_t tile, std::uint32_t component) const {
  if (sets_used_ == kMaxSets) return kNoSet;
  std::fill(marks_.begin(), marks_.end(), 0);
  const int tile_x = static_cast<int>(tile % tiles_across_) * kTile;
  const int tile_y = static_cast<int>(tile / tiles_across_) * kTile;
  for (const bool along_x : {true, false}) {
    for (const int step : {1, -1}) {
      for (int k = -kSectors; k < kSectors; ++k) {
        flood(tile_x, tile_y, component, {along_x, step, static_cast<double>(k) / kSectors, static_cast<double>(k + 1) / kSectors});
      }
    }
  }
  Set set{component, heads_[tile].load(std::memory_order_relaxed), 0, 0};
  if (!gather(set)) return kNoSet;
  const std::uint32_t at = sets_used_++;
  sets_[at] = set;
  heads_[tile].store(at, std::memory_order_release);
  return at;
}

void Visibility::flood(int tile_x, int tile_y, std::uint32_t component, const Sector& sector) const {
  const BitGrid& grid = sector.along_x ? walls_.columns() : walls_.rows();
  const int first = sector.along_x ? tile_x : tile_y;
  const int across = sector.along_x ? tile_y : tile_x;
  const int last = std::min(first + kTile, grid.lines()) - 1;
  const int across_end = std::min(across + kTile, grid.length());
  exits_.clear();
  for (int line = sector.step > 0 ? first : last; line >= 0 && line < grid.lines(); line += sector.step) {
    std::swap(entries_, exits_);
    exits_.clear();
    if (line >= first && line <= last) {
      // What starts within a cell has any part of the line left to travel.
      const Sector partly{sector.along_x, sector.step, std::min(sector.low, 0.0), std::max(sector.high, 0.0)};
      for (int cell = grid.next_free(line, across); cell < across_end;) {
        const int end = std::min(grid.next_blocked(line, cell), across_end);
        const std::uint32_t here = sector.along_x ? walls_.component(line, cell) : walls_.component(cell, line);
        if (here == component) cross_line(partly, line, {static_cast<double>(cell), static_cast<double>(end)});
        cell = grid.next_free(line, end);
      }
    } else if (entries_.empty()) {
      break;
    }
    for (const Interval& entry : entries_) cross_line(sector, line, entry);
    // Exits overlap where rays from the tile join those from behind, and where neighbours widen into each other.
    std::sort(exits_.begin(), exits_.end(), [](const Interval& a, const Interval& b) { return a.low < b.low; });
    std::size_t kept = 0;
    for (const Interval& exit : exits_) {
      if (kept > 0 && exit.low <= exits_[kept - 1].high) {
        exits_[kept - 1].high = std::max(exits_[kept - 1].high, exit.high);
      } else {
        exits_[kept++] = exit;
      }
    }
    exits_.resize(kept);
  }
}

void Visibility::cross_line(const Sector& sector, int line, Interval entry) const {
  const BitGrid& grid = sector.along_x ? walls_.columns() : walls_.rows();
  const int from = std::max(0, static_cast<int>(std::floor(entry.low - kTouch)));
  for (int cell = grid.next_free(line, from); cell < grid.length() && cell <= entry.high + kTouch;) {
    const int end = grid.next_blocked(line, cell);
    // No ray of the sector gets further down than one cell, so that the true start of the run does not matter.
    int start = cell;
    while (start > 0 && cell - start < 2 && !grid.blocked(line, start - 1)) --start;
    const double low = std::max(entry.low, static_cast<double>(start)) + sector.low;
    const double high = std::min(entry.high, static_cast<double>(end)) + sector.high;
    if (low <= start + kTouch && sector.low < 0.0) mark(sector.along_x ? Facing::kDown : Facing::kLeft, start, line, line + 1);
    if (high >= end - kTouch && sector.high > 0.0) mark(sector.along_x ? Facing::kUp : Facing::kRight, end, line, line + 1);
    const Interval exit{std::max(low, static_cast<double>(start)), std::min(high, static_cast<double>(end))};
    if (exit.low <= exit.high + kTouch) {
      const Facing ahead =
          sector.along_x ? (sector.step > 0 ? Facing::kRight : Facing::kLeft) : (sector.step > 0 ? Facing::kUp : Facing::kDown);
      mark(ahead, sector.step > 0 ? line + 1 : line, exit.low, exit.high);
      exits_.push_back({exit.low - kTouch, exit.high + kTouch});
    }
    cell = grid.next_free(line, end);
  }
}

// Marks the edges on a grid line that face so and touch an interval of it.
void Visibility::mark(Facing facing, int line, double low, double high) const {
  const std::span<const std::uint32_t> edges = walls_.edges_on(facing, line);
  // Edges of one line and facing do not overlap: their ends are sorted like their starts.
  auto edge =
      std::lower_bound(edges.begin(), edges.end(), low - kTouch, [this](std::uint32_t k, double at) { return walls_.ends(k)[1] < at; });
  for (; edge != edges.end() && walls_.ends(*edge)[0] <= high + kTouch; ++edge) marks_[*edge >> 6] |= std::uint64_t{1} << (*edge & 63);
}

// Puts the marked edges into ranges; false if there is no room left.
bool Visibility::gather(Set& set) const {
  set.first = ranges_used_;
  std::uint32_t corner = 0;  // last one of the outline of the range under way
  for (std::size_t w = 0; w < marks_.size(); ++w) {
    for (std::uint64_t left = marks_[w]; left != 0; left &= left - 1) {
      const auto edge = static_cast<std::uint32_t>(64 * w) + static_cast<std::uint32_t>(std::countr_zero(left));
      EdgeRange* const range = set.count > 0 ? &ranges_[set.first + set.count - 1] : nullptr;
      if (range != nullptr && edge < corner && edge <= range->first + range->count + kBridge) {
        range->count = edge + 1 - range->first;
        continue;
      }
      if (set.first + set.count == kMaxRanges) return false;
      const std::uint32_t even = edge & ~1U;
      ranges_[set.first + set.count++] = {even, edge + 1 - even};
      corner = walls_.last_corner(edge);
    }
  }
  ranges_used_ = set.first + set.count;
  return true;
}

std::size_t Visibility::bytes() const {
  const std::size_t tiles = tiles_across_ * ((static_cast<std::size_t>(walls_.rows().lines()) + kTile - 1) / kTile);
  return 4 * tiles + sizeof(Set) * kMaxSets + sizeof(EdgeRange) * kMaxRanges + 8 * marks_.capacity() +
         sizeof(Interval) * (entries_.capacity() + exits_.capacity());
}

std::size_t Visibility::tiles_built() const {
  const std::lock_guard<std::mutex> guard(lock_);
  return sets_used_;
}

}  // namespace pitwall::tracks
