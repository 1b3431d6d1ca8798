// SPDX-License-Identifier: Apache-2.0
#include "localization/localizer/signed_field.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tracks/distance_field.hpp"

namespace pitwall::localization {
namespace {

tracks::OccupancyMap inverted(const tracks::OccupancyMap& map) {
  std::vector<std::int8_t> values;
  values.reserve(map.blocked_cells().size());
  for (const std::uint8_t blocked : map.blocked_cells()) values.push_back(blocked != 0 ? std::int8_t{0} : std::int8_t{100});
  return *tracks::OccupancyMap::make(map.width(), map.height(), map.resolution_m(), map.origin(), std::move(values));
}

/// Mean of each value and its neighbours along a line of cells that are `step` apart.
void average(std::vector<float>& values, std::size_t first, std::size_t count, std::size_t step) {
  float before = values[first];
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t here = first + k * step;
    const float value = values[here];
    const float after = k + 1 < count ? values[here + step] : value;
    values[here] = (before + value + after) / 3.0F;
    before = value;
  }
}

}  // namespace

SignedField::SignedField(const tracks::OccupancyMap& map, double reach_m)
    : width_(map.width()),
      height_(map.height()),
      resolution_m_(map.resolution_m()),
      reach_m_(reach_m),
      origin_(map.origin().position()),
      axis_x_(unit_vector(map.origin().yaw)) {
  const tracks::DistanceField to_walls(map);
  const tracks::DistanceField to_floor(inverted(map));
  // The face is half a cell before the centre of the first cell of a wall.
  const double face = 0.5 * resolution_m_;
  values_m_.reserve(map.blocked_cells().size());
  for (int j = 0; j < height_; ++j) {
    for (int i = 0; i < width_; ++i) {
      const double away = map.blocked(i, j) ? face - to_floor.centre_distance_m(i, j, reach_m + face)
                                            : to_walls.centre_distance_m(i, j, reach_m + face) - face;
      values_m_.push_back(static_cast<float>(away));
    }
  }
  const auto width = static_cast<std::size_t>(width_);
  const auto height = static_cast<std::size_t>(height_);
  for (std::size_t j = 0; j < height; ++j) average(values_m_, j * width, width, 1);
  for (std::size_t i = 0; i < width; ++i) average(values_m_, i, height, width);
}

SignedDistance SignedField::at(Vec2 p_map) const {
  const Vec2 from_origin = p_map - origin_;
  const double x = dot(axis_x_, from_origin) / resolution_m_ - 0.5;
  const double y = cross(axis_x_, from_origin) / resolution_m_ - 0.5;
  // Written so that NaN is outside.
  if (!(x >= 0.0 && y >= 0.0 && x < width_ - 1 && y < height_ - 1)) return {reach_m_, {}};
  const int i = static_cast<int>(x);
  const int j = static_cast<int>(y);
  const double u = x - i;
  const double v = y - j;
  const float* row = values_m_.data() + static_cast<std::size_t>(j) * static_cast<std::size_t>(width_) + i;
  const double a = row[0];
  const double b = row[1];
  const double c = row[width_];
  const double d = row[width_ + 1];
  const double low = a + u * (b - a);
  const double high = c + u * (d - c);
  const double along_x = ((1.0 - v) * (b - a) + v * (d - c)) / resolution_m_;
  const double along_y = (high - low) / resolution_m_;
  return {low + v * (high - low), along_x * axis_x_ + along_y * perpendicular(axis_x_)};
}

}  // namespace pitwall::localization
