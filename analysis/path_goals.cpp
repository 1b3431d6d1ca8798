// SPDX-License-Identifier: Apache-2.0
// The goals and laps of path_metrics.
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "analysis/path_report.hpp"

namespace pitwall::analysis {

namespace {

using tracks::PathSample;

constexpr double kReverse_mps = -0.05;

std::size_t reversals_of(std::span<const PathSample> samples) {
  std::size_t n = 0;
  bool back = false;
  for (const PathSample& s : samples) {
    const bool now = s.speed_mps < kReverse_mps;
    n += now && !back ? 1 : 0;
    back = now;
  }
  return n;
}

/// Goals are judged from the first motion on, wherever the vehicle stood.
tracks::PathMetricsSettings goal_settings() {
  tracks::PathMetricsSettings settings;
  settings.launch_speed_mps = 0.0;
  settings.launch_lateral_m = 1000.0;
  return settings;
}

}  // namespace

Result<tracks::Path> stitched(const std::vector<TimedPlan>& plans, const std::vector<PathSample>& samples) {
  constexpr double kSamePoint_m = 1e-3;
  std::vector<Vec2> points;
  const auto add = [&](Vec2 p) {
    if (std::isfinite(p.x) && std::isfinite(p.y) && (points.empty() || distance(points.back(), p) > kSamePoint_m)) points.push_back(p);
  };
  const auto vehicle_at = [&](double t_s) {
    const auto after = std::find_if(samples.begin(), samples.end(), [t_s](const PathSample& s) { return s.time_s >= t_s; });
    return after != samples.end() ? after->pose.position() : samples.back().pose.position();
  };
  const auto nearest = [](const TimedPlan& plan, Vec2 p) {
    const auto least =
        std::min_element(plan.points.begin(), plan.points.end(), [p](Vec2 a, Vec2 b) { return distance(a, p) < distance(b, p); });
    return static_cast<std::size_t>(least - plan.points.begin());
  };
  for (std::size_t k = 0; k < plans.size(); ++k) {
    const bool last = k + 1 == plans.size();
    const std::size_t from = k == 0 ? 0 : nearest(plans[k], vehicle_at(plans[k].t_s));
    const std::size_t to = last ? plans[k].points.size() : nearest(plans[k], vehicle_at(plans[k + 1].t_s));
    for (std::size_t i = from; i < to; ++i) add(plans[k].points[i]);
  }
  return tracks::Path::make(std::move(points), false);
}

Result<std::vector<PathGoal>> goals_of(const std::vector<TimedPlan>& plans, const std::vector<PathSample>& samples, Time origin,
                                       double same_goal_m) {
  std::vector<PathGoal> goals;
  std::size_t number = 0;
  for (std::size_t first = 0; first < plans.size();) {
    std::size_t next = first + 1;
    while (next < plans.size() && distance(plans[next].points.back(), plans[first].points.back()) <= same_goal_m) ++next;
    const double end_s = next < plans.size() ? plans[next].t_s : INFINITY;
    std::vector<PathSample> of_goal;
    for (const PathSample& s : samples) {
      if (s.time_s >= plans[first].t_s && s.time_s < end_s) of_goal.push_back(s);
    }
    const std::vector<TimedPlan> of_plans(plans.begin() + static_cast<std::ptrdiff_t>(first),
                                          plans.begin() + static_cast<std::ptrdiff_t>(next));
    first = next;
    ++number;
    if (of_goal.empty()) continue;
    const auto path = stitched(of_plans, of_goal);
    if (!path) continue;  // a plan of one point: the vehicle is there
    const auto report = tracks::path_metrics(*path, of_goal, goal_settings());
    if (!report) return report.error();
    goals.push_back(
        {"goal", number, origin + from_seconds(of_goal.front().time_s), path->length_m(), report->whole, reversals_of(of_goal)});
  }
  if (goals.empty()) return Error{"no pose after a plan of two points or more: nothing was followed"};
  return goals;
}

Result<std::vector<PathGoal>> laps_of(const tracks::Path& line, const std::vector<PathSample>& samples, Time origin) {
  const auto report = tracks::path_metrics(line, samples);
  if (!report) return report.error();
  std::vector<PathGoal> laps;
  double start_s = samples.front().time_s;
  const auto add = [&](const tracks::PathStretch& stretch, double planned_m) {
    std::vector<PathSample> within;
    for (const PathSample& s : samples) {
      if (s.time_s >= start_s && s.time_s <= start_s + stretch.time_s) within.push_back(s);
    }
    laps.push_back({"lap", laps.size() + 1, origin + from_seconds(start_s), planned_m, stretch, reversals_of(within)});
    start_s += stretch.time_s;
  };
  for (const tracks::PathStretch& lap : report->laps) add(lap, line.length_m());
  // Less than a lap, or an open line: all of it.
  if (laps.empty()) {
    add(report->whole, report->whole.progress_m);
    laps.back().kind = line.closed() ? "part of a lap" : "line";
  }
  return laps;
}

}  // namespace pitwall::analysis
