// SPDX-License-Identifier: Apache-2.0
#include "tracks/path_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/check.hpp"

namespace pitwall::tracks {
namespace {

/// A sample, placed on the path.
struct Placed {
  double s_m = 0.0;
  double progress_m = 0.0;  // since the first sample
  double driven_m = 0.0;
  double lateral_m = 0.0;
  double heading_rad = 0.0;
  std::optional<double> course_rad;
  bool launched = false;
};

Status check(std::span<const PathSample> samples) {
  if (samples.empty()) return Error{"path metrics: no samples"};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const PathSample& s = samples[i];
    const bool finite = std::isfinite(s.time_s) && std::isfinite(s.pose.x) && std::isfinite(s.pose.y) && std::isfinite(s.pose.yaw) &&
                        std::isfinite(s.speed_mps) && std::isfinite(s.course_rad.value_or(0.0)) &&
                        std::isfinite(s.commanded_mps.value_or(0.0));
    if (!finite) return Error{"path metrics: sample " + std::to_string(i + 1) + " is not finite"};
    if (i > 0 && s.time_s < samples[i - 1].time_s)
      return Error{"path metrics: the time of sample " + std::to_string(i + 1) + " is before that of the one before it"};
  }
  return {};
}

/// Follows the car along the path.
class Tracer {
 public:
  Tracer(const Path& path, const PathMetricsSettings& settings) : path_(path), settings_(settings) {}

  Placed place(const PathSample& sample) {
    const Vec2 p = sample.pose.position();
    const Projection at = first_ ? search(sample.pose) : follow(sample.pose);
    Placed placed;
    if (first_) {
      counted_from_ = p;
    } else {
      progress_m_ += path_.s_difference(at.s_m, s_m_);
    }
    const double moved = distance(p, counted_from_);
    if (moved >= settings_.jitter_m) {
      driven_m_ += moved;
      counted_from_ = p;
    }
    first_ = false;
    s_m_ = at.s_m;
    last_ = p;
    launched_ = launched_ || (sample.speed_mps > settings_.launch_speed_mps && std::fabs(at.lateral_m) < settings_.launch_lateral_m);
    placed.s_m = at.s_m;
    placed.progress_m = progress_m_;
    placed.driven_m = driven_m_;
    placed.lateral_m = at.lateral_m;
    const double along = path_.heading_at(at.s_m);
    placed.heading_rad = wrap_angle(sample.pose.yaw - along);
    if (sample.course_rad) placed.course_rad = wrap_angle(*sample.course_rad - along);
    placed.launched = launched_;
    return placed;
  }

  [[nodiscard]] std::int64_t searches() const { return searches_; }

 private:
  /// The nearest place of the whole path, where several are about as near the one that runs as the car points.
  [[nodiscard]] Projection search(const Pose2& pose) const {
    constexpr double kPiece_m = 1.0;
    constexpr double kMetresPerRad = 1.0;
    const Vec2 p = pose.position();
    Projection best = path_.project(p);
    double least = distance(p, best.foot) + kMetresPerRad * std::fabs(wrap_angle(pose.yaw - path_.heading_at(best.s_m)));
    for (double s = 0.0; s < path_.length_m(); s += kPiece_m) {
      const Projection at = path_.project_near(p, s, 0.0, kPiece_m);
      const double cost = distance(p, at.foot) + kMetresPerRad * std::fabs(wrap_angle(pose.yaw - path_.heading_at(at.s_m)));
      if (cost < least) {
        least = cost;
        best = at;
      }
    }
    return best;
  }

  Projection follow(const Pose2& pose) {
    const Vec2 p = pose.position();
    const double moved = distance(p, last_);
    const Projection near = path_.project_near(p, s_m_, settings_.window_back_m + moved, settings_.window_ahead_m + moved);
    if (std::fabs(near.lateral_m) <= settings_.lost_m) return near;
    ++searches_;
    return search(pose);
  }

