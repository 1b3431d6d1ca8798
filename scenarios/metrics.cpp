// SPDX-License-Identifier: Apache-2.0
#include "scenarios/metrics.hpp"

#include <algorithm>
#include <cmath>

#include "core/controller.hpp"
#include "core/math.hpp"
#include "tracks/footprint.hpp"

namespace pitwall::scenarios {
namespace {

constexpr double kFarthestClearance_m = 5.0;
constexpr double kCone_rad = math::kPi / 6.0;  // half angle of "forward" and of "beside"
constexpr double kCorridorSide_m = 5.0;        // farther walls are no corridor
constexpr std::size_t kReasons = static_cast<std::size_t>(Reason::kSteeringLawFailed) + 1;

/// Smallest range among the beams within kCone_rad of `bearing_rad`.
double smallest_range(std::span<const double> ranges, double fov_rad, double bearing_rad) {
  const auto last = static_cast<double>(ranges.size() - 1);
  const double per_rad = last / fov_rad;
  const double from = std::max(0.0, std::ceil((bearing_rad - kCone_rad + 0.5 * fov_rad) * per_rad));
  const double to = std::min(last, std::floor((bearing_rad + kCone_rad + 0.5 * fov_rad) * per_rad));
  double smallest = math::kInfinity;
  for (auto i = static_cast<std::size_t>(from); static_cast<double>(i) <= to; ++i) smallest = std::min(smallest, ranges[i]);
  return smallest;
}

}  // namespace

void PassCounter::update(std::size_t other, double lead_m) {
  if (lead_m < 0.0) {
    behind_[other] = lead_m > -kClose_m;
  } else if (behind_[other] && lead_m >= kClearLead_m) {
    behind_[other] = false;
    ++completed_;
  }
}

double chassis_clearance_m(const BodyRectangle& chassis, const Pose2& T_map_base, const tracks::Track& track, double limit_m) {
  return tracks::footprint_clearance_m(chassis, T_map_base, *track.distance, limit_m);
}

Metrics::Metrics(const ResolvedRun& run, const tracks::Path& line, const sim::World& world)
    : run_(run),
      line_(line),
      centre_(run.track->centre->path),
      passes_(world.size() - 1),
      min_clearance_m_(kFarthestClearance_m),
      min_forward_m_(math::kInfinity),
      reasons_(kReasons, 0),
      min_commanded_mps_(math::kInfinity) {
  const tracks::Projection foot = line_.project(world.car(0).T_map_base.position());
  line_s_m_ = foot.s_m;
  cross_track_m_ = foot.lateral_m;
  max_cross_track_m_ = std::fabs(cross_track_m_);
  samples_.reserve(16384);
}

void Metrics::after_step(const sim::World& world) {
  const sim::CarState& car = world.car(0);
  if (car.ticks != ticks_) {
    ticks_ = car.ticks;
    after_decision(world);
  }
  for (std::size_t i = 1; i < world.size(); ++i) passes_.update(i - 1, centre_.s_difference(car.lap.s_m, world.car(i).lap.s_m));
}

void Metrics::after_decision(const sim::World& world) {
  constexpr double kWindow_m = 3.0;  // far more than a car moves between two decisions
  const sim::CarState& car = world.car(0);
  const tracks::Projection foot = line_.project_near(car.T_map_base.position(), line_s_m_, kWindow_m, kWindow_m);
  line_s_m_ = foot.s_m;
  cross_track_m_ = foot.lateral_m;
  max_cross_track_m_ = std::max(max_cross_track_m_, std::fabs(cross_track_m_));
  samples_.push_back({.time_s = world.now().seconds(), .pose = car.T_map_base, .speed_mps = car.velocity_mps.x});
  min_clearance_m_ = chassis_clearance_m(world.parameters(0).chassis(), car.T_map_base, *run_.track, min_clearance_m_);
  ++reasons_[static_cast<std::size_t>(car.command.reason)];
  const auto commanded = static_cast<double>(car.command.speed_mps);
  min_commanded_mps_ = std::min(min_commanded_mps_, commanded);
  max_commanded_mps_ = std::max(max_commanded_mps_, commanded);
  look(world);
}

void Metrics::look(const sim::World& world) {
  const std::span<const double> ranges = world.true_ranges(0);
  if (ranges.size() < 2) return;
  const double fov_rad = world.parameters(0).lidar_fov_rad;
  min_forward_m_ = std::min(min_forward_m_, smallest_range(ranges, fov_rad, 0.0));
  const double left = smallest_range(ranges, fov_rad, 0.5 * math::kPi);
  const double right = smallest_range(ranges, fov_rad, -0.5 * math::kPi);
  if (std::max(left, right) <= kCorridorSide_m) {
    corridor_offset_sum_m_ += std::fabs(0.5 * (right - left));
    ++corridor_samples_;
  }
}

// The largest distance is that of the whole run, since criteria look at it; mean and percentile leave out the launch, if it ever ended.
void Metrics::report_distances(Outcome& outcome) const {
  outcome.max_cross_track_m = max_cross_track_m_;
  Result<tracks::PathReport> report = tracks::path_metrics(line_, samples_);
  if (report && !report->launched) {
    tracks::PathMetricsSettings all;
    all.launch_speed_mps = 0.0;
    all.launch_lateral_m = math::kInfinity;
    report = tracks::path_metrics(line_, samples_, all);
  }
  if (!report) return;  // ended before the first decision
  outcome.mean_cross_track_m = report->whole.cross_track_m.mean_abs;
  outcome.p95_cross_track_m = report->whole.cross_track_m.p95;
}

void Metrics::report(const sim::World& world, Outcome& outcome) const {
  outcome.steps = static_cast<std::int64_t>(ticks_);
  outcome.completed_passes = passes_.completed();
  outcome.min_clearance_m = min_clearance_m_;
  outcome.min_forward_scan_m = min_forward_m_;
  outcome.corridor_samples = corridor_samples_;
  if (corridor_samples_ > 0) outcome.mean_corridor_offset_m = corridor_offset_sum_m_ / static_cast<double>(corridor_samples_);
  report_distances(outcome);
  for (std::size_t i = 0; i < kReasons; ++i) {
    if (reasons_[i] == 0) continue;
    const auto reason = static_cast<Reason>(i);
    outcome.reasons.emplace_back(std::string(name(reason)), reasons_[i]);
    if (is_stop(reason)) outcome.stop_steps += reasons_[i];
  }
  if (ticks_ > 0) {
    outcome.min_commanded_speed_mps = min_commanded_mps_;
    outcome.max_commanded_speed_mps = max_commanded_mps_;
  }
  const sim::CarState& car = world.car(0);
  outcome.final_speed_mps = car.velocity_mps.x;
  outcome.final_pose = car.T_map_base;
  outcome.max_pose_error_m = car.max_pose_error_m;
  outcome.dropped_beams = car.dropped_beams;
}

}  // namespace pitwall::scenarios
