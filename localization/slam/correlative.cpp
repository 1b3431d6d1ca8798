// SPDX-License-Identifier: Apache-2.0
#include "localization/slam/correlative.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace pitwall::slam {

namespace {

constexpr int kFull = 255;
// What a pose one standard deviation off loses of its response, and at most: odometry can be plainly wrong.
constexpr double kLoss = 0.02;
constexpr double kMostLoss = 0.12;
// Beyond so many cells a side, points far away are left out.
constexpr std::int32_t kMostCells = 4096;

// Maxima over blocks twice as wide, from those of half the width.
std::vector<std::uint8_t> coarser(const std::vector<std::uint8_t>& fine, std::int32_t width, std::int32_t height, std::int32_t half) {
  std::vector<std::uint8_t> rows(fine);
  const auto w = static_cast<std::size_t>(width);
  const auto h = static_cast<std::size_t>(half);
  for (std::size_t j = 0; j < static_cast<std::size_t>(height); ++j) {
    std::uint8_t* row = rows.data() + j * w;
    for (std::size_t i = 0; i + h < w; ++i) row[i] = std::max(row[i], row[i + h]);
  }
  std::vector<std::uint8_t> result(rows);
  for (std::size_t j = 0; j + h < static_cast<std::size_t>(height); ++j) {
    for (std::size_t i = 0; i < w; ++i) result[j * w + i] = std::max(rows[j * w + i], rows[(j + h) * w + i]);
  }
  return result;
}

struct Cell {
  std::int32_t i = 0;
  std::int32_t j = 0;
};

// A block of poses: one heading, 2^level by 2^level steps from the corner (x, y).
struct Block {
  std::int64_t score = 0;
  std::int32_t turn = 0;
  std::int32_t x = 0;
  std::int32_t y = 0;
};

bool first_in_order(const Block& a, const Block& b) {
  if (a.score != b.score) return a.score > b.score;
  if (a.turn != b.turn) return a.turn < b.turn;
  if (a.y != b.y) return a.y < b.y;
  return a.x < b.x;
}

class Search {
 public:
  Search(const ResponseGrid& grid, std::span<const Vec2> points, const SearchWindow& window, double least,
         const std::optional<Excluded>& excluded)
      : grid_(grid), window_(window), excluded_(excluded), count_(points.size()) {
    steps_ = static_cast<std::int32_t>(std::floor(window.half_m / grid.resolution_m() + 1e-9));
    turns_ = static_cast<std::int32_t>(std::floor(window.half_rad / window.step_rad + 1e-9));
    cells_.resize(static_cast<std::size_t>(2 * turns_ + 1));
    for (std::int32_t t = -turns_; t <= turns_; ++t) {
      const math::SinCos turn = math::sincos(window.T_map_centre.yaw + t * window.step_rad);
      std::vector<Cell>& cells = cells_[static_cast<std::size_t>(t + turns_)];
      cells.reserve(points.size());
      for (const Vec2 p : points) {
        const Vec2 q = Vec2{turn.cos * p.x - turn.sin * p.y, turn.sin * p.x + turn.cos * p.y} + window.T_map_centre.position();
        cells.push_back({grid.column(q.x), grid.row(q.y)});
      }
    }
    const double full = kFull * static_cast<double>(count_);
    for (std::int32_t k = 0; k <= turns_; ++k) turn_loss_.push_back(loss(full, k * window.step_rad, window.sigma_rad));
    for (std::int32_t k = 0; k <= steps_; ++k) step_loss_.push_back(loss(full, k * grid.resolution_m(), window.sigma_m));
    best_.score = static_cast<std::int64_t>(std::floor(least * kFull * static_cast<double>(count_)));
  }

  std::optional<SearchResult> run() {
    const int top = grid_.levels();
    const std::int32_t width = std::int32_t{1} << top;
    std::vector<Block> blocks;
    for (std::int32_t t = -turns_; t <= turns_; ++t) {
      for (std::int32_t y = -steps_; y <= steps_; y += width) {
        for (std::int32_t x = -steps_; x <= steps_; x += width) consider(top, {0, t, x, y}, blocks);
      }
    }
    open(top, blocks);
    if (!found_) return std::nullopt;
    const double r = grid_.resolution_m();
    const Pose2& c = window_.T_map_centre;
    return SearchResult{{c.x + best_.x * r, c.y + best_.y * r, wrap_angle(c.yaw + best_.turn * window_.step_rad)},
                        static_cast<double>(best_.score + least_loss(0, best_)) / (kFull * static_cast<double>(count_)),
                        tried_};
  }

