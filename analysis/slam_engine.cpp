// SPDX-License-Identifier: Apache-2.0
#include "analysis/slam_engine.hpp"

#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace pitwall::analysis {

namespace {

using recording::Pose3;
using slam::Placed;
using slam::Placement;

bool is_node(const Placed& placed) { return placed.placement != Placement::kCarried && placed.placement != Placement::kRefused; }

class OwnEngine final : public SlamEngine {
 public:
  OwnEngine(const slam::SlamParameters& parameters, const Pose2& T_base_sensor) : slam_(parameters, T_base_sensor) {}

  std::optional<Pose3> add(const LaserScan& scan, const Pose2& T_odom_base, const localization::Twist& velocity) override {
    const Placed placed = slam_.add(scan, T_odom_base, velocity);
    if (!is_node(placed)) return std::nullopt;
    return Pose3::of(placed.T_map_base);
  }

  Status finish() override { return slam_.finish(); }

  [[nodiscard]] SlamRecord record() const override {
    SlamRecord record;
    record.engine = "pitwall";
    record.version = slam::kEngineVersion;
    const slam::SlamCounts& c = slam_.counts();
    record.counts = {{"scans", c.scans},         {"refused", c.refused},   {"unusable", c.unusable}, {"too_near", c.too_near},
                     {"throttled", c.throttled}, {"too_soon", c.too_soon}, {"warm_up", c.warm_up},   {"nodes", c.nodes},
                     {"matched", c.matched},     {"searched", c.searched}, {"odometry", c.odometry}, {"degenerate", c.degenerate}};
    const std::vector<Placed> settled = slam_.trajectory();
    const std::vector<Placed>& live = slam_.live_trajectory();
    std::vector<Placed> nodes;
    for (std::size_t k = 0; k < live.size(); ++k) {
      if (!is_node(live[k])) continue;
      nodes.push_back(settled[k]);
      record.nodes.push_back({live[k].stamp, slam::name_of(live[k].placement), live[k].degenerate, live[k].flagged, live[k].T_odom_base,
                              live[k].T_map_base, settled[k].T_map_base});
    }
    record.pose_sha256 = slam::pose_hash(nodes);
    for (const slam::ClosureAttempt& a : slam_.closures()) {
      record.closures.push_back({static_cast<std::int64_t>(a.node), static_cast<std::int64_t>(a.other), slam::name_of(a.outcome),
                                 a.searched, a.coarse_response, a.response, a.ambiguity, a.chi2, a.chi2_rise});
    }
    record.edges = static_cast<std::int64_t>(slam_.graph().edges.size());
    record.chi2 = slam::chi2_of(slam_.graph());
    record.nearest_unlinked_m = slam_.nearest_unlinked_m().value_or(NAN);
    if (const auto built = slam_.build_map()) record.ghost_cells = built->ghost_cells;
    return record;
  }

  [[nodiscard]] std::optional<recording::PoseGraph> graph() const override { return pose_graph_of(slam_.graph()); }

  [[nodiscard]] Result<std::optional<tracks::OccupancyMap>> map() const override {
    auto built = slam_.build_map();
    if (!built) return built.error();
    return std::optional<tracks::OccupancyMap>(std::move(built->map));
  }

 private:
  slam::Slam slam_;
};

class RecordedEngine final : public SlamEngine {
 public:
  explicit RecordedEngine(std::span<const PublishedPose> poses) {
    for (const PublishedPose& each : poses) poses_.try_emplace(each.stamp, each.pose);
  }

  std::optional<Pose3> add(const LaserScan& scan, const Pose2& /*T_odom_base*/, const localization::Twist& /*velocity*/) override {
    ++scans_;
    const auto found = poses_.find(scan.stamp);
    if (found == poses_.end()) return std::nullopt;
    ++nodes_;
    return found->second;
  }
  Status finish() override { return {}; }
  [[nodiscard]] SlamRecord record() const override {
    SlamRecord record;
    record.engine = "recorded poses";
    record.counts = {{"scans", scans_}, {"nodes", nodes_}};
    record.nearest_unlinked_m = NAN;
    return record;
  }
  [[nodiscard]] std::optional<recording::PoseGraph> graph() const override { return std::nullopt; }
  [[nodiscard]] Result<std::optional<tracks::OccupancyMap>> map() const override { return std::optional<tracks::OccupancyMap>(); }

 private:
  std::map<Time, Pose3> poses_;
  std::int64_t scans_ = 0;
  std::int64_t nodes_ = 0;
};

}  // namespace

recording::PoseGraph pose_graph_of(const slam::Graph& of) {
  recording::PoseGraph graph;
  graph.has_links = true;
  for (std::size_t k = 0; k < of.poses.size(); ++k) graph.nodes.push_back({static_cast<std::int64_t>(k), Pose3::of(of.poses[k])});
  for (const slam::Edge& edge : of.edges) {
    const slam::Matrix3& o = edge.information;
    const auto link = edge.closure ? recording::Link::kGlobalClosure : recording::Link::kNeighbour;
    graph.edges.push_back({static_cast<std::int64_t>(edge.from),
                           static_cast<std::int64_t>(edge.to),
                           Pose3::of(edge.T_from_to),
                           {o(0, 0), o(0, 1), o(0, 2), o(1, 1), o(1, 2), o(2, 2)},
                           static_cast<int>(link)});
  }
  return graph;
}

std::unique_ptr<SlamEngine> own_engine(const slam::SlamParameters& parameters, const Pose2& T_base_sensor) {
  return std::make_unique<OwnEngine>(parameters, T_base_sensor);
}

std::unique_ptr<SlamEngine> recorded_engine(std::span<const PublishedPose> poses) { return std::make_unique<RecordedEngine>(poses); }

}  // namespace pitwall::analysis
