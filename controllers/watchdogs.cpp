// SPDX-License-Identifier: Apache-2.0
#include "controllers/watchdogs.hpp"

#include <cmath>

#include "controllers/scan_view.hpp"

namespace pitwall::controllers {

namespace {

template <class Message>
bool fresh(const Observation& obs, const Source<Message>& source, double timeout_s) {
  return is_fresh(obs.now, source.arrival, source.message->stamp, timeout_s);
}

}  // namespace

void WatchdogParameters::fields(FieldVisitor& f) {
  f.flag("enable_deadman", enable_deadman, "the car moves only while the operator holds the button");
  f.integer("deadman_button", deadman_button, {"", 0, 63, "index of the deadman button"});
  f.number("joy_timeout_s", joy_timeout_s, {"s", 0.05, 2, "age from which the joystick counts as silent"});
  f.number("scan_timeout_s", scan_timeout_s, {"s", 0.05, 2, "age from which a scan is not driven on"});
  f.number("odometry_timeout_s", odometry_timeout_s, {"s", 0.05, 2, "age from which odometry is not driven on"});
  f.number("pose_timeout_s", pose_timeout_s, {"s", 0.05, 2, "age from which a pose is not driven on"});
  f.number("pose_frozen_speed_mps", pose_frozen_speed_mps, {"m/s", 0.05, 5, "measured speed from which a pose must move"});
  f.number("pose_frozen_time_s", pose_frozen_time_s, {"s", 0.05, 5, "time a pose may rest above that speed"});
  f.number("pose_frozen_distance_m", pose_frozen_distance_m, {"m", 0.001, 1, "distance below which a pose counts as resting"});
}

bool is_fresh(Time now, Time arrival, Time stamp, double timeout_s) {
  const Duration timeout = from_seconds(timeout_s);
  const Duration arrival_age = now - arrival;
  if (arrival_age < Duration{0} || arrival_age >= timeout) return false;
  if (stamp == Time{}) return true;
  const Duration stamp_age = now - stamp;
  return stamp_age >= Duration{-kFutureTolerance.ns} && stamp_age < timeout;
}

void Watchdogs::reset() { anchored_ = false; }

std::optional<Reason> Watchdogs::check(const Observation& obs) {
  const bool frozen = needs_.pose && follow_pose(obs);
  if (const auto reason = check_operator(obs)) return reason;
  if (needs_.scan) {
    if (const auto reason = check_scan(obs)) return reason;
  }
  if (needs_.odometry) {
    if (const auto reason = check_odometry(obs)) return reason;
  }
  if (needs_.pose) {
    if (const auto reason = check_pose(obs)) return reason;
    if (frozen) return Reason::kPoseFrozen;
  }
  return std::nullopt;
}

std::optional<Reason> Watchdogs::check_operator(const Observation& obs) const {
  if (!parameters_.enable_deadman) return std::nullopt;
  if (obs.joy.message == nullptr) return Reason::kWaitingForJoy;
  if (!fresh(obs, obs.joy, parameters_.joy_timeout_s)) return Reason::kJoyStale;
  const auto& buttons = obs.joy.message->buttons;
  const auto index = static_cast<std::size_t>(parameters_.deadman_button);
  if (index >= buttons.size()) return Reason::kDeadmanButtonMissing;
  if (buttons[index] != 1) return Reason::kDeadmanReleased;
  return std::nullopt;
}

std::optional<Reason> Watchdogs::check_scan(const Observation& obs) const {
  if (obs.scan.message == nullptr) return Reason::kScanMissing;
  if (!fresh(obs, obs.scan, parameters_.scan_timeout_s)) return Reason::kScanStale;
  if (!is_well_formed(*obs.scan.message)) return Reason::kScanMalformed;
  return std::nullopt;
}

std::optional<Reason> Watchdogs::check_odometry(const Observation& obs) const {
  if (obs.odometry.message == nullptr) return Reason::kOdometryMissing;
  if (!fresh(obs, obs.odometry, parameters_.odometry_timeout_s)) return Reason::kOdometryStale;
  const Odometry& odometry = *obs.odometry.message;
  if (!std::isfinite(odometry.speed_mps) || !std::isfinite(odometry.yaw_rate_radps)) return Reason::kOdometryInvalid;
  return std::nullopt;
}

std::optional<Reason> Watchdogs::check_pose(const Observation& obs) const {
  if (obs.pose.message == nullptr) return Reason::kPoseMissing;
  if (!fresh(obs, obs.pose, parameters_.pose_timeout_s)) return Reason::kPoseStale;
  const PoseEstimate& pose = *obs.pose.message;
  if (!std::isfinite(pose.position.x) || !std::isfinite(pose.position.y) || !std::isfinite(pose.orientation.z) ||
      !std::isfinite(pose.orientation.w)) {
    return Reason::kPoseInvalid;
  }
  return std::nullopt;
}

// True once the pose has rested too long for the speed that odometry reports.
bool Watchdogs::follow_pose(const Observation& obs) {
  if (obs.pose.message == nullptr || obs.odometry.message == nullptr) {
    anchored_ = false;
    return false;
  }
  const Vec2 position = obs.pose.message->position;
  const double speed = std::abs(obs.odometry.message->speed_mps);
  // Written so that a NaN pose never counts as moving, and a NaN or stale speed never accuses a pose.
  const bool suspect = speed >= parameters_.pose_frozen_speed_mps && fresh(obs, obs.odometry, parameters_.odometry_timeout_s);
  const bool moved = distance(position, anchor_) >= parameters_.pose_frozen_distance_m;
  if (!anchored_ || !suspect || moved) {
    anchored_ = true;
    anchor_ = position;
    anchor_time_ = obs.now;
    return false;
  }
  return obs.now - anchor_time_ > from_seconds(parameters_.pose_frozen_time_s);
}

}  // namespace pitwall::controllers
