// SPDX-License-Identifier: Apache-2.0
// How well a recorded run followed what was planned: for each goal of /plan, or each lap of a line from a file, by tracks/path_metrics.
//
// Poses and plan are brought into one frame by /tf at the stamp. A goal is a stretch of plans that end at one place; what was planned for
// it is each of its plans as far as it was in force. The history is a CSV file with a line for each goal or lap, which is how a trend over
// test days is seen and judged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/gated_report.hpp"
#include "core/geometry.hpp"
#include "core/result.hpp"
#include "core/time.hpp"
#include "tracks/path_metrics.hpp"

namespace pitwall::analysis {

/// A goal or lap.
struct PathGoal {
  std::string kind;  ///< "goal", "lap"
  std::size_t number = 0;
  Time start;
  double planned_m = 0.0;
  tracks::PathStretch stretch;
  std::size_t reversals = 0;  ///< beginnings of driving backwards, as a robot does to get out of trouble
  [[nodiscard]] std::optional<double> driven_of_planned() const {
    return planned_m > 0.0 ? std::optional(stretch.driven_m / planned_m) : std::nullopt;
  }
};

/// A plan and when it came.
struct TimedPlan {
  double t_s = 0.0;
  std::vector<Vec2> points;
};

/// What was planned for one goal: each plan from its point nearest to the vehicle when it came to that nearest when the next one did.
/// Points nearer than 1 mm to the one before are dropped. Errors: less than two points are left.
Result<tracks::Path> stitched(const std::vector<TimedPlan>& plans, const std::vector<tracks::PathSample>& samples);

/// Goals of plans, in order: a plan that ends more than `same_goal_m` from the end of the one before begins a goal. Samples before the
/// first plan do not count. Errors: no sample after a plan.
Result<std::vector<PathGoal>> goals_of(const std::vector<TimedPlan>& plans, const std::vector<tracks::PathSample>& samples, Time origin,
                                       double same_goal_m = 0.25);
/// Laps along a closed line; of an open one, all of it as one.
Result<std::vector<PathGoal>> laps_of(const tracks::Path& line, const std::vector<tracks::PathSample>& samples, Time origin);

/// A line of the history.
struct HistoryLine {
  std::string recording;
  std::string kind;
  std::int64_t start_ns = 0;
  std::size_t number = 0;
  double planned_m = 0.0, driven_m = 0.0, time_s = 0.0;
  double cte_mean_m = 0.0, cte_rms_m = 0.0, cte_p95_m = 0.0, cte_max_m = 0.0;
  double heading_mean_deg = 0.0;
  [[nodiscard]] bool same_as(const HistoryLine& other) const {
    return kind == other.kind && start_ns == other.start_ns && number == other.number;
  }
};
/// Errors name file, line and what is wrong in it.
Result<std::vector<HistoryLine>> parse_history(std::string_view text, const std::string& name);
std::string history_text(const std::vector<HistoryLine>& lines);

/// Longest run of lines above `max_cte_m` that has at least one of `current` (flags) in it.
std::size_t longest_bad_run(const std::vector<HistoryLine>& lines, const std::vector<bool>& current, double max_cte_m);

struct PathReportOptions {
  std::filesystem::path line;  ///< of a file, closed; empty: /plan
  bool open_line = false;
  std::string plan_topic = "/plan";
  std::string car;  ///< of several in a run folder
  std::filesystem::path history;
  std::optional<double> max_cte_m;
  std::size_t consecutive = 1;
};

GatedReport path_report(const std::filesystem::path& recording, const PathReportOptions& options);

}  // namespace pitwall::analysis
