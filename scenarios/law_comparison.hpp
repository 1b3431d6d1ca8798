// SPDX-License-Identifier: Apache-2.0
// Whether a steering law is better than pure pursuit: the same scenarios with both, and a rule that was written before the runs.
//
// A candidate is promoted iff
//   1. every run of it finished a lap, touched nothing, kept within 0.5 m of the line, and its law failed on no tick,
//   2. its mean distance from the line, or its mean lap time, over all runs is below the baseline's,
//   3. neither is more than 5 % above the baseline's.
// Where the baseline itself breaks 1 there is nothing to compare with: invalid. Means are of all runs, never of the finished ones.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/outcome.hpp"
#include "scenarios/resolve.hpp"
#include "scenarios/runner.hpp"

namespace pitwall::scenarios {

inline constexpr std::string_view kBaselineLaw = "pure_pursuit";
/// The counter under which a stopwatch around a controller reports.
inline constexpr std::string_view kHostP99_us = "host_cpu_p99_us";

/// One run of one law, as far as the rule looks.
struct LawRow {
  std::string track;
  std::string raceline;
  std::int64_t seed = 0;
  std::int64_t laps = 0;
  bool collision = false;  ///< touched a wall or left the map
  double mean_cross_track_m = 0.0;
  double p95_cross_track_m = 0.0;
  double max_cross_track_m = 0.0;
  std::optional<double> lap_time_s;
  std::int64_t law_fail_steps = 0;      ///< ticks on which the law gave no angle, or had given up
  std::optional<double> host_p99_us{};  ///< of the controller's ticks on this computer, where somebody measured it; judges nothing
};

LawRow law_row(const Outcome& outcome);

enum class Promotion : std::uint8_t { kPromote, kReject, kInvalid };
inline constexpr std::array<std::string_view, 3> kPromotionNames{"PROMOTE", "REJECT", "INVALID"};

struct Verdict {
  Promotion promotion = Promotion::kReject;
  std::vector<std::string> reasons;  ///< every condition that failed, with the run or the figures
};

/// The rule. Rows are matched by track, seed and line. Errors: rows of one that the other lacks or has twice ("unmatched"), a
/// figure that is not finite ("non-finite"), no rows.
Result<Verdict> judge_law(const std::vector<LawRow>& baseline, const std::vector<LawRow>& candidate);

/// All runs of one law.
struct LawRuns {
  std::string law;
  std::vector<Outcome> outcomes;
  std::optional<Verdict> verdict;  ///< none for the baseline
};

/// How a list of runs is driven: run_all(), or the same with a journal.
using RunMany = std::function<Status(const std::vector<ResolvedRun>&, const std::function<void(const Finished&)>&)>;

/// Runs the scenarios of `options` with the baseline and with each of `laws`, and judges. `on_finished` hears of every run. Errors:
/// unknown laws, the baseline among them more than once, profile legacy, parameters of a law where there are several. After an
/// interrupt: what has finished, without verdicts.
Result<std::vector<LawRuns>> compare_laws(const ValidationOptions& options, const std::vector<std::string>& laws, int jobs,
                                          const std::atomic<bool>& stop,
                                          const std::function<void(const std::string& law, const Outcome&)>& on_finished);

Result<std::vector<LawRuns>> compare_laws(const ValidationOptions& options, const std::vector<std::string>& laws,
                                          const std::atomic<bool>& stop, const RunMany& run_many,
                                          const std::function<void(const std::string& law, const Outcome&)>& on_finished);

/// A Markdown table, law by track: runs that finished first, then lap time, distances, ticks on which the law failed and, where it was
/// measured, the tick's CPU time on this computer; and a line for each verdict.
std::string comparison_markdown(const std::vector<LawRuns>& laws);
/// The same and every row, on one line.
std::string comparison_json(const std::vector<LawRuns>& laws);

}  // namespace pitwall::scenarios
