// SPDX-License-Identifier: Apache-2.0
#include "scenarios/lap_recorder.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text.hpp"

namespace pitwall::scenarios {

namespace {

constexpr double kRevolution = 2.0 * math::kPi;

std::string figure(const char* what, double value, const char* unit, const char* side, double bound) {
  return std::string(what) + ' ' + format_number(value, 3) + unit + ", " + side + ' ' + format_number(bound, 3) + unit;
}

/// Points of the last revolution and a little more. Where exactly it begins is for clean_lap() to find by place: odometry's turn is a few
/// degrees off, which along a straight is all of it.
void trim_to_last_revolution(Lap& lap, double revolutions) {
  const auto within = [&](const LapPoint& p) { return std::fabs(lap.turned_rad - p.turned_rad) <= revolutions * kRevolution; };
  // From the back, since a car that turns to and fro may have been there before.
  const auto outside = std::find_if_not(lap.points.rbegin(), lap.points.rend(), within);
  lap.points.erase(lap.points.begin(), outside.base());
}

}  // namespace

void LapRules::fields(FieldVisitor& f) {
  f.number("sample_m", sample_m, {"m", 0.01, 5.0, "between the points that are kept"});
  f.number("departed_m", departed_m, {"m", 0.0, 1000.0, "farthest from the start at least"});
  f.number("distance_m", distance_m, {"m", 0.0, 1e5, "driven at least"});
  f.number("turned_rad", turned_rad, {"rad", 0.0, 100.0, "turned at least, by odometry"});
  f.number("lasted_s", lasted_s, {"s", 0.0, 1e5, "time at least"});
  f.number("closure_m", closure_m, {"m", 0.01, 100.0, "to the start, at most"});
  f.number("widen_after", widen_after, {"", 1.0, 100.0, "revolutions from which on it may be farther, by as much again for each"});
  f.number("widest_m", widest_m, {"m", 0.01, 100.0, "to the start, at most in any case"});
  f.number("heading_rad", heading_rad, {"rad", 0.0, 3.2, "against the start's heading, at most"});
  f.integer("points", points, {"", 3, 1000, "kept at least"});
  f.number("jump_m", jump_m, {"m", 0.001, 100.0, "of the pose against odometry's step: a correction of the SLAM"});
}

double LapRules::allowed_gap_m(double turned) const {
  const double beyond = std::max(0.0, std::fabs(turned) / kRevolution - widen_after);
  return std::min(closure_m * (1.0 + beyond), std::max(closure_m, widest_m));
}

void LapRecorder::begin(Time stamp, const Pose2& T_map_base) {
  lap_ = {};
  lap_.start = lap_.end = stamp;
  lap_.points.push_back({stamp, T_map_base, 0.0});
  T_map_start_ = T_map_base;
}

void LapRecorder::take_step(const Pose2& T_map_base, const Pose2& T_odom_base) {
  const Pose2 step = inverse(last_->T_odom_base) * T_odom_base;
  lap_.turned_rad += step.yaw;
  const Pose2 T_map_predicted = last_->T_map_base * step;
  if (distance(T_map_predicted.position(), T_map_base.position()) <= rules_.jump_m) return;
  const Pose2 correction = T_map_base * inverse(T_map_predicted);
  for (LapPoint& p : lap_.points) p.T_map_base = correction * p.T_map_base;
  T_map_start_ = correction * T_map_start_;
  ++lap_.corrections;
}

bool LapRecorder::add(Time stamp, const Pose2& T_map_base, const Pose2& T_odom_base) {
  if (!last_) {
    begin(stamp, T_map_base);
  } else {
    take_step(T_map_base, T_odom_base);
  }
  last_ = Seen{T_map_base, T_odom_base};
  lap_.end = stamp;
  const double since_m = distance(lap_.points.back().T_map_base.position(), T_map_base.position());
  if (since_m >= rules_.sample_m) {
    lap_.distance_m += since_m;
    lap_.points.push_back({stamp, T_map_base, lap_.turned_rad});
  }
  lap_.gap_m = distance(T_map_start_.position(), T_map_base.position());
  lap_.departed_m = std::max(lap_.departed_m, lap_.gap_m);
  lap_.heading_rad = wrap_angle(T_map_base.yaw - T_map_start_.yaw);
  lap_.allowed_gap_m = rules_.allowed_gap_m(lap_.turned_rad);
  if (lap_.distance_m < rules_.distance_m || lap_.gap_m > lap_.allowed_gap_m) return false;  // the rest is words
  if (!missing(lap_).empty()) return false;
  lap_.closed = true;
  trim_to_last_revolution(lap_, rules_.widen_after);
  closed_.push_back(std::move(lap_));
  begin(stamp, T_map_base);
  return true;
}

std::vector<std::string> LapRecorder::missing(const Lap& lap) const {
  std::vector<std::string> what;
  const auto at_least = [&](const char* name, double value, const char* unit, double bound) {
    if (value < bound) what.push_back(figure(name, value, unit, "needed", bound));
  };
  const auto at_most = [&](const char* name, double value, const char* unit, double bound) {
    if (value > bound) what.push_back(figure(name, value, unit, "allowed", bound));
  };
  at_least("away from the start", lap.departed_m, " m", rules_.departed_m);
  at_least("driven", lap.distance_m, " m", rules_.distance_m);
  at_least("turned", std::fabs(lap.turned_rad) / math::kDegree, " deg", rules_.turned_rad / math::kDegree);
  at_least("lasted", lap.lasted_s(), " s", rules_.lasted_s);
  at_most("from the start", lap.gap_m, " m", lap.allowed_gap_m);
  at_most("heading against the start", std::fabs(lap.heading_rad) / math::kDegree, " deg", rules_.heading_rad / math::kDegree);
  at_least("points", static_cast<double>(lap.points.size()), "", static_cast<double>(rules_.points));
  return what;
}

Lap LapRecorder::current() const {
  Lap lap = lap_;
  lap.missing = missing(lap);
  return lap;
}

}  // namespace pitwall::scenarios
