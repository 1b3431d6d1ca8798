// SPDX-License-Identifier: Apache-2.0
#include "recording/graph_comparison.hpp"

#include <algorithm>
#include <cmath>

#include "core/math.hpp"

namespace pitwall::recording {
namespace {

constexpr Duration kLargestPoseGap{500'000'000};

struct Pair {
  Pose3 pose;
  Pose3 reference;
};

std::vector<Pair> paired(std::span<const StampedPose> trajectory, std::span<const StampedPose> reference) {
  std::vector<Pair> pairs;
  for (const StampedPose& each : trajectory) {
    const auto after = std::lower_bound(reference.begin(), reference.end(), each.stamp,
                                        [](const StampedPose& pose, Time stamp) { return pose.stamp < stamp; });
    if (after == reference.end()) continue;
    if (after->stamp == each.stamp) {
      pairs.push_back({each.pose, after->pose});
    } else if (after != reference.begin() && after->stamp - (after - 1)->stamp <= kLargestPoseGap) {
      pairs.push_back({each.pose, interpolate(*(after - 1), *after, each.stamp)});
    }
  }
  return pairs;
}

/// The transform in the plane that brings the poses nearest to the references, by position.
Pose2 alignment(const std::vector<Pair>& pairs) {
  if (pairs.empty()) return {};
  const double n = static_cast<double>(pairs.size());
  Vec2 from;
  Vec2 to;
  for (const Pair& pair : pairs) {
    from = from + (1.0 / n) * Vec2{pair.pose.x, pair.pose.y};
    to = to + (1.0 / n) * Vec2{pair.reference.x, pair.reference.y};
  }
  double sin = 0.0;
  double cos = 0.0;
  for (const Pair& pair : pairs) {
    const Vec2 a = Vec2{pair.pose.x, pair.pose.y} - from;
    const Vec2 b = Vec2{pair.reference.x, pair.reference.y} - to;
    sin += cross(a, b);
    cos += dot(a, b);
  }
  const double yaw = sin == 0.0 && cos == 0.0 ? 0.0 : math::atan2(sin, cos);
  const Vec2 moved = to - rotate(yaw, from);
  return {moved.x, moved.y, yaw};
}

/// The angle between two orientations in [0, pi], the first turned by `yaw` about z before.
double angle_between(const Pose3& a, double yaw, const Pose3& b) {
  const auto [s, c] = math::sincos(0.5 * yaw);
  // (0, 0, s, c) times a.
  const Pose3 turned{0, 0, 0, c * a.qx - s * a.qy, c * a.qy + s * a.qx, c * a.qz + s * a.qw, c * a.qw - s * a.qz};
  const double dot = turned.qx * b.qx + turned.qy * b.qy + turned.qz * b.qz + turned.qw * b.qw;
  // The vector part of the difference: exact for small angles, where acos is not.
  const double x = turned.qw * b.qx - turned.qx * b.qw - turned.qy * b.qz + turned.qz * b.qy;
  const double y = turned.qw * b.qy - turned.qy * b.qw - turned.qz * b.qx + turned.qx * b.qz;
  const double z = turned.qw * b.qz - turned.qz * b.qw - turned.qx * b.qy + turned.qy * b.qx;
  return 2.0 * math::atan2(std::sqrt(x * x + y * y + z * z), std::fabs(dot));
}

TrajectoryError error_of(const std::vector<Pair>& pairs, const Pose2& T) {
  TrajectoryError error;
  error.pairs = static_cast<std::int64_t>(pairs.size());
  double squares_m = 0.0;
  double squares_rad = 0.0;
  for (const Pair& pair : pairs) {
    const Vec2 at = T * Vec2{pair.pose.x, pair.pose.y};
    const double dx = at.x - pair.reference.x;
    const double dy = at.y - pair.reference.y;
    const double dz = pair.pose.z - pair.reference.z;
    const double distance = dx * dx + dy * dy + dz * dz;
    squares_m += distance;
    error.max_m = std::max(error.max_m, std::sqrt(distance));
    const double angle = angle_between(pair.pose, T.yaw, pair.reference);
    squares_rad += angle * angle;
  }
  if (!pairs.empty()) {
    const double n = static_cast<double>(pairs.size());
    error.rmse_m = std::sqrt(squares_m / n);
    error.rmse_deg = std::sqrt(squares_rad / n) * 180.0 / math::kPi;
  }
  return error;
}

bool is_closure(const GraphEdge& edge) { return edge.is_global_closure() || edge.is_local_closure(); }

}  // namespace

GraphSummary summarize(const PoseGraph& graph) {
  GraphSummary summary;
  summary.nodes = static_cast<std::int64_t>(graph.nodes.size());
  for (const GraphEdge& edge : graph.edges) {
    summary.global_closures += edge.is_global_closure() ? 1 : 0;
    summary.local_closures += edge.is_local_closure() ? 1 : 0;
  }
  for (std::size_t k = 1; k < graph.nodes.size(); ++k) {
    const Pose3& a = graph.nodes[k - 1].pose;
    const Pose3& b = graph.nodes[k].pose;
    summary.path_length_m += std::sqrt((b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y) + (b.z - a.z) * (b.z - a.z));
  }
  return summary;
}

TrajectoryError trajectory_error(std::span<const StampedPose> trajectory, std::span<const StampedPose> reference, bool align) {
  const std::vector<Pair> pairs = paired(trajectory, reference);
  return error_of(pairs, align ? alignment(pairs) : Pose2{});
}

void GoldenTolerances::fields(FieldVisitor& f) {
  f.number("node_share", node_share, {"", 0.0, 1.0, "allowed difference of the number of nodes, in the golden one"});
  f.number("closure_share", closure_share, {"", 0.0, 1.0, "closures that may be lost or added, in the golden number"});
  f.integer("closure_slack", closure_slack, {"", 0.0, 1e6, "closures that may be lost or added in any case"});
  f.flag("compare_closures", compare_closures, "whether closures are compared");
  f.number("closure_radius_m", closure_radius_m, {"m", 0.0, 100.0, "ends of a closure this near are the same place"});
  f.number("path_share", path_share, {"", 0.0, 1.0, "allowed difference of the path length, in the golden one"});
  f.number("rmse_m", rmse_m, {"m", 0.0, 1000.0, "greatest root-mean-square distance, aligned"});
  f.number("rmse_deg", rmse_deg, {"deg", 0.0, 180.0, "greatest root-mean-square angle, aligned"});
  f.number("rmse_unaligned_m", rmse_unaligned_m, {"m", 0.0, 1000.0, "greatest root-mean-square distance, not aligned; 0: not compared"});
  f.number("crispness_share", crispness_share, {"", 0.0, 1.0, "allowed difference of the cells that the ends of beams fall into"});
  f.flag("same_map", same_map, "whether a map must be the golden one, cell by cell");
}

void MapFacts::fields(FieldVisitor& f) {
  f.text("hash", hash, "of size, resolution, origin and cells");
  f.integer("width", width, {"", 0, 1e6, "cells"});
  f.integer("height", height, {"", 0, 1e6, "cells"});
  f.integer("crispness_cells", crispness_cells, {"", 0, 1e9, "cells of 5 cm into which the ends of the beams fall"});
}

std::int64_t closures_without_counterpart(const PoseGraph& graph, const PoseGraph& other, const Pose2& T_other_graph, double radius_m) {
  const auto place = [](const PoseGraph& in, std::int64_t id) -> std::optional<Vec2> {
    const GraphNode* node = in.find(id);
    return node == nullptr ? std::nullopt : std::optional<Vec2>{{node->pose.x, node->pose.y}};
  };
  std::int64_t alone = 0;
  for (const GraphEdge& edge : graph.edges) {
    if (!is_closure(edge)) continue;
    auto from = place(graph, edge.from);
    auto to = place(graph, edge.to);
    if (from) from = T_other_graph * *from;
    if (to) to = T_other_graph * *to;
    const bool matched = std::any_of(other.edges.begin(), other.edges.end(), [&](const GraphEdge& candidate) {
      if (!is_closure(candidate)) return false;
      const auto a = place(other, candidate.from);
      const auto b = place(other, candidate.to);
      if (!from || !to || !a || !b) return false;
      const auto near = [&](Vec2 p, Vec2 q) { return distance(p, q) <= radius_m; };
      return (near(*from, *a) && near(*to, *b)) || (near(*from, *b) && near(*to, *a));
    });
    alone += matched ? 0 : 1;
  }
  return alone;
}

std::vector<GoldenCheck> compare(const Mapping& result, const Mapping& golden, const GoldenTolerances& tolerances) {
  std::vector<GoldenCheck> checks;
  const auto check = [&](const char* name, double value, double reference, double allowed, bool passed) {
    checks.push_back({name, value, reference, allowed, passed});
  };
  const auto within = [&](const char* name, double value, double reference, double allowed) {
    check(name, value, reference, allowed, std::fabs(value - reference) <= allowed);
  };
  const auto most = [&](const char* name, double value, double allowed) { check(name, value, 0.0, allowed, value <= allowed); };

  const GraphSummary ours = summarize(result.graph);
  const GraphSummary theirs = summarize(golden.graph);
  const std::vector<Pair> pairs = paired(result.trajectory, golden.trajectory);
  const Pose2 T_golden_result = alignment(pairs);
  const auto golden_nodes = static_cast<double>(theirs.nodes);
  within("nodes", static_cast<double>(ours.nodes), golden_nodes, tolerances.node_share * golden_nodes);
  within("path_length_m", ours.path_length_m, theirs.path_length_m, tolerances.path_share * theirs.path_length_m);
  if (tolerances.compare_closures) {
    const auto closures = static_cast<double>(theirs.global_closures + theirs.local_closures);
    const double slack = std::max(static_cast<double>(tolerances.closure_slack), tolerances.closure_share * closures);
    const double radius = tolerances.closure_radius_m;
    within("closures", static_cast<double>(ours.global_closures + ours.local_closures), closures, slack);
    most("closures_lost", static_cast<double>(closures_without_counterpart(golden.graph, result.graph, inverse(T_golden_result), radius)),
         slack);
    most("closures_added", static_cast<double>(closures_without_counterpart(result.graph, golden.graph, T_golden_result, radius)), slack);
  }
  const TrajectoryError aligned = error_of(pairs, T_golden_result);
  const TrajectoryError raw = error_of(pairs, {});
  const auto expected = static_cast<double>(golden.trajectory.size());
  constexpr double kHalf = 0.5;
  check("pairs", static_cast<double>(pairs.size()), expected, kHalf * expected, static_cast<double>(pairs.size()) >= kHalf * expected);
  most("rmse_m", aligned.rmse_m, tolerances.rmse_m);
  most("rmse_deg", aligned.rmse_deg, tolerances.rmse_deg);
  check("rmse_unaligned_m", raw.rmse_m, 0.0, tolerances.rmse_unaligned_m,
        tolerances.rmse_unaligned_m == 0.0 || raw.rmse_m <= tolerances.rmse_unaligned_m);
  if (result.map || golden.map) {
    most("maps_missing", static_cast<double>(!result.map + !golden.map), 0.0);
    const MapFacts a = result.map.value_or(MapFacts{});
    const MapFacts b = golden.map.value_or(MapFacts{});
    most("maps_differ", a == b ? 0.0 : 1.0, tolerances.same_map ? 0.0 : 1.0);
    const auto cells = static_cast<double>(b.crispness_cells);
    within("crispness_cells", static_cast<double>(a.crispness_cells), cells, tolerances.crispness_share * cells);
  }
  return checks;
}

}  // namespace pitwall::recording
