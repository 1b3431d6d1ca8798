// SPDX-License-Identifier: Apache-2.0
// Where a new node is, by its walls against those of the nodes before it, from the pose that odometry predicts.
#pragma once

#include "core/geometry.hpp"
#include "localization/slam/registration.hpp"
#include "localization/slam/slam.hpp"
#include "localization/slam/survey.hpp"

namespace pitwall::slam {

struct FrontEndResult {
  Placement placement = Placement::kOdometry;
  Pose2 T_map_base;
  Matrix3 covariance;  ///< of it against the last node, in the axes of the map
  bool degenerate = false;
};

/// Places the node whose walls are given; `motion` is what odometry has since the last node.
FrontEndResult place_node(const Survey& survey, const WallPieces& walls, const Pose2& motion, const SlamParameters& parameters);

}  // namespace pitwall::slam
