// SPDX-License-Identifier: Apache-2.0
#include "localization/localizer/global_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace pitwall::localization {
namespace {

constexpr int kLevels = 6;
constexpr std::int32_t kFull = 255;

/// Middles of the blocked cells that free ones are beside, which is what scans hit.
std::vector<Vec2> faces(const tracks::OccupancyMap& map) {
  std::vector<Vec2> points;
  for (int j = 0; j < map.height(); ++j) {
    for (int i = 0; i < map.width(); ++i) {
      if (!map.blocked(i, j)) continue;
      const auto is_free = [&](int x, int y) { return map.inside(x, y) && !map.blocked(x, y); };
      if (is_free(i - 1, j) || is_free(i + 1, j) || is_free(i, j - 1) || is_free(i, j + 1))
        points.push_back(map.to_map({i + 0.5, j + 0.5}));
    }
  }
  return points;
}

std::vector<Vec2> floor_of(const tracks::OccupancyMap& map) {
  std::vector<Vec2> points;
  for (int j = 0; j < map.height(); ++j) {
    for (int i = 0; i < map.width(); ++i) {
      if (!map.blocked(i, j)) points.push_back(map.to_map({i + 0.5, j + 0.5}));
    }
  }
  return points;
}

Vec2 extreme(const std::vector<Vec2>& points, bool largest) {
  Vec2 result = points.empty() ? Vec2{} : points.front();
  for (const Vec2 p : points) {
    result.x = largest ? std::max(result.x, p.x) : std::min(result.x, p.x);
    result.y = largest ? std::max(result.y, p.y) : std::min(result.y, p.y);
  }
  return result;
}

}  // namespace

SearchMap::SearchMap(const tracks::OccupancyMap& map, double resolution_m) : SearchMap(faces(map), floor_of(map), resolution_m) {}

SearchMap::SearchMap(const std::vector<Vec2>& hit, const std::vector<Vec2>& free, double resolution_m)
    : walls(hit, resolution_m, resolution_m, kLevels),
      floor(free, resolution_m, 0.01 * resolution_m, kLevels),
      low(extreme(free, false)),
      high(extreme(free, true)) {}

GlobalSearch::GlobalSearch(std::shared_ptr<const SearchMap> map, const GlobalSearchSettings& settings)
    : map_(std::move(map)),
      settings_(settings),
      turns_(static_cast<std::int32_t>(std::ceil(2.0 * math::kPi / settings.step_rad))),
      columns_(static_cast<std::int32_t>((map_->high.x - map_->low.x) / map_->walls.resolution_m()) + 1),
      rows_(static_cast<std::int32_t>((map_->high.y - map_->low.y) / map_->walls.resolution_m()) + 1) {
  cells_.resize(settings_.points * static_cast<std::size_t>(turns_));
  const std::int32_t width = std::int32_t{1} << kLevels;
  tops_.reserve(static_cast<std::size_t>(turns_) * static_cast<std::size_t>(columns_ / width + 1) *
                static_cast<std::size_t>(rows_ / width + 1));
  open_.reserve(4 * (kLevels + 1));
}

void GlobalSearch::begin(std::span<const Vec2> points, double least) {
  count_ = std::min(points.size(), settings_.points);
  const slam::ResponseGrid& walls = map_->walls;
  const std::int32_t first_x = walls.column(map_->low.x);
  const std::int32_t first_y = walls.row(map_->low.y);
  for (std::int32_t t = 0; t < turns_; ++t) {
    const math::SinCos turn = math::sincos(2.0 * math::kPi * t / turns_);
    for (std::size_t k = 0; k < count_; ++k) {
      const Vec2 p = points[k * points.size() / count_];
      // Poses are whole cells from the corner of the floor.
      const Vec2 q = map_->low + Vec2{turn.cos * p.x - turn.sin * p.y, turn.sin * p.x + turn.cos * p.y};
      cells_[static_cast<std::size_t>(t) * settings_.points + k] = {walls.column(q.x) - first_x, walls.row(q.y) - first_y};
    }
  }
  excluded_.reset();
  restart(least);
}

void GlobalSearch::begin_elsewhere(const slam::Excluded& excluded, double least) {
  excluded_ = excluded;
  restart(least);
}

void GlobalSearch::restart(double least) {
  tops_.clear();
  open_.clear();
  next_ = {0, kLevels, 0, map_->walls.column(map_->low.x), map_->walls.row(map_->low.y)};
  sorted_ = false;
  opened_ = 0;
  least_ = static_cast<std::int32_t>(least * kFull * static_cast<double>(count_));
  best_ = {};
  best_.score = least_;
  tried_ = 0;
  over_ = count_ == 0;
}

