// SPDX-License-Identifier: Apache-2.0
// Whether the car turned as it was told, turn by turn: what was commanded beside what gyros, scans and odometry saw of it.
//
// A turn is a stretch of |commanded turn rate| above 0.3 rad/s, of one sign, for 0.3 s or longer; gaps shorter than 0.1 s are bridged.
#pragma once

#include <optional>
#include <vector>

#include "analysis/imu_run.hpp"
#include "analysis/turn_rates.hpp"

namespace pitwall::analysis {

struct Turn {
  double begin_s = 0.0;
  double end_s = 0.0;
  bool left = true;
};
/// Turns of a commanded rate; it holds each value until the next.
std::vector<Turn> find_turns(const RateSource& commanded);

/// What a source saw of a turn, its own lag taken out.
struct TurnSeen {
  double heading_rad = NAN;  ///< turned by; NaN where the source does not cover the turn
  double onset_s = NAN;      ///< later than the command through half of 0.3 rad/s; NaN where it was past that already
  double peak_radps = NAN;   ///< largest rate in the direction of the turn
};
TurnSeen seen_in(const RateSource& source, const RateSource& commanded, const Turn& turn, double lag_s);

struct YawTrackingOptions {
  ImuRunOptions run;
  std::optional<double> max_ratio_error;  ///< of the turned over the commanded angle, median of the turns, less 1
  std::optional<double> max_lag_ms;       ///< of the turn rate behind the command
};

/// Errors: as load_imu_run; no commands; neither gyro nor scans; no commanded turn.
Result<ReportResult> yaw_tracking(const YawTrackingOptions& options);

}  // namespace pitwall::analysis
