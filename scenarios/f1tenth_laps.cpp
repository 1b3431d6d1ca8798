// SPDX-License-Identifier: Apache-2.0
#include "scenarios/f1tenth_laps.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "core/text.hpp"
#include "scenarios/f1tenth_course.hpp"
#include "scenarios/f1tenth_law.hpp"
#include "tracks/path_metrics.hpp"

namespace pitwall::scenarios {
namespace {

using namespace f1tenth;

constexpr int kPlannerSteps = 4;
// Which laps of follow-the-gap crash is decided by the noise of its scans: on aut seeds 1 to 6 finish 7, 7, 8, 9, 9 and 9 of 10.
constexpr int kMissingGap = 3;

/// Table 1 of controllers.md: the paper's means, and how many of the ten laps behind them finish.
struct Published {
  const char* map;
  double pursuit_s;
  int pursuit_finished;
  double gap_s;
  int gap_finished;
  double best_s;  ///< table 2: an LQR at 50 to 100 Hz, of the laps that it finishes
  int best_finished;
};
constexpr std::array<Published, 4> kPublished = {{{"aut", 16.788, 10, 19.097, 7, 16.43, 10},
                                                  {"esp", 35.920, 5, 45.784, 10, 35.41, 10},
                                                  {"gbr", 31.244, 10, 39.336, 10, 30.51, 10},
                                                  {"mco", 28.080, 2, 34.987, 9, 27.43, 5}}};
/// What our laws are to hold on it.
constexpr double kMeanOff_m = 0.05;
constexpr double kP95Off_m = 0.13;
constexpr double kOwnLine = 0.98;  ///< of the best known time, on a line of ours

void count(F1tenthLaps& laps, const Lap& lap) {
  ++laps.laps;
  laps.finished += lap.finished ? 1 : 0;
  laps.times_s.push_back(lap.finished ? lap.time_s : -lap.time_s);
  if (!lap.finished) laps.crash_progress.push_back(lap.at_progress);
}

double mean_of_finished(const F1tenthLaps& laps) {
  double sum = 0.0;
  for (const double t : laps.times_s) sum += t > 0.0 ? t : 0.0;
  return laps.finished > 0 ? sum / laps.finished : 0.0;
}

void judge(F1tenthLaps& laps, bool by_gap) {
  laps.mean_s = mean_of_finished(laps);
  for (const Published& p : kPublished) {
    if (laps.map != p.map) continue;
    laps.known = true;
    laps.published_s = by_gap ? p.gap_s : p.pursuit_s;
    laps.published_finished = by_gap ? p.gap_finished : p.pursuit_finished;
  }
  const double off = std::abs(laps.mean_s - laps.published_s);
  const int missing = std::abs(laps.finished - laps.published_finished);
  if (!laps.known) {
    laps.passed = laps.finished > 0;
  } else if (by_gap) {
    laps.passed = off <= 0.01 * laps.published_s && missing <= kMissingGap;
  } else {
    laps.passed = off <= kPlannerSteps * kStep_s + 1e-9 && missing == 0;
  }
}

/// Adds how well a lap kept to the given line: the mean over laps, and the worst lap's percentile and maximum.
void add_tracking(F1tenthLaps& laps, const tracks::Path& given, std::span<const tracks::PathSample> samples) {
  const Result<tracks::PathReport> report = tracks::path_metrics(given, samples);
  if (!report) return;  // crashed before the first decision
  const tracks::ErrorSpread& off = report->whole.cross_track_m;
  laps.mean_off_m += (off.mean_abs - laps.mean_off_m) / static_cast<double>(laps.laps);
  laps.p95_off_m = std::max(laps.p95_off_m, off.p95);
  laps.max_off_m = std::max(laps.max_off_m, off.max);
}

/// Ten laps of a law on one map.
F1tenthLaps law_laps(const Course& course, const tracks::Path& given, LawPlanner& planner, const F1tenthLaw& law,
                     const std::function<bool()>& interrupted) {
  F1tenthLaps laps;
  laps.planner = law.name;
  laps.map = course.name;
  laps.law = true;
  laps.planned_s = planner.planned_s();
  laps.margin = planner.margin().value;
  std::vector<tracks::PathSample> samples;
  for (const StartPose& start : course.starts) {
    if (interrupted()) break;
    planner.reset();
    samples.clear();
    const auto plan = [&](double now, const Pose2& pose, double speed_mps) {
      samples.push_back({.time_s = now, .pose = base_link_of(pose, speed_mps), .speed_mps = speed_mps});
      return planner.plan(Time{} + from_seconds(now), pose, speed_mps);
    };
    count(laps, drive(course, start, LawPlanner::kSteps, plan));
    add_tracking(laps, given, samples);
  }
  laps.mean_s = mean_of_finished(laps);
  for (const Published& p : kPublished) {
    if (laps.map != p.map) continue;
    laps.known = true;
    laps.published_s = p.best_s;
    laps.published_finished = p.best_finished;
  }
  const double allowed_s = (law.line.choice == LineChoice::kOptimized ? kOwnLine : 1.0) * laps.published_s;
  laps.passed = laps.laps > 0 && laps.finished == laps.laps && laps.mean_off_m <= kMeanOff_m && laps.p95_off_m <= kP95Off_m &&
                (!laps.known || laps.mean_s <= allowed_s);
  return laps;
}

}  // namespace

Result<std::vector<F1tenthLaps>> run_f1tenth_law(const std::vector<std::string>& tracks, const F1tenthLaw& law,
                                                 const std::function<void(const F1tenthLaps&)>& on_finished,
                                                 const std::function<bool()>& interrupted) {
  if (tracks.empty()) return Error{"scenario f1tenth_laps: --tracks is needed: the maps of the benchmark, such as .../evans/aut"};
  std::vector<F1tenthLaps> results;
  for (const std::string& argument : tracks) {
    const Result<Course> course = load_course(argument);
    if (!course) return course.error();
    const Result<CourseLine> line = line_of(*course, law.line);
    if (!line) return line.error();
    auto planner = LawPlanner::make(law.name, law.parameters, line->followed);
    if (!planner) return planner.error();
    results.push_back(law_laps(*course, line->measured, **planner, law, interrupted));
    if (interrupted()) return results;
    on_finished(results.back());
  }
  return results;
}

Result<std::vector<F1tenthLaps>> run_f1tenth_laps(const std::vector<std::string>& tracks, std::int64_t seed,
                                                  const std::function<void(const F1tenthLaps&)>& on_finished,
                                                  const std::function<bool()>& interrupted) {
  if (tracks.empty()) return Error{"scenario f1tenth_laps: --tracks is needed: the maps of the benchmark, such as .../evans/aut"};
  std::vector<Course> courses;
  for (const std::string& track : tracks) {
    Result<Course> course = load_course(track);
    if (!course) return course.error();
    courses.push_back(*std::move(course));
  }
  std::vector<F1tenthLaps> results;
  for (const bool by_gap : {false, true}) {
    for (const Course& course : courses) {
      F1tenthLaps laps;
      laps.planner = by_gap ? "follow_the_gap" : "pure_pursuit";
      laps.map = course.name;
      const Rng noise(static_cast<std::uint64_t>(seed), course.name + "/lidar");
      std::uint64_t scans = 0;
      std::vector<double> ranges;
      for (const StartPose& start : course.starts) {
        if (interrupted()) return results;
        const auto plan = [&](double /*now*/, const Pose2& pose, double speed_mps) {
          if (!by_gap) return pure_pursuit(course.line, pose, speed_mps);
          course.grid.scan(pose, noise, scans++, ranges);
          return follow_the_gap(ranges);
        };
        count(laps, drive(course, start, kPlannerSteps, plan));
      }
      judge(laps, by_gap);
      on_finished(laps);
      results.push_back(std::move(laps));
    }
  }
  return results;
}

std::string human_line(const F1tenthLaps& laps) {
  std::string line = std::string(laps.passed ? "PASS" : "FAIL") + "  " + laps.planner + std::string(16 - laps.planner.size(), ' ') +
                     laps.map + "  finished " + std::to_string(laps.finished) + "/" + std::to_string(laps.laps) + "  mean lap " +
                     format_number(laps.mean_s, 5) + " s";
  if (laps.known) {
    line += "  (published " + format_number(laps.published_s, 5) + " s, " + std::to_string(laps.published_finished) + "/10)";
  }
  if (laps.law) {
    line += "  planned " + format_number(laps.planned_s, 5) + " s  off the line mean " + format_number(laps.mean_off_m, 3) + " m, p95 " +
            format_number(laps.p95_off_m, 3) + " m, max " + format_number(laps.max_off_m, 3) + " m  delay margin " +
            format_number(laps.margin, 3);
  }
  if (!laps.crash_progress.empty()) {
    const auto [low, high] = std::minmax_element(laps.crash_progress.begin(), laps.crash_progress.end());
    line += "  crashes at progress " + format_number(*low, 4) + " .. " + format_number(*high, 4);
  }
  return line;
}

std::string json_line(const F1tenthLaps& laps) {
  nlohmann::json json = {{"scenario", kF1tenthLaps},       {"planner", laps.planner},     {"track", laps.map},
                         {"passed", laps.passed},          {"finished", laps.finished},   {"laps", laps.laps},
                         {"mean_lap_time_s", laps.mean_s}, {"lap_times_s", laps.times_s}, {"crash_progress", laps.crash_progress}};
  if (laps.law) {
    json["planned_lap_time_s"] = laps.planned_s;
    json["mean_off_line_m"] = laps.mean_off_m;
    json["p95_off_line_m"] = laps.p95_off_m;
    json["max_off_line_m"] = laps.max_off_m;
    json["stability_margin"] = laps.margin;
  }
  if (laps.known) {
    json["published_lap_time_s"] = laps.published_s;
    json["published_finished"] = laps.published_finished;
  }
  return json.dump();
}

}  // namespace pitwall::scenarios
