// SPDX-License-Identifier: Apache-2.0
#include "analysis/slam_corrections.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/run_data.hpp"

namespace pitwall::analysis {

namespace {

constexpr double kSame = 1e-6;
constexpr double kPast_m = 0.3;

double moved(const Pose2& before, const Pose2& after, const Pose2& T_odom_base) {
  return distance((before * T_odom_base).position(), (after * T_odom_base).position());
}

/// One lap in the making.
class LapWatch {
 public:
  LapWatch(const DrivenPath& path, const LapRules& rules) : path_(path), rules_(rules) {}

  void begin(std::size_t at) {
    begin_ = at;
    way_m_ = 0.0;
    departed_ = false;
    best_.reset();
  }

  /// Takes in sample i; where the lap has been closed, the sample that closed it.
  std::optional<std::size_t> take(std::size_t i) {
    if (i > begin_) way_m_ += step(i);
    const double away = from_start(i);
    departed_ = departed_ || distance(path_.T_map_base[i].position(), path_.T_map_base[begin_].position()) >= rules_.departed_m;
    const bool may_close = departed_ && way_m_ >= rules_.distance_m && turned(i) >= rules_.turned_rad &&
                           path_.t_s[i] - path_.t_s[begin_] >= rules_.lasted_s && away <= gate(i) && heading_error(i) <= rules_.heading_rad;
    if (may_close && (!best_ || away < from_start(*best_))) best_ = i;
    // Out of the gate again, or past the closest approach by more than a parked car jitters.
    const bool past = best_ && (!may_close || away > from_start(*best_) + kPast_m);
    return past ? best_ : std::nullopt;
  }

  [[nodiscard]] std::optional<std::size_t> best() const { return best_; }

  [[nodiscard]] SlamLap lap(std::size_t end, bool closed) const {
    SlamLap lap;
    lap.begin_s = path_.t_s[begin_];
    lap.end_s = path_.t_s[end];
    for (std::size_t i = begin_ + 1; i <= end; ++i) lap.distance_m += step(i);
    lap.closest_m = from_start(end);
    lap.heading_error_rad = heading_error(end);
    lap.turned_rad = turned(end);
    lap.closed = closed;
    return lap;
  }

 private:
  [[nodiscard]] double step(std::size_t i) const { return distance(path_.T_map_base[i - 1].position(), path_.T_map_base[i].position()); }
  [[nodiscard]] double from_start(std::size_t i) const { return distance(path_.T_map_base[i].position(), path_.T_map_base[0].position()); }
  [[nodiscard]] double turned(std::size_t i) const { return std::abs(path_.odom_yaw_rad[i] - path_.odom_yaw_rad[begin_]); }
  [[nodiscard]] double heading_error(std::size_t i) const {
    return std::abs(wrap_angle(path_.T_map_base[i].yaw - path_.T_map_base[0].yaw));
  }
  [[nodiscard]] double gate(std::size_t i) const { return rules_.allowed_gap_m(turned(i)); }

  const DrivenPath& path_;
  const LapRules& rules_;
  std::size_t begin_ = 0;
  double way_m_ = 0.0;
  bool departed_ = false;
  std::optional<std::size_t> best_;
};

}  // namespace

std::vector<Correction> corrections_of(const SlamRecording& run) {
  std::vector<Correction> all;
  for (std::size_t i = 1; i < run.corrections.size(); ++i) {
    const MapOdomSample& before = run.corrections[i - 1];
    const MapOdomSample& after = run.corrections[i];
    Correction c;
    c.t_s = seconds_since(run.origin, after.arrival);
    c.at_origin_m = moved(before.T_map_odom, after.T_map_odom, Pose2{});
    c.turn_rad = std::abs(wrap_angle(after.T_map_odom.yaw - before.T_map_odom.yaw));
    if (c.at_origin_m <= kSame && c.turn_rad <= kSame) continue;
    const auto car = after.car ? run.tree.planar(run.odom_frame, run.base_frame, *after.car) : std::nullopt;
    c.at_car_m = car ? moved(before.T_map_odom, after.T_map_odom, *car) : NAN;
    all.push_back(c);
  }
  return all;
}

DrivenPath driven_path(const SlamRecording& run, const NamedOdometry& odometry) {
  DrivenPath path;
  for (std::size_t i = 0; i < odometry.pose.size(); ++i) {
    const auto pose = run.T_map_base(odometry.stamp[i]);
    if (!pose || (!path.stamp.empty() && odometry.stamp[i] <= path.stamp.back())) continue;
    const double yaw = odometry.pose[i].yaw;
    path.odom_yaw_rad.push_back(path.size() == 0 ? yaw : path.odom_yaw_rad.back() + wrap_angle(yaw - path.odom_yaw_rad.back()));
    path.t_s.push_back(seconds_since(run.origin, odometry.arrival[i]));
    path.stamp.push_back(odometry.stamp[i]);
    path.T_map_base.push_back(*pose);
  }
  return path;
}

std::vector<SlamLap> slam_laps(const DrivenPath& path, const std::vector<Correction>& corrections, const LapRules& rules) {
  std::vector<SlamLap> laps;
  if (path.size() < 3) return laps;
  LapWatch watch(path, rules);
  watch.begin(0);
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (const auto closed = watch.take(i)) {
      laps.push_back(watch.lap(*closed, true));
      watch.begin(*closed);
      i = *closed;
    }
  }
  const SlamLap rest = watch.lap(watch.best().value_or(path.size() - 1), watch.best().has_value());
  if (rest.closed || rest.distance_m > rules.departed_m) laps.push_back(rest);
  for (SlamLap& lap : laps) {
    lap.absorbed = static_cast<std::size_t>(std::count_if(corrections.begin(), corrections.end(), [&](const Correction& c) {
      return c.t_s > lap.begin_s && c.t_s <= lap.end_s && c.at_car_m > kAbsorbed_m;
    }));
  }
  return laps;
}

}  // namespace pitwall::analysis
