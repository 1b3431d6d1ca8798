// SPDX-License-Identifier: Apache-2.0
// How well a line was followed: signed distance from its segments, heading and course against it, per lap and over all, each
// weighted by the distance driven (by time, slow corners would count for more). What scenarios, sweeps and the reports of
// recorded runs share.
//
// Poses and path are in one frame: who has them in two joins them first. The place on the path is searched around the last
// one, so that a crossing or a leg nearby is never mistaken for it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/fields.hpp"
#include "core/geometry.hpp"
#include "core/result.hpp"
#include "tracks/path.hpp"

namespace pitwall::tracks {

/// What a car does to get out of trouble. Its beginnings are counted.
enum class Recovery : std::uint8_t { kNone, kEscapeCrawl, kOffLine, kAbortedPass };
inline constexpr std::array<std::string_view, 4> kRecoveryNames{"none", "escape_crawl", "off_line", "aborted_pass"};

/// The car at one instant, in the frame of the path.
struct PathSample {
  double time_s = 0.0;
  Pose2 pose;              ///< of base_link
  double speed_mps = 0.0;  ///< along the car
  /// Direction of motion (yaw and slip angle); nothing where it is not known.
  std::optional<double> course_rad = std::nullopt;
  std::optional<double> commanded_mps = std::nullopt;
  Recovery recovery = Recovery::kNone;
};

struct PathMetricsSettings {
  double window_back_m = 1.0;
  double window_ahead_m = 2.0;  ///< beyond what the car moved
  double lost_m = 2.0;          ///< farther away than this, the whole path is searched
  double jitter_m = 0.01;       ///< motion below it counts only once it has added up
  double launch_speed_mps = 1.0;
  double launch_lateral_m = 0.1;  ///< the launch lasts until the car was once faster than that and nearer than this
  bool by_distance = true;        ///< weights; off: each sample counts the same
  void fields(FieldVisitor& f);
};

/// A signed error over a stretch. Percentiles are of its amount, by linear interpolation (numpy's default, where all weights
/// are equal).
struct ErrorSpread {
  std::int64_t samples = 0;
  double mean = 0.0;  ///< signed: the bias
  double mean_abs = 0.0;
  double rms = 0.0;
  double sd = 0.0;  ///< of the population
  double p50 = 0.0;
  double p95 = 0.0;
  double p99 = 0.0;
  double max = 0.0;  ///< largest amount, and where it was
  double max_at_s_m = 0.0;
  double max_at_time_s = 0.0;
};

/// A lap, or all of a run. Errors leave out the launch; times and ways do not.
struct PathStretch {
  std::int64_t samples = 0;
  double time_s = 0.0;
  double driven_m = 0.0;
  double progress_m = 0.0;
  std::optional<double> ratio;               ///< driven over progress; below 1 the car cut corners; nothing without progress
  std::optional<double> progress_speed_mps;  ///< progress over time; nothing without time
  std::optional<double> speed_of_commanded;  ///< mean of speeds over mean of commands; nothing where none was known
  ErrorSpread cross_track_m;                 ///< positive: left of the path
  ErrorSpread heading_rad;                   ///< yaw against the path
  std::optional<ErrorSpread> course_rad;     ///< yaw and slip angle against the path; at the limit of grip they differ by degrees
};

/// All of a run.
struct PathReport {
  PathStretch whole;
  std::vector<PathStretch> laps;  ///< whole laps of a closed path, from the first sample on
  double launch_time_s = 0.0;     ///< until the launch was over; all of the run if it never was
  bool launched = false;
  std::array<std::int64_t, kRecoveryNames.size()> recoveries{};  ///< beginnings, by Recovery
  std::int64_t searches = 0;                                     ///< how often the car was lost and the whole path searched
  [[nodiscard]] std::int64_t all_recoveries() const;
};

/// Measures a run along a path. Refused: no samples, values that are not finite, times that go back.
Result<PathReport> path_metrics(const Path& path, std::span<const PathSample> samples, const PathMetricsSettings& settings = {});

/// The value below which `share` of the weight lies, of (value, weight) pairs in ascending order; weights above 0.
double weighted_percentile(std::span<const std::pair<double, double>> sorted, double share);

/// Bands, best first.
enum class Grade { kExcellent, kGood, kAttention, kPoor };
inline constexpr std::array<std::string_view, 4> kGradeNames{"excellent", "good", "attention", "poor"};

/// Bands of indoor robots: mean amount of the distance 0.10 / 0.20 / 0.30 m.
Grade grade_indoor_distance(double mean_abs_m);
/// 0.1 / 0.3 / 0.5 rad.
Grade grade_heading(double mean_abs_rad);
/// 5 / 15 / 30 % longer than the path, or as much shorter.
Grade grade_way(double ratio);
/// Bands of 1:10 racing: mean and 95th percentile 0.05 and 0.13, 0.10 and 0.22, 0.15 and 0.35 m; the worse of both.
Grade grade_racing(const ErrorSpread& cross_track_m);
/// 95th percentile against the free half width (half the track less half the car): 25 % excellent, 50 % attention, else poor.
Grade grade_of_room(double p95_m, double free_half_width_m);
/// Achieved over planned lap: 1.02 excellent, 1.05 good, 1.10 attention.
Grade grade_lap(double achieved_over_planned);

}  // namespace pitwall::tracks