 private:
  // Sums a block up and keeps it if it may hold something better.
  void consider(int level, Block block, std::vector<Block>& blocks) {
    if (is_excluded(level, block)) return;
    ++tried_;
    for (const Cell& cell : cells_[static_cast<std::size_t>(block.turn + turns_)]) {
      block.score += grid_.value(level, cell.i + block.x, cell.j + block.y);
    }
    block.score -= least_loss(level, block);
    if (may_be_better(block)) blocks.push_back(block);
  }
  static std::int64_t loss(double full, double away, double sigma) {
    return sigma > 0.0 ? std::llround(full * std::min(kMostLoss, kLoss * away * away / (sigma * sigma))) : 0;
  }
  // What the pose of the block nearest to the centre loses.
  [[nodiscard]] std::int64_t least_loss(int level, const Block& block) const {
    const std::int32_t far = (std::int32_t{1} << level) - 1;
    const auto along = [&](std::int32_t a) {
      const std::int32_t nearest = a > 0 ? a : std::min(0, a + far);
      return step_loss_[static_cast<std::size_t>(std::abs(nearest))];
    };
    return turn_loss_[static_cast<std::size_t>(std::abs(block.turn))] + along(block.x) + along(block.y);
  }
  // Of poses that score alike the first in order counts, so that a block of the same score is opened as well once one is found.
  [[nodiscard]] bool may_be_better(const Block& block) const { return found_ ? block.score >= best_.score : block.score > best_.score; }

  // Whether all poses of the block are left out.
  [[nodiscard]] bool is_excluded(int level, const Block& block) const {
    if (!excluded_) return false;
    const double r = grid_.resolution_m();
    const double yaw = window_.T_map_centre.yaw + block.turn * window_.step_rad;
    if (std::abs(wrap_angle(yaw - excluded_->T_map_scan.yaw)) > excluded_->half_rad) return false;
    const double far = (std::int32_t{1} << level) - 1;
    const Vec2 low = Vec2{window_.T_map_centre.x + block.x * r, window_.T_map_centre.y + block.y * r} - excluded_->T_map_scan.position();
    const auto within = [&](double a) { return a >= -excluded_->half_m && a + far * r <= excluded_->half_m; };
    return within(low.x) && within(low.y);
  }

  void open(int level, std::vector<Block>& blocks) {
    std::sort(blocks.begin(), blocks.end(), first_in_order);
    for (const Block& block : blocks) {
      if (!may_be_better(block)) return;
      if (level == 0) {
        if (!found_ || first_in_order(block, best_)) best_ = block;
        found_ = true;
        continue;
      }
      const std::int32_t half = std::int32_t{1} << (level - 1);
      std::vector<Block> parts;
      for (const std::int32_t dy : {0, half}) {
        for (const std::int32_t dx : {0, half}) {
          if (block.x + dx > steps_ || block.y + dy > steps_) continue;
          consider(level - 1, {0, block.turn, block.x + dx, block.y + dy}, parts);
        }
      }
      open(level - 1, parts);
    }
  }

  const ResponseGrid& grid_;
  const SearchWindow& window_;
  const std::optional<Excluded>& excluded_;
  std::size_t count_;
  std::int32_t steps_ = 0;
  std::int32_t turns_ = 0;
  std::vector<std::int64_t> turn_loss_;  // by steps from the centre
  std::vector<std::int64_t> step_loss_;
  std::vector<std::vector<Cell>> cells_;  // by heading, at the centre of the window
  Block best_;
  bool found_ = false;
  std::size_t tried_ = 0;
};

}  // namespace

