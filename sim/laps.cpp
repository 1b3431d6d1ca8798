// SPDX-License-Identifier: Apache-2.0
#include "sim/laps.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/text.hpp"

namespace pitwall::sim {
namespace {

constexpr std::size_t kLapTimesKept = 256;
// The foot runs ahead of the car on the inside of a bend; five times the car's own way is a bend of 1.1 m radius driven 0.9 m inside.
constexpr double kWindowPerWay = 5.0;
constexpr double kWindow_m = 0.5;

double interpolated(const std::vector<double>& values, const tracks::Path& path, const tracks::Projection& foot) {
  const std::size_t a = foot.segment;
  const std::size_t b = (a + 1) % path.size();
  const double length = distance(path.points()[a], path.points()[b]);
  const double t = std::clamp((foot.s_m - path.s_of(a)) / length, 0.0, 1.0);
  return values[a] + t * (values[b] - values[a]);
}

}  // namespace

void LapSettings::fields(FieldVisitor& f) {
  f.number("line_s_m", line_s_m, {"m", 0.0, 1e6, "arc length of the lap line"});
  f.number("start_tolerance_m", start_tolerance_m, {"m", 0.0, 10.0, "a start this far past the line counts as on it"});
  f.number("reentry_m", reentry_m, {"m", 0.01, 10.0, "how near to the place of leaving the corridor counts as re-entry"});
}

Status check_lap_line(const LapLine& line) {
  if (!line.path) return Error{"lap line: no path"};
  if (!line.path->closed()) return Error{"lap line: laps need a closed path, this one is open"};
  for (const auto* widths : {&line.width_right_m, &line.width_left_m}) {
    if (!widths->empty() && widths->size() != line.path->size()) {
      return Error{"lap line: " + std::to_string(widths->size()) + " widths for " + std::to_string(line.path->size()) + " points"};
    }
    for (std::size_t i = 0; i < widths->size(); ++i) {
      if (!std::isfinite((*widths)[i]) || (*widths)[i] < 0.0) {
        return Error{"lap line: width " + format_number((*widths)[i], 6) + " at point " + std::to_string(i) + "; allowed: 0 or more"};
      }
    }
  }
  return check_fields("laps", line.settings);
}

LapCounter::LapCounter(const LapLine& line) : line_(&line) {}

bool LapCounter::in_corridor(const tracks::Projection& foot) const {
  const auto& widths = foot.lateral_m < 0.0 ? line_->width_right_m : line_->width_left_m;
  return widths.empty() || std::abs(foot.lateral_m) <= interpolated(widths, *line_->path, foot);
}

void LapCounter::reset(Time now, Vec2 p_map) {
  const auto& path = *line_->path;
  const tracks::Projection foot = path.project(p_map);
  state_ = {};
  state_.s_m = foot.s_m;
  state_.lateral_m = foot.lateral_m;
  state_.in_corridor = in_corridor(foot);
  lap_times_.clear();
  lap_times_.reserve(kLapTimesKept);
  position_ = p_map;
  time_ = now;
  from_line_m_ = path.s_difference(foot.s_m, path.wrap_s(line_->settings.line_s_m));
  next_line_m_ = from_line_m_ < 0.0 ? 0.0 : path.length_m();
  if (state_.in_corridor && from_line_m_ >= 0.0 && from_line_m_ <= line_->settings.start_tolerance_m) {
    state_.started = true;
    state_.lap_started_s = now.seconds();
  }
}

void LapCounter::update(Time now, Vec2 p_map) {
  const auto& path = *line_->path;
  const double window = kWindow_m + kWindowPerWay * distance(position_, p_map);
  position_ = p_map;
  if (state_.in_corridor) {
    const tracks::Projection foot = path.project_near(p_map, state_.s_m, window, window);
    state_.lateral_m = foot.lateral_m;
    if (in_corridor(foot)) {
      advance_to(now, foot);
    } else {
      state_.in_corridor = false;
    }
  } else {
    const double reentry = line_->settings.reentry_m;
    // Twice as wide as what counts, so that a foot at the end of the window is told from one that counts.
    const tracks::Projection foot = path.project_near(p_map, state_.s_m, 2.0 * reentry, 2.0 * reentry);
    state_.lateral_m = foot.lateral_m;
    const double from_leaving = path.s_difference(foot.s_m, state_.s_m);
    const double length = path.length_m();
    const bool across_the_line = std::floor((from_line_m_ + from_leaving) / length) != std::floor(from_line_m_ / length);
    if (in_corridor(foot) && std::abs(from_leaving) <= reentry && !across_the_line) {
      state_.in_corridor = true;
      advance_to(now, foot);
    }
  }
  time_ = now;
}

void LapCounter::advance_to(Time now, const tracks::Projection& foot) {
  const double length = line_->path->length_m();
  const double way = line_->path->s_difference(foot.s_m, state_.s_m);
  const double before = from_line_m_;
  from_line_m_ += way;
  state_.progress_m += way;
  state_.s_m = foot.s_m;
  if (!state_.started && from_line_m_ < next_line_m_ - length) next_line_m_ -= length;
  if (from_line_m_ >= next_line_m_ && way > 0.0) {
    const double share = (next_line_m_ - before) / way;
    cross(time_.seconds() + share * (now - time_).seconds());
    next_line_m_ += length;
  }
}

void LapCounter::cross(double crossing_s) {
  if (state_.started) {
    state_.laps += 1;
    state_.last_lap_s = crossing_s - state_.lap_started_s;
    if (state_.laps == 1 || state_.last_lap_s < state_.best_lap_s) state_.best_lap_s = state_.last_lap_s;
    if (lap_times_.size() < kLapTimesKept) lap_times_.push_back(state_.last_lap_s);
  }
  state_.started = true;
  state_.lap_started_s = crossing_s;
}

}  // namespace pitwall::sim
