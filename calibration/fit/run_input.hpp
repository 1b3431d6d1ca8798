// SPDX-License-Identifier: Apache-2.0
// A recorded run as a drive: which of its measurements say how the car moved, best first.
//
//   speed       scan matching; else the odometry's, brought to the scale of the poses
//   yaw rate    scan matching; IMU; poses; else the odometry's, which many cars make from their steering command
//   increments  scan matching, chained; else poses of a localiser, particle filter or motion capture
#pragma once

#include <string>
#include <vector>

#include "calibration/fit/drive.hpp"
#include "core/result.hpp"
#include "localization/motion_series.hpp"
#include "recording/run_data.hpp"

namespace pitwall::fit {

struct RunInput {
  Drive drive;
  std::vector<std::string> notes;  ///< what was taken for what, and what was changed, a line each
};

/// `motion` may be empty. Errors: no commands with a steering angle; nothing that says how the car moved.
Result<RunInput> drive_of(const recording::RunData& run, const localization::MotionSeries& motion);

}  // namespace pitwall::fit