ResponseGrid::ResponseGrid(std::span<const Vec2> points, double resolution_m, double smear_m, int levels) : resolution_m_(resolution_m) {
  levels_.resize(static_cast<std::size_t>(levels) + 1);
  if (points.empty()) return;
  Vec2 low = points[0];
  Vec2 high = low;
  for (const Vec2 p : points) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  const auto margin = static_cast<std::int32_t>(std::ceil(3.0 * smear_m / resolution_m));
  corner_ = low - Vec2{margin * resolution_m, margin * resolution_m};
  reach_ = std::int32_t{1} << levels;
  width_ = std::min(kMostCells, static_cast<std::int32_t>((high.x - low.x) / resolution_m) + 2 * margin + 1) + reach_;
  height_ = std::min(kMostCells, static_cast<std::int32_t>((high.y - low.y) / resolution_m) + 2 * margin + 1) + reach_;
  std::vector<std::uint8_t>& fine = levels_[0];
  fine.assign(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_), 0);
  std::vector<std::uint8_t> kernel;
  for (std::int32_t b = -margin; b <= margin; ++b) {
    for (std::int32_t a = -margin; a <= margin; ++a) {
      const double d2 = resolution_m * resolution_m * (a * a + b * b);
      kernel.push_back(static_cast<std::uint8_t>(std::lround(kFull * math::exp(-0.5 * d2 / (smear_m * smear_m)))));
    }
  }
  for (const Vec2 p : points) {
    const std::int32_t i = column(p.x) + reach_;
    const std::int32_t j = row(p.y) + reach_;
    if (i + margin >= width_ || j + margin >= height_) continue;
    std::uint8_t& here = fine[static_cast<std::size_t>(j) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(i)];
    if (here == kFull) continue;
    std::size_t k = 0;
    for (std::int32_t b = j - margin; b <= j + margin; ++b) {
      std::uint8_t* cell =
          fine.data() + static_cast<std::size_t>(b) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(i - margin);
      for (std::int32_t a = -margin; a <= margin; ++a, ++cell) *cell = std::max(*cell, kernel[k++]);
    }
  }
  for (std::size_t level = 1; level < levels_.size(); ++level) {
    levels_[level] = coarser(levels_[level - 1], width_, height_, std::int32_t{1} << (level - 1));
  }
}

std::int32_t ResponseGrid::column(double x) const {
  return static_cast<std::int32_t>(std::floor(std::clamp((x - corner_.x) / resolution_m_, -1e8, 1e8)));
}
std::int32_t ResponseGrid::row(double y) const {
  return static_cast<std::int32_t>(std::floor(std::clamp((y - corner_.y) / resolution_m_, -1e8, 1e8)));
}

double ResponseGrid::response(std::span<const Vec2> points, const Pose2& T_map_scan) const {
  if (points.empty()) return 0.0;
  const math::SinCos turn = math::sincos(T_map_scan.yaw);
  std::int64_t sum = 0;
  for (const Vec2 p : points) {
    const Vec2 q = Vec2{turn.cos * p.x - turn.sin * p.y, turn.sin * p.x + turn.cos * p.y} + T_map_scan.position();
    sum += value(0, column(q.x), row(q.y));
  }
  return static_cast<double>(sum) / (kFull * static_cast<double>(points.size()));
}

std::optional<SearchResult> search(const ResponseGrid& grid, std::span<const Vec2> points, const SearchWindow& window, double least,
                                   const std::optional<Excluded>& excluded) {
  if (points.empty()) return std::nullopt;
  return Search(grid, points, window, least, excluded).run();
}

std::vector<Vec2> thinned(std::span<const Vec2> points, double cell_m) {
  struct Keyed {
    std::int64_t row = 0;
    std::int64_t column = 0;
    std::size_t number = 0;
  };
  std::vector<Keyed> keyed;
  keyed.reserve(points.size());
  for (std::size_t k = 0; k < points.size(); ++k) {
    keyed.push_back(
        {static_cast<std::int64_t>(std::floor(points[k].y / cell_m)), static_cast<std::int64_t>(std::floor(points[k].x / cell_m)), k});
  }
  std::sort(keyed.begin(), keyed.end(), [](const Keyed& a, const Keyed& b) {
    return std::pair{a.row, a.column} != std::pair{b.row, b.column} ? std::pair{a.row, a.column} < std::pair{b.row, b.column}
                                                                    : a.number < b.number;
  });
  std::vector<std::size_t> kept;
  for (std::size_t k = 0; k < keyed.size(); ++k) {
    if (k == 0 || keyed[k].row != keyed[k - 1].row || keyed[k].column != keyed[k - 1].column) kept.push_back(keyed[k].number);
  }
  std::sort(kept.begin(), kept.end());
  std::vector<Vec2> result;
  result.reserve(kept.size());
  for (const std::size_t k : kept) result.push_back(points[k]);
  return result;
}

}  // namespace pitwall::slam
