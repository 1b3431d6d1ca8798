// SPDX-License-Identifier: Apache-2.0
// A recording with its motion by scans, which is kept in motion.npz: matching takes longer than all the rest.
#pragma once

#include <filesystem>
#include <string>

#include "analysis/imu_run.hpp"

namespace pitwall::analysis {

struct MovedRun {
  RunData run;
  MotionSeries motion;
  std::string cache;  ///< one line about the file
};

/// Reads the series of the usual roles, and the motion from `out`/motion.npz where that is of this recording, car and build.
/// Errors: as load_run.
Result<MovedRun> load_with_motion(const ImuRunOptions& options, const CarParameters& car, const std::filesystem::path& out);

}  // namespace pitwall::analysis
