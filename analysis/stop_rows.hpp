// SPDX-License-Identifier: Apache-2.0
// The stops of a hold, each attributed to the layer that made it: those of the controller by its replay, and those that no controller made
// (silence of its commands, the operator, a supervisor between it and the car, the car's own driver).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/response.hpp"
#include "analysis/run_analysis.hpp"

namespace pitwall::analysis {

struct StopRow {
  double begin_s = 0.0;
  double end_s = 0.0;     ///< of the last tick of it
  std::size_t ticks = 0;  ///< commands of zero speed; 0 where there were none
  std::string layer;      ///< "watchdog", "safety", "law", "command_stage", "drive_silent", "teleop", "supervisor", "driver", "unexplained"
  std::string reason;
  std::string recorded;               ///< "safety: ttc_brake" as the run's own ticks say; empty without ticks
  const StopEvent* event = nullptr;   ///< of the controller's stops
  StopGeometry geometry;              ///< with the stopping distance of the measured lag
  std::optional<StopGeometry> truth;  ///< the same from true pose, speed and map of a simulated run
  [[nodiscard]] bool agrees() const { return recorded.empty() || recorded == layer + ": " + reason; }
};

/// Longest pause between commands after which a car stops by itself.
inline constexpr double kDriveSilence_s = 0.2;

/// In the order of time. `measured` is the motion in that time, `response_s` the lag of the speed, for stopping distances. Layer "driver"
/// is a car that stands or brakes although it has been told to drive for longer than its lag: what was commanded did not reach the wheels.
std::vector<StopRow> stops_of(const RunAnalysis& analysis, const Hold& hold, const MeasuredMotion& measured, double response_s);

}  // namespace pitwall::analysis
