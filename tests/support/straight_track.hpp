// SPDX-License-Identifier: Apache-2.0
// A straight piece of track with a map, for tests of what looks at scans and maps together: a corridor along x, a line in
// it, and scans that show its walls and other cars. Header only; for tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "controllers/line_to_follow.hpp"
#include "tests/support/toy_world.hpp"
#include "tracks/map.hpp"
#include "tracks/path.hpp"
#include "tracks/raycast.hpp"

namespace pitwall::toy {

/// Walls at y = +-width / 2 over 60 m of x, closed at both ends; the line runs along y = line_y from x = 2 to x = 58.
struct StraightTrack {
  std::shared_ptr<const tracks::OccupancyMap> map;
  controllers::LineToFollow line;

  explicit StraightTrack(double width_m = 2.2, double line_y = 0.0, double speed_mps = 4.0) {
    constexpr double kCell = 0.05;
    constexpr int kWall = 4;
    const int columns = 1200;
    const int rows = static_cast<int>(std::lround(width_m / kCell)) + 2 * kWall;
    std::vector<std::int8_t> cells(static_cast<std::size_t>(columns * rows), 0);
    for (int j = 0; j < rows; ++j) {
      for (int i = 0; i < columns; ++i) {
        if (j < kWall || j >= rows - kWall || i < kWall || i >= columns - kWall) cells[static_cast<std::size_t>(j * columns + i)] = 100;
      }
    }
    map = std::make_shared<const tracks::OccupancyMap>(
        tracks::OccupancyMap::make(columns, rows, kCell, {0.0, -0.5 * width_m - kWall * kCell, 0.0}, std::move(cells)).value());
    std::vector<Vec2> points;
    for (int i = 0; i <= 280; ++i) points.push_back({2.0 + 0.2 * i, line_y});
    line.path = std::make_shared<const tracks::Path>(tracks::Path::make(std::move(points), false).value());
    line.speed_mps.assign(line.path->size(), speed_mps);
    line.rays = std::make_shared<const tracks::RayCaster>(map);
  }

  /// The scan of a car at `T_map_base` with other cars of the same kind, and boxes of any kind, in view.
  [[nodiscard]] LaserScan look(const CarParameters& car, const Pose2& T_map_base, const std::vector<Pose2>& others,
                               const std::vector<Wall>& more = {}) const {
    Walls walls = more;
    for (const Pose2& T : others) {
      const BodyRectangle b = car.chassis();
      add_polyline(walls,
                   {T * Vec2{b.front_m, b.half_width_m}, T * Vec2{b.rear_m, b.half_width_m}, T * Vec2{b.rear_m, -b.half_width_m},
                    T * Vec2{b.front_m, -b.half_width_m}},
                   true);
    }
    const int beams = static_cast<int>(car.lidar_beams);
    LaserScan scan = toy::look(car, walls, T_map_base, beams);
    const Pose2 T_map_lidar = T_map_base * car.lidar_mount();
    for (int i = 0; i < beams; ++i) {
      const double angle = T_map_lidar.yaw + (i - 0.5 * (beams - 1)) * (car.lidar_fov_rad / (beams - 1));
      float& range = scan.ranges[static_cast<std::size_t>(i)];
      range = std::min(range, static_cast<float>(line.rays->cast(T_map_lidar.position(), unit_vector(angle), car.lidar_range_max_m)));
    }
    return scan;
  }
};

/// base_link of a car whose centre is at that point, heading along x.
inline Pose2 centred_at(const CarParameters& car, double x, double y) { return {x - 0.5 * car.wheelbase_m, y, 0.0}; }

}  // namespace pitwall::toy