  const Path& path_;
  const PathMetricsSettings& settings_;
  bool first_ = true;
  bool launched_ = false;
  double s_m_ = 0.0;
  double progress_m_ = 0.0;
  double driven_m_ = 0.0;
  Vec2 last_;
  Vec2 counted_from_;
  std::int64_t searches_ = 0;
};

/// One error of a sample with its weight and place.
struct Weighed {
  double value;
  double weight;
  double s_m;
  double time_s;
};

ErrorSpread spread_of(const std::vector<Weighed>& errors) {
  ErrorSpread spread;
  spread.samples = static_cast<std::int64_t>(errors.size());
  double total = 0.0;
  for (const Weighed& e : errors) total += e.weight;
  const bool alike = !(total > 0.0);  // a car that stands has driven no distance to weigh with
  if (errors.empty()) return spread;
  if (alike) total = static_cast<double>(errors.size());
  std::vector<std::pair<double, double>> amounts;
  double square = 0.0;
  for (const Weighed& e : errors) {
    const double weight = alike ? 1.0 : e.weight;
    const double amount = std::fabs(e.value);
    if (amount >= spread.max) {
      spread.max = amount;
      spread.max_at_s_m = e.s_m;
      spread.max_at_time_s = e.time_s;
    }
    if (weight <= 0.0) continue;
    spread.mean += weight * e.value / total;
    spread.mean_abs += weight * amount / total;
    square += weight * e.value * e.value / total;
    amounts.emplace_back(amount, weight);
  }
  spread.rms = std::sqrt(square);
  spread.sd = std::sqrt(std::max(0.0, square - spread.mean * spread.mean));
  std::sort(amounts.begin(), amounts.end());
  spread.p50 = weighted_percentile(amounts, 0.50);
  spread.p95 = weighted_percentile(amounts, 0.95);
  spread.p99 = weighted_percentile(amounts, 0.99);
  return spread;
}

/// What a stretch of samples [from, to] gives.
PathStretch stretch_of(std::span<const PathSample> samples, const std::vector<Placed>& placed, std::size_t from, std::size_t to,
                       bool by_distance) {
  PathStretch stretch;
  stretch.samples = static_cast<std::int64_t>(to - from + 1);
  stretch.time_s = samples[to].time_s - samples[from].time_s;
  stretch.driven_m = placed[to].driven_m - placed[from].driven_m;
  stretch.progress_m = placed[to].progress_m - placed[from].progress_m;
  if (stretch.progress_m > 0.0) stretch.ratio = stretch.driven_m / stretch.progress_m;
  if (stretch.time_s > 0.0) stretch.progress_speed_mps = stretch.progress_m / stretch.time_s;
  std::vector<Weighed> across;
  std::vector<Weighed> heading;
  std::vector<Weighed> course;
  double speed = 0.0;
  double commanded = 0.0;
  for (std::size_t i = from; i <= to; ++i) {
    if (samples[i].commanded_mps) {
      speed += samples[i].speed_mps;
      commanded += *samples[i].commanded_mps;
    }
    if (!placed[i].launched) continue;
    const double before = i > from ? placed[i].driven_m - placed[i - 1].driven_m : 0.0;
    const double after = i < to ? placed[i + 1].driven_m - placed[i].driven_m : 0.0;
    const double weight = by_distance ? 0.5 * (before + after) : 1.0;
    across.push_back({placed[i].lateral_m, weight, placed[i].s_m, samples[i].time_s});
    heading.push_back({placed[i].heading_rad, weight, placed[i].s_m, samples[i].time_s});
    if (placed[i].course_rad) course.push_back({*placed[i].course_rad, weight, placed[i].s_m, samples[i].time_s});
  }
  if (commanded > 0.0) stretch.speed_of_commanded = speed / commanded;
  stretch.cross_track_m = spread_of(across);
  stretch.heading_rad = spread_of(heading);
  if (!course.empty()) stretch.course_rad = spread_of(course);
  return stretch;
}

/// The place among four bands.
Grade band(double value, double excellent, double good, double attention) {
  if (value <= excellent) return Grade::kExcellent;
  if (value <= good) return Grade::kGood;
  return value <= attention ? Grade::kAttention : Grade::kPoor;
}

}  // namespace

void PathMetricsSettings::fields(FieldVisitor& f) {
  f.number("window_back_m", window_back_m, {"m", 0.0, 1000.0, "how far behind the last place the car is looked for"});
  f.number("window_ahead_m", window_ahead_m, {"m", 0.0, 1000.0, "and how far ahead"});
  f.number("lost_m", lost_m, {"m", 0.0, 1000.0, "farther away than this, the whole path is searched"});
  f.number("jitter_m", jitter_m, {"m", 0.0, 10.0, "motion below it counts only once it has added up"});
  f.number("launch_speed_mps", launch_speed_mps, {"m/s", 0.0, 100.0, "the launch is over once the car was faster than that"});
  f.number("launch_lateral_m", launch_lateral_m, {"m", 0.0, 1000.0, "and nearer to the path than this"});
  f.flag("by_distance", by_distance, "errors are weighted by the distance driven");
}

