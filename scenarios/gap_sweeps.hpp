// SPDX-License-Identifier: Apache-2.0
// gap_follow on many layouts and seeds: alone (sweep_gap), and several cars of it against each other (eval_gap_multi).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "scenarios/outcome.hpp"
#include "scenarios/resolve.hpp"

namespace pitwall::scenarios {

/// "name=value" of --set as a key of the scenario: a name without a dot is a parameter of gap_follow.
std::string gap_assignment(const std::string& assignment);

/// A car that comes less than 0.5 m farther in this time has stalled, s.
inline constexpr double kStallAfter_s = 10.0;

/// The runs of sweep_gap: the scenario `gap` of the suite until `laps` laps, no contact, no stall. `options` brings data, tracks (groups
/// allowed; empty: indoor), seeds, car, fidelity, timeout and assignments.
Result<std::vector<ResolvedRun>> gap_sweep_runs(ValidationOptions options, double laps);

/// All runs on one track.
struct GapSweepRow {
  std::string track;
  int runs = 0;
  int passed = 0;
  int contacts = 0;  ///< runs with one
  int stalls = 0;
  double mean_lap_s = 0.0;  ///< of the runs with a lap; 0: none
  double best_lap_s = 0.0;
  double stops_s = 0.0;  ///< mean of all runs
  double min_clearance_m = 0.0;
};

/// Rows in the order in which their tracks come first.
std::vector<GapSweepRow> gap_sweep_rows(const std::vector<Outcome>& outcomes);
/// "indoor_oval  pass 6/6  contact 0  lap 12.31/12.20 s  stops 0.0 s  clearance 0.21 m".
std::string human_line(const GapSweepRow& row);
std::string json_line(const GapSweepRow& row);

/// What eval_gap_multi asks for.
struct GapMultiSettings {
  std::vector<double> speeds_mps;  ///< one for each car: its largest
  double laps = 1.0;               ///< what every car must come round
};

/// The runs of eval_gap_multi: cars at equal distances along the centre line, each with its own speed. `options` as above; tracks: one
/// or more (empty: indoor_wide). Errors: a speed out of range, more cars than fit.
Result<std::vector<ResolvedRun>> gap_multi_runs(ValidationOptions options, const GapMultiSettings& settings);

/// All runs on one track.
struct GapMultiRow {
  std::string track;
  int runs = 0;
  int passed = 0;
  std::int64_t wall = 0;     ///< contacts of any car with a wall
  std::int64_t car_car = 0;  ///< contacts between cars
  std::int64_t passes = 0;
  int stalls = 0;
  std::vector<double> mean_laps;  ///< of each car
};

std::vector<GapMultiRow> gap_multi_rows(const std::vector<Outcome>& outcomes);
/// "indoor_wide  pass 6/6  wall 0  car-car 0  passes 4  stalls 0  laps 1.00 1.91 1.95".
std::string human_line(const GapMultiRow& row);
std::string json_line(const GapMultiRow& row);

}  // namespace pitwall::scenarios
