// SPDX-License-Identifier: Apache-2.0
// Sphere tracing in a distance field with binned headings, as f1tenth_gym and its kin do it (the method, not their code):
// the distance of a cell is that of its centre to the nearest blocked cell's centre, looked up without interpolation;
// beam directions are those of 2000 headings a turn, taken below; a ray ends where the distance falls below 1e-4. In float.
// Written as fast as that allows: directions in a table, one division per fan and none per beam, no square root.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "bench/reference/distance_transform.hpp"
#include "core/math.hpp"
#include "tracks/map.hpp"

namespace pitwall::bench {

class SphereTracer {
 public:
  static constexpr int kHeadings = 2000;

  explicit SphereTracer(const tracks::OccupancyMap& map)
      : map_(map), width_(map.width()), height_(map.height()), field_(distance_transform(map)) {
    for (int k = 0; k < kHeadings; ++k) {
      const math::SinCos heading = math::sincos(2.0 * math::kPi * k / kHeadings);
      x_.push_back(static_cast<float>(heading.cos));
      y_.push_back(static_cast<float>(heading.sin));
    }
  }

  /// Ranges in m of `beams` beams from `first_rad` (in the map frame) on; `max_range_m` where there is none.
  void fan(const Pose2& sensor, double first_rad, double increment_rad, std::size_t beams, double max_range_m, double* out) const {
    const Vec2 origin = map_.to_grid(sensor.position());
    const double per_rad = kHeadings / (2.0 * math::kPi);
    double heading = std::fmod(map_.to_grid_yaw(first_rad) * per_rad, kHeadings);
    if (heading < 0.0) heading += kHeadings;
    const auto resolution = static_cast<float>(map_.resolution_m());
    const float limit = static_cast<float>(max_range_m) / resolution;
    for (std::size_t b = 0; b < beams; ++b) {
      const auto bin = static_cast<std::size_t>(heading) % kHeadings;
      out[b] = static_cast<double>(resolution * trace(static_cast<float>(origin.x), static_cast<float>(origin.y), x_[bin], y_[bin], limit));
      heading += increment_rad * per_rad;
      if (heading >= kHeadings) heading -= kHeadings;
    }
  }

 private:
  [[nodiscard]] float trace(float x, float y, float along_x, float along_y, float limit) const {
    float total = 0.0F;
    for (;;) {
      const int i = static_cast<int>(x);
      const int j = static_cast<int>(y);
      if (x < 0.0F || y < 0.0F || i >= width_ || j >= height_) return limit;
      const float distance = field_[static_cast<std::size_t>(j) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(i)];
      if (distance < 1e-4F) return total;
      total += distance;
      if (total > limit) return limit;
      x += distance * along_x;
      y += distance * along_y;
    }
  }

  const tracks::OccupancyMap& map_;
  int width_;
  int height_;
  std::vector<float> field_;
  std::vector<float> x_;
  std::vector<float> y_;
};

}  // namespace pitwall::bench
