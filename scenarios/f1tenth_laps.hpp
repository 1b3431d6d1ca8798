// SPDX-License-Identifier: Apache-2.0
// The suite `f1tenth_laps`: a published benchmark driven with its own rules (f1tenth_laps_rules.hpp), to show that the lap
// times which papers compare themselves with come out here too. What it measures says nothing about our cars: its plant has no
// friction limit, and its pure pursuit corners at up to 4 g.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/node.hpp"
#include "core/result.hpp"
#include "scenarios/f1tenth_course.hpp"

namespace pitwall::scenarios {

inline constexpr std::string_view kF1tenthLaps = "f1tenth_laps";

/// Ten laps of one planner on one map.
struct F1tenthLaps {
  std::string planner;  ///< pure_pursuit or follow_the_gap of the benchmark, or a law of ours
  std::string map;
  int finished = 0;
  int laps = 0;
  double mean_s = 0.0;  ///< of the finished laps
  bool known = false;   ///< whether the benchmark published this map
  double published_s = 0.0;
  int published_finished = 0;
  bool passed = false;                 ///< within 40 ms and as many finished (follow_the_gap: 1 % and three)
  std::vector<double> times_s;         ///< each lap; negative: crashed then
  std::vector<double> crash_progress;  ///< of the centre line, where one crashed
  bool law = false;                    ///< one of our steering laws; what follows is known of them only
  double planned_s = 0.0;              ///< a flying lap of its speed profile
  double mean_off_m = 0.0;             ///< from the line, by tracks/path_metrics: mean over the laps
  double p95_off_m = 0.0;              ///< of the worst lap
  double max_off_m = 0.0;
  double margin = 0.0;  ///< delay margin over total delay
};

/// One of our steering laws, on the benchmark's line or one of ours, with a speed profile of ours.
struct F1tenthLaw {
  std::string name;
  Node parameters = Node::map();  ///< of the law
  f1tenth::CourseLineSettings line;
};

/// Ten laps of the law on each map, at 50 Hz. Passed: all finished, within 0.05 m of the line on average and 0.13 m for 95 % of each lap,
/// and no slower than the best law that is known on this plant, on an optimised line at least 2 % faster.
Result<std::vector<F1tenthLaps>> run_f1tenth_law(const std::vector<std::string>& tracks, const F1tenthLaw& law,
                                                 const std::function<void(const F1tenthLaps&)>& on_finished,
                                                 const std::function<bool()>& interrupted);

/// Runs both planners on each map. `tracks` are the maps' yaml files without or with `.yaml`; beside each lie NAME_centerline.csv,
/// NAME_raceline_mu90.csv and start_poses.csv. `on_finished` hears of each result; `interrupted` ends the run early.
Result<std::vector<F1tenthLaps>> run_f1tenth_laps(const std::vector<std::string>& tracks, std::int64_t seed,
                                                  const std::function<void(const F1tenthLaps&)>& on_finished,
                                                  const std::function<bool()>& interrupted);

/// A line for people, and one of JSON.
std::string human_line(const F1tenthLaps& laps);
std::string json_line(const F1tenthLaps& laps);

}  // namespace pitwall::scenarios
