// SPDX-License-Identifier: Apache-2.0
#include "localization/slam/map_builder.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace pitwall::slam {

namespace {

constexpr std::int64_t kMostMapCells = std::int64_t{1} << 28;
constexpr std::int64_t kGhostHits = 3;

// One beam in the map frame.
struct Beam {
  Vec2 from;
  Vec2 to;
  bool hit = false;
};

// Calls take(beam) for every beam that says something.
template <class Take>
void each_beam(const PlacedScan& placed, const Pose2& T_base_sensor, const MapParameters& parameters, Take&& take) {
  const LaserScan& scan = *placed.scan;
  const double step_s = std::isfinite(scan.time_increment) ? static_cast<double>(scan.time_increment) : 0.0;
  const double least = std::max(0.0, static_cast<double>(scan.range_min));
  for (std::size_t i = 0; i < scan.ranges.size(); ++i) {
    const double range = scan.ranges[i];
    const bool valid = range > 0.0 && range >= least && range < scan.range_max;
    const bool infinite = parameters.clear_infinite && range > 0.0 && std::isinf(range);
    if (!valid && !infinite) continue;
    const double clear_m = std::min(parameters.max_range_m, static_cast<double>(scan.range_max));
    const Pose2 T = placed.T_map_base * travelled(placed.velocity, step_s * static_cast<double>(i)) * T_base_sensor;
    const double angle = static_cast<double>(scan.angle_min) + static_cast<double>(i) * static_cast<double>(scan.angle_increment);
    const double length = valid ? std::min(range, parameters.max_range_m) : clear_m;
    take(Beam{T.position(), T * (length * unit_vector(angle)), valid && range <= parameters.max_range_m});
  }
}

// Cells of a map that grows no more.
class Counts {
 public:
  Counts(Vec2 low, Vec2 high, const MapParameters& p) : resolution_(p.resolution_m) {
    const auto whole = [&](double x) { return static_cast<std::int64_t>(std::floor(x / resolution_)); };
    left_ = whole(low.x) - p.pad_cells;
    bottom_ = whole(low.y) - p.pad_cells;
    width_ = whole(high.x) + p.pad_cells + 1 - left_;
    height_ = whole(high.y) + p.pad_cells + 1 - bottom_;
  }
  [[nodiscard]] std::int64_t cells() const { return width_ * height_; }
  [[nodiscard]] std::int64_t width() const { return width_; }
  [[nodiscard]] std::int64_t height() const { return height_; }
  [[nodiscard]] Pose2 origin() const { return {static_cast<double>(left_) * resolution_, static_cast<double>(bottom_) * resolution_, 0.0}; }
  void allocate() {
    passes_.assign(static_cast<std::size_t>(cells()), 0);
    hits_.assign(static_cast<std::size_t>(cells()), 0);
  }
  [[nodiscard]] std::int64_t passes(std::size_t k) const { return passes_[k]; }
  [[nodiscard]] std::int64_t hits(std::size_t k) const { return hits_[k]; }

  // Every cell that the beam goes through (Amanatides and Woo, 1987); the last one is hit, or not counted where the beam only ends.
  void trace(const Beam& beam) {
    const Vec2 a{beam.from.x / resolution_ - static_cast<double>(left_), beam.from.y / resolution_ - static_cast<double>(bottom_)};
    const Vec2 b{beam.to.x / resolution_ - static_cast<double>(left_), beam.to.y / resolution_ - static_cast<double>(bottom_)};
    std::int64_t i = static_cast<std::int64_t>(std::floor(a.x));
    std::int64_t j = static_cast<std::int64_t>(std::floor(a.y));
    const std::int64_t end_i = static_cast<std::int64_t>(std::floor(b.x));
    const std::int64_t end_j = static_cast<std::int64_t>(std::floor(b.y));
    const Vec2 d = b - a;
    const std::int64_t step_i = d.x > 0.0 ? 1 : -1;
    const std::int64_t step_j = d.y > 0.0 ? 1 : -1;
    const double per_i = d.x != 0.0 ? 1.0 / std::abs(d.x) : 1e300;
    const double per_j = d.y != 0.0 ? 1.0 / std::abs(d.y) : 1e300;
    double next_i = d.x != 0.0 ? (d.x > 0.0 ? static_cast<double>(i) + 1.0 - a.x : a.x - static_cast<double>(i)) * per_i : 1e300;
    double next_j = d.y != 0.0 ? (d.y > 0.0 ? static_cast<double>(j) + 1.0 - a.y : a.y - static_cast<double>(j)) * per_j : 1e300;
    const std::int64_t steps = std::abs(end_i - i) + std::abs(end_j - j);
    for (std::int64_t k = 0; k < steps; ++k) {
      ++passes_[index(i, j)];
      if (j == end_j || (i != end_i && next_i < next_j)) {
        i += step_i;
        next_i += per_i;
      } else {
        j += step_j;
        next_j += per_j;
      }
    }
    if (!beam.hit) return;
    ++passes_[index(i, j)];
    ++hits_[index(i, j)];
  }

