// SPDX-License-Identifier: Apache-2.0
// Whether a pose graph and its trajectory are as good as golden ones: figures, not bytes, since closures and optimisers may
// differ where the result is as good. Closures are checked both ways: too few (lost) and too many (false) both fail; so
// does a path of another length.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/fields.hpp"
#include "recording/pose_graph.hpp"

namespace pitwall::recording {

struct GraphSummary {
  std::int64_t nodes = 0;  ///< landmarks not counted
  std::int64_t global_closures = 0;
  std::int64_t local_closures = 0;
  double path_length_m = 0.0;  ///< over the nodes by id
};
GraphSummary summarize(const PoseGraph& graph);

struct TrajectoryError {
  std::int64_t pairs = 0;  ///< stamps at which both have a pose
  double rmse_m = 0.0;
  double rmse_deg = 0.0;
  double max_m = 0.0;
};

/// Root-mean-square errors at the stamps of `trajectory`, against `reference` interpolated there (gaps of at most 0.5 s). With
/// `align`, after the best rotation about z and translation in the plane (closed form, no scale).
TrajectoryError trajectory_error(std::span<const StampedPose> trajectory, std::span<const StampedPose> reference, bool align);

/// What is kept of a map: its content, and how sharp it is.
struct MapFacts {
  std::string hash;  ///< of size, resolution, origin and cells
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::int64_t crispness_cells = 0;  ///< cells of 5 cm into which the ends of the beams fall: fewer is sharper
  void fields(FieldVisitor& f);
  bool operator==(const MapFacts&) const = default;
};

/// How far a result may be from its golden one.
struct GoldenTolerances {
  double node_share = 0.05;        ///< |nodes - golden| in golden
  double closure_share = 0.2;      ///< closures lost or added, in golden, ...
  std::int64_t closure_slack = 2;  ///< ... or this many, whichever is more
  bool compare_closures = true;
  double closure_radius_m = 1.0;  ///< ends of a closure this near are the same place
  double path_share = 0.02;       ///< |path length - golden| in golden
  double rmse_m = 0.1;            ///< aligned
  double rmse_deg = 2.0;          ///< aligned
  double rmse_unaligned_m = 0.0;  ///< not aligned; 0: not compared, since the frame is arbitrary
  double crispness_share = 0.02;  ///< |cells - golden| in golden, of a map
  bool same_map = true;           ///< a map is the golden one, cell by cell
  void fields(FieldVisitor& f);
};

struct GoldenCheck {
  std::string name;
  double value = 0.0;
  double golden = 0.0;
  double allowed = 0.0;
  bool passed = false;
};

/// A result or a golden one.
struct Mapping {
  PoseGraph graph;
  std::vector<StampedPose> trajectory;
  std::optional<MapFacts> map{};  ///< where a map was made
};

/// All checks, in a fixed order.
std::vector<GoldenCheck> compare(const Mapping& result, const Mapping& golden, const GoldenTolerances& tolerances);

/// Closures of `graph` (global and local together) that have no counterpart in `other`: one whose ends lie within the
/// radius of its ends, either way round. Ends are compared after `T_other_graph`.
std::int64_t closures_without_counterpart(const PoseGraph& graph, const PoseGraph& other, const Pose2& T_other_graph, double radius_m);

}  // namespace pitwall::recording