std::int64_t PathReport::all_recoveries() const {
  std::int64_t sum = 0;
  for (std::size_t k = 1; k < recoveries.size(); ++k) sum += recoveries[k];
  return sum;
}

Result<PathReport> path_metrics(const Path& path, std::span<const PathSample> samples, const PathMetricsSettings& settings) {
  if (const Status good = check(samples); !good) return good.error();
  PathReport report;
  Tracer tracer(path, settings);
  std::vector<Placed> placed;
  placed.reserve(samples.size());
  std::vector<std::size_t> lap_starts{0};
  std::vector<double> lap_times_s{samples.front().time_s};
  Recovery doing = Recovery::kNone;
  for (const PathSample& sample : samples) {
    placed.push_back(tracer.place(sample));
    const double goal_m = static_cast<double>(lap_starts.size()) * path.length_m();
    if (path.closed() && placed.back().progress_m >= goal_m) {
      const double before_m = placed[placed.size() - 2].progress_m;
      const double before_s = samples[placed.size() - 2].time_s;
      lap_times_s.push_back(before_s + (goal_m - before_m) / (placed.back().progress_m - before_m) * (sample.time_s - before_s));
      lap_starts.push_back(placed.size() - 1);
    }
    if (sample.recovery != doing && sample.recovery != Recovery::kNone) ++report.recoveries[static_cast<std::size_t>(sample.recovery)];
    doing = sample.recovery;
    if (!placed.back().launched) report.launch_time_s = sample.time_s - samples.front().time_s;
  }
  report.launched = placed.back().launched;
  report.searches = tracer.searches();
  report.whole = stretch_of(samples, placed, 0, samples.size() - 1, settings.by_distance);
  for (std::size_t k = 0; k + 1 < lap_starts.size(); ++k) {
    report.laps.push_back(stretch_of(samples, placed, lap_starts[k], lap_starts[k + 1], settings.by_distance));
    report.laps.back().time_s = lap_times_s[k + 1] - lap_times_s[k];
  }
  return report;
}

double weighted_percentile(std::span<const std::pair<double, double>> sorted, double share) {
  PITWALL_CHECK(!sorted.empty() && share >= 0.0 && share <= 1.0, sorted.size(), share);
  double total = 0.0;
  for (const auto& [value, weight] : sorted) total += weight;
  // Each value stands in the middle of its weight; the ends of the scale are the first and the last value.
  const double first = 0.5 * sorted.front().second;
  const double wanted = first + share * (total - first - 0.5 * sorted.back().second);
  double before = first;
  for (std::size_t i = 0; i + 1 < sorted.size(); ++i) {
    const double next = before + 0.5 * (sorted[i].second + sorted[i + 1].second);
    if (wanted < next) return sorted[i].first + (wanted - before) / (next - before) * (sorted[i + 1].first - sorted[i].first);
    before = next;
  }
  return sorted.back().first;
}

Grade grade_indoor_distance(double mean_abs_m) { return band(mean_abs_m, 0.10, 0.20, 0.30); }
Grade grade_heading(double mean_abs_rad) { return band(mean_abs_rad, 0.1, 0.3, 0.5); }
Grade grade_way(double ratio) { return band(ratio >= 1.0 ? ratio : 1.0 / ratio, 1.05, 1.15, 1.30); }
Grade grade_racing(const ErrorSpread& cross_track_m) {
  return std::max(band(cross_track_m.mean_abs, 0.05, 0.10, 0.15), band(cross_track_m.p95, 0.13, 0.22, 0.35));
}
Grade grade_of_room(double p95_m, double free_half_width_m) {
  return band(p95_m, 0.25 * free_half_width_m, 0.25 * free_half_width_m, 0.5 * free_half_width_m);
}
Grade grade_lap(double achieved_over_planned) { return band(achieved_over_planned, 1.02, 1.05, 1.10); }

}  // namespace pitwall::tracks
