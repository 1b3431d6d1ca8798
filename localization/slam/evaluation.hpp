// SPDX-License-Identifier: Apache-2.0
// How good poses are against reference ones of the same scans, and how sharp the map is that they make.
#pragma once

#include <cstddef>
#include <span>

#include "core/geometry.hpp"
#include "core/messages.hpp"

namespace pitwall::slam {

/// Error of relative poses, each reference_ij^-1 * estimated_ij: translation and heading apart (Kuemmerle et al., "On measuring the
/// accuracy of SLAM algorithms", Autonomous Robots 27, 2009).
struct RelationErrors {
  std::size_t count = 0;
  double mean_m = 0.0;
  double sd_m = 0.0;
  double max_m = 0.0;
  double mean_deg = 0.0;
  double sd_deg = 0.0;
};

struct Evaluation {
  RelationErrors steps;     ///< between successive poses
  RelationErrors loops;     ///< between poses less than 3 m apart, and more than 20 scans
  double ate_rmse_m = 0.0;  ///< of positions, after the best rigid alignment
  double ate_max_m = 0.0;
};

/// `estimated` and `reference` are poses of the same scans, in their order.
Evaluation evaluate(std::span<const Pose2> estimated, std::span<const Pose2> reference);

/// How many cells of 5 cm the ends of the beams fall into: fewer is sharper. Blind to a warp of the whole.
std::size_t crispness_cells(std::span<const LaserScan> scans, std::span<const Pose2> T_map_sensor, double max_range_m);

}  // namespace pitwall::slam
