// SPDX-License-Identifier: Apache-2.0
// The landscape as the reference looks at it: every combination of a few values, scored by how far speed and yaw rate are off, best
// first. Values between those of a grid, intervals and what a drive cannot tell are the fit's (fit.hpp).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calibration/fit/fit.hpp"

namespace pitwall::fit {

/// One parameter and its values.
struct GridAxis {
  std::string given;      ///< as asked for: "speed_delay_ticks"
  std::string parameter;  ///< "speed_delay_s"
  double unit = 1.0;      ///< of the given values, in the parameter's unit
  std::vector<double> values;
};

struct GridPoint {
  std::vector<double> values;  ///< as given, in the order of the axes
  double speed_rms_mps = 0.0;
  double yaw_rate_rms_radps = 0.0;
  double score = 0.0;       ///< mean of both, each over that of the car as it is
  double held_score = 0.0;  ///< the same on the stretches held out
  bool at_edge = false;     ///< some value is the first or last of its axis
};

struct Grid {
  std::vector<GridAxis> axes;
  GridPoint baseline;                           ///< the car as it is; no values
  std::vector<GridPoint> points;                ///< best first
  Prediction predicted_before, predicted_best;  ///< one second ahead, on stretches held out: the car as it is, and the best point
};

inline constexpr double kMostCombinations = 1e6;

/// "name=v1,v2,...". Names are parameters, or speed_delay_ticks and steering_delay_ticks, multiples of `tick_s`.
Result<GridAxis> parse_axis(const std::string& text, const std::vector<Parameter>& parameters, double tick_s);

/// Errors: more than 10^6 combinations, an axis twice, interrupted.
Result<Grid> search_grid(const Problem& problem, const std::vector<Parameter>& parameters, std::vector<GridAxis> axes, unsigned jobs,
                         const std::function<bool(double share)>& progress);

}  // namespace pitwall::fit