bool GlobalSearch::next_top(Block& block) {
  if (next_.turn >= turns_) return false;
  block = next_;
  const std::int32_t width = std::int32_t{1} << kLevels;
  const std::int32_t first_x = map_->walls.column(map_->low.x);
  const std::int32_t first_y = map_->walls.row(map_->low.y);
  next_.x += width;
  if (next_.x >= first_x + columns_) {
    next_.x = first_x;
    next_.y += width;
  }
  if (next_.y >= first_y + rows_) {
    next_.y = first_y;
    ++next_.turn;
  }
  return true;
}

// The best first; in a fixed order where they are alike.
bool GlobalSearch::first_in_order(const Block& a, const Block& b) {
  if (a.score != b.score) return a.score > b.score;
  if (a.turn != b.turn) return a.turn < b.turn;
  return a.y != b.y ? a.y < b.y : a.x < b.x;
}

// Whether all poses of the block are too near to the place that is left out.
bool GlobalSearch::is_excluded(const Block& block, Vec2 corner) const {
  if (!excluded_) return false;
  const double yaw = 2.0 * math::kPi * block.turn / turns_;
  if (std::fabs(wrap_angle(yaw - excluded_->T_map_scan.yaw)) > excluded_->half_rad) return false;
  const double far_m = ((std::int32_t{1} << block.level) - 1) * map_->walls.resolution_m();
  const Vec2 low = corner - excluded_->T_map_scan.position();
  const auto within = [&](double a) { return a >= -excluded_->half_m && a + far_m <= excluded_->half_m; };
  return within(low.x) && within(low.y);
}

// Sums a block up, and keeps it if it may hold something better.
void GlobalSearch::consider(Block block) {
  ++tried_;
  const slam::ResponseGrid& walls = map_->walls;
  const Vec2 corner{map_->low.x + (block.x - walls.column(map_->low.x)) * walls.resolution_m(),
                    map_->low.y + (block.y - walls.row(map_->low.y)) * walls.resolution_m()};
  const double half_cell = 0.5 * walls.resolution_m();
  if (map_->floor.value(block.level, map_->floor.column(corner.x + half_cell), map_->floor.row(corner.y + half_cell)) == 0) return;
  if (is_excluded(block, corner)) return;
  const Cell* cells = &cells_[static_cast<std::size_t>(block.turn) * settings_.points];
  block.score = 0;
  for (std::size_t k = 0; k < count_; ++k) block.score += walls.value(block.level, cells[k].i + block.x, cells[k].j + block.y);
  if (block.score <= best_.score) return;
  if (block.level == kLevels) {
    tops_.push_back(block);
  } else if (block.level == 0) {
    best_ = block;
  } else {
    open_.push_back(block);
  }
}

bool GlobalSearch::advance(std::size_t blocks) {
  const std::size_t until = tried_ + blocks;
  while (!over_ && tried_ < until) {
    Block block;
    if (!sorted_) {
      if (next_top(block)) {
        consider(block);
        continue;
      }
      std::sort(tops_.begin(), tops_.end(), first_in_order);
      sorted_ = true;
    }
    if (!open_.empty()) {
      block = open_.back();
      open_.pop_back();
    } else if (opened_ < tops_.size()) {
      block = tops_[opened_++];
    } else {
      over_ = true;
      break;
    }
    if (block.score <= best_.score) {
      // Those after a top block are no better.
      if (block.level == kLevels) over_ = true;
      continue;
    }
    const auto half = static_cast<std::int32_t>(std::int32_t{1} << (block.level - 1));
    const std::size_t bottom = open_.size();
    for (const std::int32_t dy : {0, half}) {
      for (const std::int32_t dx : {0, half})
        consider({0, static_cast<std::int16_t>(block.level - 1), block.turn, block.x + dx, block.y + dy});
    }
    std::sort(open_.begin() + static_cast<std::ptrdiff_t>(bottom), open_.end(),
              [](const Block& a, const Block& b) { return first_in_order(b, a); });
  }
  return over_;
}

std::optional<slam::SearchResult> GlobalSearch::result() const {
  if (!over_ || best_.score <= least_) return std::nullopt;
  const slam::ResponseGrid& walls = map_->walls;
  const double r = walls.resolution_m();
  return slam::SearchResult{{map_->low.x + (best_.x - walls.column(map_->low.x)) * r, map_->low.y + (best_.y - walls.row(map_->low.y)) * r,
                             wrap_angle(2.0 * math::kPi * best_.turn / turns_)},
                            static_cast<double>(best_.score) / (kFull * static_cast<double>(count_)),
                            tried_};
}

}  // namespace pitwall::localization
