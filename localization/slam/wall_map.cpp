// SPDX-License-Identifier: Apache-2.0
#include "localization/slam/wall_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "localization/wall_pairs.hpp"

namespace pitwall::slam {

namespace {

using localization::WallPiece;

constexpr double kMerge_m = 0.05;
constexpr double kBucket_m = 0.25;
// Pieces farther apart than this are not in one map; it bounds the grid.
constexpr double kMostExtent_m = 1000.0;

Vec2 turned(const math::SinCos& turn, Vec2 v) { return {turn.cos * v.x - turn.sin * v.y, turn.sin * v.x + turn.cos * v.y}; }

// Cells of the merge in one number that sorts by row, then column.
std::uint64_t cell_of(Vec2 p) {
  const auto i = static_cast<std::uint32_t>(static_cast<std::int32_t>(std::floor(p.x / kMerge_m)));
  const auto j = static_cast<std::uint32_t>(static_cast<std::int32_t>(std::floor(p.y / kMerge_m)));
  return (std::uint64_t{j} << 32) | i;
}

// Two sights of one piece, each with the weight of its points.
void merge(Vec2& centre, WallPiece& wall, Vec2 other_centre, const WallPiece& other) {
  const double n = wall.points + other.points;
  const double share = other.points / n;
  centre = centre + share * (other_centre - centre);
  const Vec2 sum = (1.0 - share) * wall.normal + share * other.normal;
  wall.normal = (1.0 / norm(sum)) * sum;
  wall.scatter_m2 = (1.0 - share) * wall.scatter_m2 + share * other.scatter_m2;
  wall.angle_variance = wall.angle_variance * other.angle_variance / (wall.angle_variance + other.angle_variance);
  wall.points = n;
}

}  // namespace

WallPieces ScanReader::read(const LaserScan& scan, const localization::Twist& velocity) {
  points_.read(scan, at_frame(velocity, T_base_sensor_), settings_);
  const double to_middle_s = (localization::middle_of(scan) - scan.stamp).seconds();
  const Pose2 T_stamp_sensor = travelled(velocity, to_middle_s) * T_base_sensor_;
  const math::SinCos turn = math::sincos(T_stamp_sensor.yaw);
  WallPieces result;
  result.points.reserve(points_.points().size());
  for (const Vec2 p : points_.points().at) result.points.push_back(turned(turn, p) + T_stamp_sensor.position());
  result.centres.reserve(points_.pieces().size());
  result.walls.reserve(points_.pieces().size());
  for (std::size_t i = 0; i < points_.pieces().size(); ++i) {
    result.centres.push_back(turned(turn, points_.centres().at[i]) + T_stamp_sensor.position());
    result.walls.push_back(points_.pieces()[i]);
    result.walls.back().normal = turned(turn, result.walls.back().normal);
  }
  return result;
}

void append(WallPieces& to, const WallPieces& scan, const Pose2& T_to_scan) {
  const math::SinCos turn = math::sincos(T_to_scan.yaw);
  for (const Vec2 p : scan.points) to.points.push_back(turned(turn, p) + T_to_scan.position());
  for (std::size_t i = 0; i < scan.centres.size(); ++i) {
    to.centres.push_back(turned(turn, scan.centres[i]) + T_to_scan.position());
    to.walls.push_back(scan.walls[i]);
    to.walls.back().normal = turned(turn, scan.walls[i].normal);
  }
}

void WallMap::clear() {
  seen_.clear();
  centres_.clear();
  walls_.clear();
  first_.clear();
  order_.clear();
  width_ = height_ = 0;
}

void WallMap::add(const WallPieces& scan, const Pose2& T_map_scan) {
  const math::SinCos turn = math::sincos(T_map_scan.yaw);
  for (std::size_t i = 0; i < scan.centres.size(); ++i) {
    const Vec2 c = turned(turn, scan.centres[i]) + T_map_scan.position();
    if (std::abs(c.x) > kMostExtent_m || std::abs(c.y) > kMostExtent_m) continue;
    WallPiece wall = scan.walls[i];
    wall.normal = turned(turn, wall.normal);
    seen_.push_back({cell_of(c), c, wall});
  }
}

void WallMap::build() {
  std::stable_sort(seen_.begin(), seen_.end(), [](const Seen& a, const Seen& b) { return a.cell < b.cell; });
  centres_.clear();
  walls_.clear();
  std::size_t of_cell = 0;
  for (std::size_t k = 0; k < seen_.size(); ++k) {
    const Seen& seen = seen_[k];
    if (k == 0 || seen.cell != seen_[k - 1].cell) of_cell = centres_.size();
    std::size_t same = of_cell;
    while (same < centres_.size() && dot(walls_[same].normal, seen.wall.normal) < localization::kLeastCosine) ++same;
    if (same < centres_.size()) {
      merge(centres_[same], walls_[same], seen.centre, seen.wall);
    } else {
      centres_.push_back(seen.centre);
      walls_.push_back(seen.wall);
    }
  }
  seen_.clear();
  if (centres_.empty()) return;
  Vec2 low = centres_[0];
  Vec2 high = low;
  for (const Vec2 c : centres_) {
    low = {std::min(low.x, c.x), std::min(low.y, c.y)};
    high = {std::max(high.x, c.x), std::max(high.y, c.y)};
  }
  corner_ = low;
  width_ = static_cast<std::int64_t>((high.x - low.x) / kBucket_m) + 1;
  height_ = static_cast<std::int64_t>((high.y - low.y) / kBucket_m) + 1;
  const auto bucket = [&](Vec2 c) {
    const auto i = static_cast<std::int64_t>((c.x - corner_.x) / kBucket_m);
    const auto j = static_cast<std::int64_t>((c.y - corner_.y) / kBucket_m);
    return static_cast<std::size_t>(j * width_ + i);
  };
  first_.assign(static_cast<std::size_t>(width_ * height_) + 1, 0);
  for (const Vec2 c : centres_) ++first_[bucket(c) + 1];
  for (std::size_t b = 1; b < first_.size(); ++b) first_[b] += first_[b - 1];
  order_.resize(centres_.size());
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (std::size_t k = 0; k < centres_.size(); ++k) order_[next[bucket(centres_[k])]++] = static_cast<std::uint32_t>(k);
}

WallMap::Nearest WallMap::nearest(Vec2 point, Vec2 normal, double cutoff_m) const {
  Nearest best;
  double best2 = cutoff_m * cutoff_m;
  const auto column = [&](double x) { return static_cast<std::int64_t>(std::floor((x - corner_.x) / kBucket_m)); };
  const auto row = [&](double y) { return static_cast<std::int64_t>(std::floor((y - corner_.y) / kBucket_m)); };
  const std::int64_t left = std::max<std::int64_t>(0, column(point.x - cutoff_m));
  const std::int64_t right = std::min(width_ - 1, column(point.x + cutoff_m));
  const std::int64_t top = std::min(height_ - 1, row(point.y + cutoff_m));
  for (std::int64_t j = std::max<std::int64_t>(0, row(point.y - cutoff_m)); j <= top; ++j) {
    if (left > right) break;
    // Buckets of one row follow each other.
    const std::uint32_t end = first_[static_cast<std::size_t>(j * width_ + right) + 1];
    for (std::uint32_t k = first_[static_cast<std::size_t>(j * width_ + left)]; k < end; ++k) {
      const std::size_t i = order_[k];
      const Vec2 d = centres_[i] - point;
      const double d2 = dot(d, d);
      if (d2 < best2 && dot(walls_[i].normal, normal) >= localization::kLeastCosine) {
        best2 = d2;
        best = {i, true};
      }
    }
  }
  return best;
}

}  // namespace pitwall::slam
