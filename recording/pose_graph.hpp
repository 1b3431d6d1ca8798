// SPDX-License-Identifier: Apache-2.0
// Pose graphs (g2o text, as slam_toolbox, SE-Sync and rtabmap write it) and trajectories (TUM text). A graph may be planar
// (VERTEX_SE2) or spatial (VERTEX_SE3:QUAT); both are kept as they are and written back so.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/geometry.hpp"
#include "core/result.hpp"
#include "core/time.hpp"

namespace pitwall::recording {

/// A pose in space: position in m, unit quaternion.
struct Pose3 {
  double x = 0.0;
  double y = 0.0;
  double z = 0.0;
  double qx = 0.0;
  double qy = 0.0;
  double qz = 0.0;
  double qw = 1.0;
  bool operator==(const Pose3&) const = default;
  /// Its shadow on the ground: the heading of the x axis.
  [[nodiscard]] Pose2 planar() const;
  static Pose3 of(const Pose2& pose);
};

/// Kinds of links as rtabmap numbers them in the extra last column of an edge; without that column a link is kNeighbour.
enum class Link : int { kNeighbour = 0, kGlobalClosure = 1, kLocalClosureInSpace = 2, kLocalClosureInTime = 3, kLandmark = 8 };

struct GraphNode {
  std::int64_t id = 0;
  Pose3 pose;
};

struct GraphEdge {
  std::int64_t from = 0;
  std::int64_t to = 0;  ///< an edge may name a node that is not in the graph (a landmark that was merged)
  Pose3 T_from_to;
  std::vector<double> information;  ///< upper triangle, row by row: 6 of a planar edge, 21 of a spatial one
  int link = 0;                     ///< of Link, or another number
  [[nodiscard]] bool is_global_closure() const { return link == static_cast<int>(Link::kGlobalClosure); }
  [[nodiscard]] bool is_local_closure() const {
    return link == static_cast<int>(Link::kLocalClosureInSpace) || link == static_cast<int>(Link::kLocalClosureInTime);
  }
};

struct PoseGraph {
  bool planar = true;
  bool has_links = false;            ///< the edges have the extra column
  std::vector<GraphNode> nodes;      ///< by id
  std::vector<GraphNode> landmarks;  ///< VERTEX_XY, by id
  std::vector<GraphEdge> edges;      ///< in the order of the file
  [[nodiscard]] const GraphNode* find(std::int64_t id) const;
};

/// Reads g2o text; lines of PARAMS_*, FIX, EDGE_SE2_XY and comments are stepped over. Errors name file and line: an unknown tag, a
/// number that is none, planar and spatial mixed, a node given twice.
Result<PoseGraph> parse_g2o(std::string_view text, const std::string& name);
/// The graph as g2o text; numbers read back to the same bits (the angle of a planar pose to 15 digits).
std::string to_g2o(const PoseGraph& graph);

struct StampedPose {
  Time stamp;
  Pose3 pose;
};

/// Reads TUM text: `stamp x y z qx qy qz qw`, # comments. Errors name file and line; stamps must rise.
Result<std::vector<StampedPose>> parse_tum(std::string_view text, const std::string& name);
/// Stamps with nine decimals; numbers read back to the same bits.
std::string to_tum(std::span<const StampedPose> trajectory);

/// The pose at a time between two stamps: linear, and slerp on the shorter way.
Pose3 interpolate(const StampedPose& before, const StampedPose& after, Time at);

}  // namespace pitwall::recording
