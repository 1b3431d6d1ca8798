// SPDX-License-Identifier: Apache-2.0
#include "scenarios/course_driver.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "scenarios/line_setup.hpp"

namespace pitwall::scenarios {

namespace {

constexpr double kStandingStill_mps = 0.02;
constexpr Duration kOdometryHorizon{2'000'000'000};
constexpr std::size_t kMostWaiting = 8;  // scans whose odometry has not come: 0.2 s of them at 40 Hz

Command stop() {
  Command command;
  command.reason = Reason::kEndOfPath;
  command.layer = Layer::kLaw;
  return command;
}

Pose2 pose_of(const Odometry& o) { return {o.position.x, o.position.y, yaw_of(o.orientation)}; }

}  // namespace

std::optional<std::string_view> CourseState::missing() const {
  const auto at = std::find(reached.begin(), reached.end(), std::nullopt);
  if (at == reached.end()) return std::nullopt;
  return kCoursePhases[static_cast<std::size_t>(at - reached.begin())];
}

CourseDriver::CourseDriver(Setup setup) : setup_(std::move(setup)), odometry_(kOdometryHorizon) {}

void CourseDriver::begin(CoursePhase phase, Time now) {
  std::optional<Time>& reached = state_->reached[static_cast<std::size_t>(phase)];
  if (!reached) reached = now;
}

void CourseDriver::reset(const Observation& first) {
  *state_ = {};
  mapping_.emplace(setup_.mapping, setup_.T_base_lidar, setup_.T_map_start);
  state_->laps = &mapping_->laps();
  odometry_.clear();
  last_odometry_.reset();
  odometry_sequence_ = 0;
  scan_sequence_ = 0;
  waiting_.clear();
  T_map_base_ = setup_.T_map_start;
  racer_.reset();
  setup_.mapper->reset(first);
}

/// Scans and odometry into the SLAM, each scan once odometry reaches beyond its stamp.
void CourseDriver::listen(const Observation& obs) {
  if (obs.odometry.message != nullptr && obs.odometry.sequence != odometry_sequence_) {
    odometry_sequence_ = obs.odometry.sequence;
    last_odometry_ = *obs.odometry.message;
    odometry_.add(last_odometry_->stamp, pose_of(*last_odometry_));
  }
  if (obs.scan.message != nullptr && obs.scan.sequence != scan_sequence_) {
    scan_sequence_ = obs.scan.sequence;
    waiting_.push_back(*obs.scan.message);
  }
  while (!waiting_.empty() && !odometry_.empty() && waiting_.front().stamp <= odometry_.newest()) {
    if (const auto T_odom_base = odometry_.at(waiting_.front().stamp)) {
      const localization::Twist velocity{last_odometry_->speed_mps, 0.0, last_odometry_->yaw_rate_radps};
      const slam::Placed placed = mapping_->add(waiting_.front(), *T_odom_base, velocity);
      T_map_base_ = placed.T_map_base;
      begin(CoursePhase::kSlamUp, obs.now);
    } else {
      ++state_->scans_dropped;
    }
    waiting_.pop_front();
  }
  if (waiting_.size() > kMostWaiting) {
    waiting_.pop_front();
    ++state_->scans_dropped;
  }
  if (static_cast<std::int64_t>(mapping_->laps().closed().size()) >= setup_.spec.mapping_laps) begin(CoursePhase::kLapsMapped, obs.now);
}

void CourseDriver::make_course(Time now) {
  Result<CourseMap> made = mapping_->finish();
  if (!made) {
    state_->failed = "no map: " + made.error().message;
    return;
  }
  const std::vector<slam::Placed> trajectory = mapping_->slam().trajectory();
  state_->T_map_base = trajectory.back().T_map_base;
  state_->course = std::make_shared<const CourseMap>(*std::move(made));
  state_->localizer_map = localization::LocalizerMap::make(*state_->course->map, state_->course->rays);
  begin(CoursePhase::kMapSaved, now);
  if (!state_->course->line) {
    state_->failed = "no line: " + state_->course->refused;
    return;
  }
  begin(CoursePhase::kLineCleaned, now);
  const controllers::LineToFollow line = line_to_follow(std::shared_ptr<const tracks::Path>(state_->course, &state_->course->line->path),
                                                        state_->course->speed_mps, state_->course->rays, state_->course->distance);
  begin(CoursePhase::kProfileWritten, now);
  Result<std::unique_ptr<Controller>> racer = setup_.make_racer(line);
  if (!racer) {
    state_->failed = "no race controller: " + racer.error().message;
    return;
  }
  racer_ = *std::move(racer);
  Observation nothing;
  nothing.now = now;
  racer_->reset(nothing);
  begin(CoursePhase::kProfileLoaded, now);
}

Command CourseDriver::drive_on(const Observation& obs) {
  if (!state_->has(CoursePhase::kLapsMapped)) return setup_.mapper->update(obs);
  if (!racer_) {
    const bool stands = last_odometry_ && std::fabs(last_odometry_->speed_mps) < kStandingStill_mps;
    if (stands && state_->failed.empty()) make_course(obs.now);
    return stop();
  }
  begin(CoursePhase::kTransition, obs.now);
  const Time since = *state_->reached[static_cast<std::size_t>(CoursePhase::kTransition)];
  const bool stood = obs.now - since >= from_seconds(setup_.spec.transition_stop_s);
  const bool located = obs.pose.message != nullptr && obs.pose.message->stamp > since;
  if (!state_->has(CoursePhase::kRacing)) {
    if (!stood || !located) return stop();
    begin(CoursePhase::kRacing, obs.now);
  }
  return racer_->update(obs);
}

Command CourseDriver::update(const Observation& obs) {
  if (!state_->course && state_->failed.empty()) listen(obs);
  return drive_on(obs);
}

std::vector<std::pair<std::string_view, double>> CourseDriver::counters() const {
  return racer_ ? racer_->counters() : setup_.mapper->counters();
}

void CourseLocaliser::reset(const std::optional<Pose2>& /*T_map_base*/) { on_map_.reset(); }

void CourseLocaliser::add(const Odometry& odometry) {
  if (on_map_) on_map_->add(odometry);
}

std::optional<PoseEstimate> CourseLocaliser::add(const LaserScan& scan) {
  if (!on_map_ && state_->localizer_map) {
    on_map_ = std::make_unique<localization::Localizer>(state_->localizer_map, T_base_lidar_);
    on_map_->reset(state_->T_map_base);
  }
  return on_map_ ? on_map_->add(scan) : std::nullopt;
}

}  // namespace pitwall::scenarios
