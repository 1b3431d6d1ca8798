// SPDX-License-Identifier: Apache-2.0
#include "localization/slam/slam.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/check.hpp"
#include "core/sha256.hpp"
#include "core/text.hpp"
#include "localization/slam/front_end.hpp"
#include "localization/slam/loop_closer.hpp"
#include "localization/slam/survey.hpp"

namespace pitwall::slam {

namespace {

using localization::Twist;

bool is_finite(const Pose2& pose) { return std::isfinite(pose.x) && std::isfinite(pose.y) && std::isfinite(pose.yaw); }

// Scans farther apart in time than this do not tell a velocity.
constexpr double kLongestStep_s = 0.5;

}  // namespace

const char* name_of(Placement placement) {
  static constexpr std::array<const char*, 6> kNames{"carried", "first", "matched", "searched", "odometry", "refused"};
  return kNames[static_cast<std::size_t>(placement)];
}

void SlamParameters::fields(FieldVisitor& f) {
  f.nested("admission", admission);
  f.nested("registration", registration);
  f.nested("closures", closures);
  f.nested("map", map);
  f.integer("submap_nodes", submap_nodes, {"", 1, 1000, "a scan is registered against this many nodes before it"});
  f.flag("deskew", deskew, "take the sweep out of a scan with the velocity");
  f.flag("close_loops", close_loops, "look for places that were seen before");
}

class Slam::Engine {
 public:
  Engine(const SlamParameters& given, const Pose2& mount, const Pose2& start)
      : parameters(given),
        T_base_sensor(mount),
        T_map_start(start),
        admission(given.admission),
        reader({given.registration.max_range_m, given.registration.half_window_m, given.registration.least_extent_m,
                given.registration.max_scatter_m},
               mount),
        closer(given.closures, given.registration) {}

  Placed add(const LaserScan& scan, const Pose2& T_odom_base, const std::optional<Twist>& velocity);
  [[nodiscard]] Pose2 pose_now(const Placed& placed) const {
    return survey.graph.poses[placed.node] * (inverse(survey.nodes[placed.node].T_odom_base) * placed.T_odom_base);
  }

  SlamParameters parameters;
  Pose2 T_base_sensor;
  Pose2 T_map_start;
  Admission admission;
  ScanReader reader;
  LoopCloser closer;
  Survey survey;
  std::vector<Placed> live;
  SlamCounts counts;

