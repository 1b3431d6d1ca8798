// SPDX-License-Identifier: Apache-2.0
#include "localization/slam/admission.hpp"

#include <array>
#include <cmath>
#include <string_view>

namespace pitwall::slam {

namespace {

// The outer gate never lets through what it counts as fewer.
constexpr std::int64_t kWarmUpScans = 5;
constexpr double kOuterShare = 0.8;

double distance2(const Pose2& a, const Pose2& b) {
  const Vec2 way = b.position() - a.position();
  return dot(way, way);
}

// Increments add up in the last bits: a step of exactly the bound passes.
constexpr double kRounding = 1e-9;

}  // namespace

void AdmissionParameters::fields(FieldVisitor& f) {
  static constexpr std::array<std::string_view, 3> kModes{"own", "slam_toolbox", "every"};
  f.enumeration("mode", mode, kModes, "which rule admits scans");
  f.number("min_distance_m", min_distance_m, {"m", 0, 10, "own: a scan this far from the last node is admitted ..."});
  f.number("min_heading_rad", min_heading_rad, {"rad", 0, 3.2, "... or turned this far"});
  f.number("toolbox_min_distance_m", toolbox_min_distance_m, {"m", 0, 10, "slam_toolbox: minimum_travel_distance"});
  f.number("toolbox_min_heading_rad", toolbox_min_heading_rad, {"rad", 0, 3.2, "slam_toolbox: minimum_travel_heading"});
  f.number("toolbox_min_interval_s", toolbox_min_interval_s, {"s", 0, 60, "slam_toolbox: minimum_time_interval"});
  f.integer("toolbox_throttle_scans", toolbox_throttle_scans, {"", 1, 1000, "slam_toolbox: throttle_scans"});
}

Admitted Admission::own(const Pose2& T) const {
  const double bound = parameters_.min_distance_m - kRounding;
  const bool far = bound <= 0.0 || distance2(last_->T_odom_sensor, T) >= bound * bound;
  const bool turned = std::abs(wrap_angle(T.yaw - last_->T_odom_sensor.yaw)) >= parameters_.min_heading_rad - kRounding;
  return far || turned ? Admitted::kYes : Admitted::kTooNear;
}

Admitted Admission::outer(Time stamp, const Pose2& T) const {
  if (!outer_) return Admitted::kYes;
  if (scans_ % parameters_.toolbox_throttle_scans != 0) return Admitted::kThrottled;
  if ((stamp - outer_->stamp).seconds() < parameters_.toolbox_min_interval_s) return Admitted::kTooSoon;
  if (scans_ < kWarmUpScans) return Admitted::kWarmUp;
  const double bound2 = kOuterShare * parameters_.toolbox_min_distance_m * parameters_.toolbox_min_distance_m;
  return distance2(outer_->T_odom_sensor, T) < bound2 ? Admitted::kTooNear : Admitted::kYes;
}

Admitted Admission::inner(const Pose2& T) const {
  if (!last_) return Admitted::kYes;
  if (std::abs(wrap_angle(T.yaw - last_->T_odom_sensor.yaw)) >= parameters_.toolbox_min_heading_rad) return Admitted::kYes;
  const double bound2 = parameters_.toolbox_min_distance_m * parameters_.toolbox_min_distance_m;
  return distance2(last_->T_odom_sensor, T) >= bound2 - kRounding ? Admitted::kYes : Admitted::kTooNear;
}

Admitted Admission::consider(Time stamp, const Pose2& T_odom_sensor) {
  ++scans_;
  Admitted verdict = Admitted::kYes;
  if (parameters_.mode == AdmissionMode::kSlamToolbox) {
    verdict = outer(stamp, T_odom_sensor);
    if (verdict == Admitted::kYes) {
      outer_ = {stamp, T_odom_sensor};
      verdict = inner(T_odom_sensor);
    }
  } else if (parameters_.mode == AdmissionMode::kOwn && last_) {
    verdict = own(T_odom_sensor);
  }
  if (verdict == Admitted::kYes) last_ = {stamp, T_odom_sensor};
  return verdict;
}

}  // namespace pitwall::slam
