// SPDX-License-Identifier: Apache-2.0
// Where a scan lies on pieces of wall that are known already, with a prior. The most probable motion
//
//   least  sum of w (residual)^2 / (2 s^2) + (x - prior)^T P^-1 (x - prior),   x = (x, y, yaw)
//
// by Gauss-Newton over nearest pairs; residuals, weights and what the noise of normals fakes are as in scan_matcher.hpp. A direction that
// the walls do not tell is filled by the prior, in proportion to what either knows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/fields.hpp"
#include "core/geometry.hpp"
#include "localization/slam/wall_map.hpp"
#include "localization/small_matrix.hpp"

namespace pitwall::slam {

using localization::Matrix3;

struct RegistrationParameters {
  double max_range_m = 30.0;    ///< farther beams are left out
  double half_window_m = 0.2;   ///< points within this of a point make its piece of wall
  double least_extent_m = 0.3;  ///< what is smaller, with gaps on both sides, is no wall
  double max_scatter_m = 0.05;  ///< points that stray farther from a line are no wall
  std::int64_t max_rounds = 20;
  double pair_distance_m = 0.5;  ///< nothing farther is a pair, in the first round; shrinks by pair_distance_factor to the least
  double pair_distance_factor = 0.8;
  double pair_distance_least_m = 0.15;
  double robust_scale_m = 0.05;      ///< residual at which a pair counts half
  double min_share = 0.4;            ///< of the pieces must find a pair
  double sure_share = 0.75;          ///< with fewer, the window around the prediction is searched as well
  std::int64_t max_pieces = 400;     ///< of the scan that are used, evenly
  double odometry_share = 0.05;      ///< standard deviation of the prediction: of the way, ...
  double odometry_least_m = 0.1;     ///< ... and at least
  double odometry_yaw_share = 0.2;   ///< ... of the turn, ...
  double odometry_yaw_per_m = 0.05;  ///< ... and in rad per m of way
  double odometry_yaw_least_rad = 0.02;
  double match_least_m = 0.01;  ///< what a registration is at most believed to know
  double match_least_rad = 0.003;
  void fields(FieldVisitor& f);
};

struct Registration {
  bool usable = false;  ///< enough pairs, settled
  Pose2 T_map_scan;
  Matrix3 information;      ///< of the walls alone, in the axes of the map: x, y, yaw; may be singular
  Matrix3 covariance;       ///< with the prior
  double prior_chi2 = 0.0;  ///< of the result under the prior
  double pair_share = 0.0;  ///< of the pieces that have a pair
  double median_m = 0.0;    ///< residual
  int unobservable = 3;     ///< directions that the walls do not tell
  std::size_t pairs = 0;
  int rounds = 0;
};

/// What odometry says about where the scan is, and how sure it is.
struct Prior {
  Pose2 T_map_scan;
  Matrix3 information;
};

/// Registers the pieces of a scan from `start`.
Registration register_walls(const WallMap& map, const WallPieces& scan, const Prior& prior, const Pose2& start,
                            const RegistrationParameters& parameters);

}  // namespace pitwall::slam