 private:
  [[nodiscard]] std::size_t index(std::int64_t i, std::int64_t j) const { return static_cast<std::size_t>(j * width_ + i); }
  double resolution_;
  std::int64_t left_ = 0;
  std::int64_t bottom_ = 0;
  std::int64_t width_ = 0;
  std::int64_t height_ = 0;
  std::vector<std::int32_t> passes_;
  std::vector<std::int32_t> hits_;
};

}  // namespace

void MapParameters::fields(FieldVisitor& f) {
  f.number("resolution_m", resolution_m, {"m", 0.005, 0.5, "size of a cell"});
  f.number("max_range_m", max_range_m, {"m", 0.1, 200, "beams are followed this far"});
  f.number("occupied_share", occupied_share, {"", 0.001, 1, "of hits among passes: a cell with as much is occupied"});
  f.integer("min_passes", min_passes, {"", 1, 1000, "cells with fewer are unknown"});
  f.integer("pad_cells", pad_cells, {"", 1, 1000, "around everything that was seen"});
  f.flag("clear_infinite", clear_infinite, "beams of +inf are free up to max_range_m or the range of the sensor");
}

Result<BuiltMap> build_map(std::span<const PlacedScan> scans, const Pose2& T_base_sensor, const MapParameters& parameters) {
  bool any = false;
  Vec2 low;
  Vec2 high;
  const auto cover = [&](Vec2 p) {
    low = any ? Vec2{std::min(low.x, p.x), std::min(low.y, p.y)} : p;
    high = any ? Vec2{std::max(high.x, p.x), std::max(high.y, p.y)} : p;
    any = true;
  };
  for (const PlacedScan& placed : scans) {
    each_beam(placed, T_base_sensor, parameters, [&](const Beam& beam) {
      cover(beam.from);
      cover(beam.to);
    });
  }
  if (!any) return Error{"map: none of " + std::to_string(scans.size()) + " scans has a beam that measured something"};
  Counts counts(low, high, parameters);
  if (counts.cells() > kMostMapCells) {
    return Error{"map of " + std::to_string(counts.width()) + " x " + std::to_string(counts.height()) + " cells: more than 2^28 cells"};
  }
  counts.allocate();
  for (const PlacedScan& placed : scans) {
    each_beam(placed, T_base_sensor, parameters, [&](const Beam& beam) { counts.trace(beam); });
  }
  std::vector<std::int8_t> values(static_cast<std::size_t>(counts.cells()), tracks::OccupancyMap::kUnknown);
  std::int64_t ghosts = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (counts.passes(k) < parameters.min_passes) continue;
    const bool occupied = static_cast<double>(counts.hits(k)) >= parameters.occupied_share * static_cast<double>(counts.passes(k));
    values[k] = occupied ? 100 : 0;
    if (!occupied && counts.hits(k) >= kGhostHits) ++ghosts;
  }
  Result<tracks::OccupancyMap> map = tracks::OccupancyMap::make(static_cast<int>(counts.width()), static_cast<int>(counts.height()),
                                                                parameters.resolution_m, counts.origin(), std::move(values));
  if (!map) return map.error();
  return BuiltMap{std::move(*map), ghosts};
}

}  // namespace pitwall::slam
