// SPDX-License-Identifier: Apache-2.0
// What front end and closures work on: the graph, and what its nodes saw.
#pragma once

#include <cstddef>
#include <vector>

#include "core/geometry.hpp"
#include "localization/slam/graph.hpp"
#include "localization/slam/slam.hpp"
#include "localization/slam/wall_map.hpp"

namespace pitwall::slam {

struct Survey {
  Graph graph;
  std::vector<Node> nodes;
  std::vector<WallPieces> walls;  ///< of each node, in the frame of base_link at its stamp
  std::vector<double> way_m;      ///< of each node: driven up to it, by odometry
};

/// Adds what nodes first .. last (both included) saw to `map`, in the frame of T_map_frame; their points to `points` unless null.
inline void gather(const Survey& survey, std::size_t first, std::size_t last, const Pose2& T_frame_map, WallMap& map,
                   std::vector<Vec2>* points) {
  for (std::size_t k = first; k <= last; ++k) {
    const Pose2 T = T_frame_map * survey.graph.poses[k];
    map.add(survey.walls[k], T);
    if (points == nullptr) continue;
    const math::SinCos turn = math::sincos(T.yaw);
    for (const Vec2 p : survey.walls[k].points) {
      points->push_back(Vec2{turn.cos * p.x - turn.sin * p.y, turn.sin * p.x + turn.cos * p.y} + T.position());
    }
  }
}

/// A covariance or information of (x, y, yaw) given in the axes of the frame that `yaw_rad` is measured in, in those of the turned one.
inline Matrix3 in_turned_axes(const Matrix3& m, double yaw_rad) {
  const auto [s, c] = math::sincos(yaw_rad);
  return sandwich(Matrix3{{c, s, 0.0, -s, c, 0.0, 0.0, 0.0, 1.0}}, m);
}

/// diag(sigma_m^2, sigma_m^2, sigma_rad^2).
inline Matrix3 round_covariance(double sigma_m, double sigma_rad) {
  return localization::diagonal<3>({sigma_m * sigma_m, sigma_m * sigma_m, sigma_rad * sigma_rad});
}

}  // namespace pitwall::slam
