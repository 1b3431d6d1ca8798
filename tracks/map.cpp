// SPDX-License-Identifier: Apache-2.0
#include "tracks/map.hpp"

#include <cmath>
#include <utility>

#include "core/hash.hpp"
#include "core/math.hpp"
#include "core/text.hpp"

namespace pitwall::tracks {
namespace {

constexpr std::size_t kMaxCells = std::size_t{1} << 28;
constexpr double kMinResolution = 1e-4;
constexpr double kMaxResolution = 100.0;
constexpr std::int8_t kBlockedFrom = 50;

}  // namespace

Result<OccupancyMap> OccupancyMap::make(int width, int height, double resolution_m, const Pose2& origin, std::vector<std::int8_t> values) {
  if (width <= 0 || height <= 0) return Error{"map of " + std::to_string(width) + " x " + std::to_string(height) + " cells: empty"};
  const std::size_t cells = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  if (cells > kMaxCells) {
    return Error{"map of " + std::to_string(width) + " x " + std::to_string(height) + " cells: more than 2^28 cells"};
  }
  if (values.size() != cells) {
    return Error{"map of " + std::to_string(width) + " x " + std::to_string(height) + " cells: " + std::to_string(values.size()) +
                 " values given"};
  }
  // Written so that NaN fails too.
  if (!(resolution_m >= kMinResolution && resolution_m <= kMaxResolution)) {
    return Error{"resolution = " + format_exact(resolution_m) + ": must be 0.0001 .. 100 m"};
  }
  if (!std::isfinite(origin.x) || !std::isfinite(origin.y) || !std::isfinite(origin.yaw)) {
    return Error{"origin = [" + format_exact(origin.x) + ", " + format_exact(origin.y) + ", " + format_exact(origin.yaw) +
                 "]: must be finite"};
  }
  OccupancyMap map;
  map.width_ = width;
  map.height_ = height;
  map.resolution_m_ = resolution_m;
  map.origin_ = origin;
  const math::SinCos turn = math::sincos(origin.yaw);
  map.cos_yaw_ = turn.cos;
  map.sin_yaw_ = turn.sin;
  map.blocked_.resize(cells);
  for (std::size_t i = 0; i < cells; ++i) {
    const std::int8_t value = values[i];
    if (value < kUnknown || value > 100) {
      return Error{"map value " + std::to_string(value) + ": must be 0 .. 100, or -1 for unknown"};
    }
    map.blocked_[i] = value == kUnknown || value >= kBlockedFrom ? 1 : 0;
  }
  map.values_ = std::move(values);
  return map;
}

Vec2 OccupancyMap::to_grid(Vec2 p_map) const {
  const Vec2 d{p_map.x - origin_.x, p_map.y - origin_.y};
  return {(cos_yaw_ * d.x + sin_yaw_ * d.y) / resolution_m_, (cos_yaw_ * d.y - sin_yaw_ * d.x) / resolution_m_};
}

Vec2 OccupancyMap::to_map(Vec2 p_grid) const {
  const Vec2 d = resolution_m_ * p_grid;
  return {origin_.x + (cos_yaw_ * d.x - sin_yaw_ * d.y), origin_.y + (sin_yaw_ * d.x + cos_yaw_ * d.y)};
}

std::uint64_t OccupancyMap::content_hash() const {
  Hash hash;
  hash.add(static_cast<std::int64_t>(width_));
  hash.add(static_cast<std::int64_t>(height_));
  hash.add(resolution_m_);
  hash.add(origin_.x);
  hash.add(origin_.y);
  hash.add(origin_.yaw);
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    word |= std::uint64_t{static_cast<std::uint8_t>(values_[i])} << (8 * (i % 8));
    if (i % 8 == 7 || i + 1 == values_.size()) {
      hash.add(word);
      word = 0;
    }
  }
  return hash.value();
}

}  // namespace pitwall::tracks
