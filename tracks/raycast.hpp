// SPDX-License-Identifier: Apache-2.0
// Exact ray casting on cell squares: a ray ends on the first edge of a blocked cell that it meets, found in double
// precision, so that nothing is passed and nothing is invented. Between walls the walk leaps over boxes of free cells.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/geometry.hpp"
#include "tracks/map.hpp"

namespace pitwall::tracks {

/// The beams of a scanner, as unit vectors in the sensor frame: beam i points at exactly
/// angle_min + i * (fov / (count - 1)), first and last included.
struct BeamFan {
  BeamFan(double angle_min_rad, double angle_max_rad, int count);
  double angle_min_rad;
  double angle_increment_rad;
  std::vector<Vec2> directions;
};

/// Casts rays on one map. Immutable after construction; share it between cars and runs.
class RayCaster {
 public:
  explicit RayCaster(std::shared_ptr<const OccupancyMap> map);

  [[nodiscard]] const OccupancyMap& map() const { return *map_; }

  /// Distance in metres from `origin_map` along the unit vector `direction_map` to the first blocked cell square; 0 from
  /// within a blocked cell; +inf where the ray leaves the map or `max_range_m` first.
  [[nodiscard]] double cast(Vec2 origin_map, Vec2 direction_map, double max_range_m) const;

  /// cast() for every `stride`-th beam of the fan seen from `T_map_sensor`; out[i] belongs to beam i * stride.
  void cast_fan(const Pose2& T_map_sensor, const BeamFan& fan, double max_range_m, std::span<double> out, int stride = 1) const;

 private:
  std::shared_ptr<const OccupancyMap> map_;
  std::vector<std::uint8_t> leap_;  // chessboard distance to the nearest blocked cell, in cells, at most 255
};

}  // namespace pitwall::tracks