 private:
  [[nodiscard]] Twist velocity_at(Time stamp, const Pose2& T_odom_base, const std::optional<Twist>& velocity) const;
  void count_gate(Admitted verdict);
  void add_node(const LaserScan& scan, const Twist& velocity, Placed& placed);
};

Twist Slam::Engine::velocity_at(Time stamp, const Pose2& T_odom_base, const std::optional<Twist>& velocity) const {
  if (velocity && localization::is_finite(*velocity)) return *velocity;
  if (live.empty()) return {};
  const double dt_s = (stamp - live.back().stamp).seconds();
  return dt_s > kLongestStep_s ? Twist{} : localization::velocity_of(inverse(live.back().T_odom_base) * T_odom_base, dt_s);
}

void Slam::Engine::count_gate(Admitted verdict) {
  if (verdict == Admitted::kTooNear) ++counts.too_near;
  if (verdict == Admitted::kThrottled) ++counts.throttled;
  if (verdict == Admitted::kTooSoon) ++counts.too_soon;
  if (verdict == Admitted::kWarmUp) ++counts.warm_up;
}

void Slam::Engine::add_node(const LaserScan& scan, const Twist& velocity, Placed& placed) {
  WallPieces walls = reader.read(scan, parameters.deskew ? velocity : Twist{});
  ++counts.nodes;
  if (walls.points.empty()) ++counts.unusable;
  placed.node = survey.nodes.size();
  Pose2 pose = T_map_start;
  double way_m = 0.0;
  placed.placement = Placement::kFirst;
  if (!survey.nodes.empty()) {
    const Pose2 motion = inverse(survey.nodes.back().T_odom_base) * placed.T_odom_base;
    way_m = survey.way_m.back() + norm(motion.position());
    const FrontEndResult found = place_node(survey, walls, motion, parameters);
    pose = found.T_map_base;
    placed.placement = found.placement;
    placed.degenerate = found.degenerate;
    placed.covariance = in_turned_axes(found.covariance, pose.yaw);
    survey.graph.edges.push_back(
        {placed.node - 1, placed.node, inverse(survey.graph.poses.back()) * pose, localization::inverse_of(placed.covariance), false});
    if (found.placement == Placement::kMatched) ++counts.matched;
    if (found.placement == Placement::kSearched) ++counts.searched;
    if (found.placement == Placement::kOdometry) ++counts.odometry;
    if (found.degenerate) ++counts.degenerate;
  }
  placed.flagged = placed.placement == Placement::kOdometry || walls.points.empty();
  survey.graph.poses.push_back(pose);
  survey.nodes.push_back({scan, placed.T_odom_base, velocity});
  survey.walls.push_back(std::move(walls));
  survey.way_m.push_back(way_m);
  if (parameters.close_loops && placed.placement != Placement::kOdometry) {
    const Status status = closer.close(survey);
    PITWALL_CHECK(status.ok(), status.error().message);
  }
}

Placed Slam::Engine::add(const LaserScan& scan, const Pose2& T_odom_base, const std::optional<Twist>& velocity) {
  ++counts.scans;
  Placed placed;
  placed.stamp = scan.stamp;
  placed.T_odom_base = T_odom_base;
  if (!is_finite(T_odom_base) || (!live.empty() && scan.stamp.ns <= live.back().stamp.ns)) {
    ++counts.refused;
    placed.placement = Placement::kRefused;
    placed.flagged = true;
    placed.T_map_base = live.empty() ? T_map_start : live.back().T_map_base;
    return placed;
  }
  const Twist moving = velocity_at(scan.stamp, T_odom_base, velocity);
  const Admitted verdict = admission.consider(scan.stamp, T_odom_base * T_base_sensor);
  count_gate(verdict);
  if (verdict == Admitted::kYes) {
    add_node(scan, moving, placed);
  } else {
    placed.node = survey.nodes.size() - 1;
    placed.flagged = live.back().flagged;
  }
  placed.T_map_base = pose_now(placed);
  live.push_back(placed);
  return placed;
}

Slam::Slam(const SlamParameters& parameters, const Pose2& T_base_sensor, const Pose2& T_map_start) {
  const Status status = check_fields("slam", parameters);
  PITWALL_CHECK(status.ok(), status.error().message);
  engine_ = std::make_unique<Engine>(parameters, T_base_sensor, T_map_start);
}
Slam::~Slam() = default;
Slam::Slam(Slam&&) noexcept = default;
Slam& Slam::operator=(Slam&&) noexcept = default;

Placed Slam::add(const LaserScan& scan, const Pose2& T_odom_base, const std::optional<Twist>& velocity) {
  return engine_->add(scan, T_odom_base, velocity);
}

Status Slam::finish() {
  if (engine_->survey.nodes.size() < 2) return {};
  return engine_->closer.finish(engine_->survey);
}

std::vector<Placed> Slam::trajectory() const {
  std::vector<Placed> result = engine_->live;
  for (Placed& placed : result) placed.T_map_base = engine_->pose_now(placed);
  return result;
}

const std::vector<Placed>& Slam::live_trajectory() const { return engine_->live; }
const Graph& Slam::graph() const { return engine_->survey.graph; }
const std::vector<Node>& Slam::nodes() const { return engine_->survey.nodes; }
const std::vector<ClosureAttempt>& Slam::closures() const { return engine_->closer.attempts(); }
const SlamCounts& Slam::counts() const { return engine_->counts; }
const SlamParameters& Slam::parameters() const { return engine_->parameters; }
const Pose2& Slam::T_base_sensor() const { return engine_->T_base_sensor; }

std::optional<double> Slam::nearest_unlinked_m() const {
  const Survey& survey = engine_->survey;
  const ClosureParameters& p = engine_->parameters.closures;
  std::optional<double> nearest;
  for (std::size_t i = static_cast<std::size_t>(p.min_nodes_apart); i < survey.nodes.size(); ++i) {
    for (std::size_t k = 0; k + static_cast<std::size_t>(p.min_nodes_apart) <= i; ++k) {
      if (survey.way_m[i] - survey.way_m[k] < p.min_way_apart_m) break;
      const double away = distance(survey.graph.poses[i].position(), survey.graph.poses[k].position());
      if (!nearest || away < *nearest) nearest = away;
    }
  }
  return nearest;
}

Result<BuiltMap> Slam::build_map() const {
  const Survey& survey = engine_->survey;
  std::vector<PlacedScan> scans;
  scans.reserve(survey.nodes.size());
  for (std::size_t k = 0; k < survey.nodes.size(); ++k) {
    const Node& node = survey.nodes[k];
    scans.push_back({&node.scan, survey.graph.poses[k], engine_->parameters.deskew ? node.velocity : Twist{}});
  }
  return slam::build_map(scans, engine_->T_base_sensor, engine_->parameters.map);
}

std::string pose_hash(std::span<const Placed> trajectory) {
  Sha256 hash;
  for (const Placed& placed : trajectory) {
    std::string line = std::to_string(placed.stamp.ns);
    for (const double value : {placed.T_map_base.x, placed.T_map_base.y, placed.T_map_base.yaw}) line += ' ' + format_exact(value);
    hash.add(line + '\n');
  }
  return hash.hex();
}

}  // namespace pitwall::slam
