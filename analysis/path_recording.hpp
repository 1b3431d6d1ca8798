// SPDX-License-Identifier: Apache-2.0
// What a recording has to say about a plan: plans and poses in one frame, by /tf at each stamp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/path_report.hpp"
#include "analysis/run_data.hpp"
#include "analysis/track.hpp"

namespace pitwall::analysis {

struct PathRecording {
  RunData run;
  std::vector<TimedPlan> plans;
  std::string plan_frame;
  std::vector<tracks::PathSample> samples;
  Track odometry;  ///< as recorded: without the corrections of a localiser, which are no way
  std::vector<std::string> warnings;
};

/// Errors: as load_run; no plan although no line was given; no pose in the plan's frame.
Result<PathRecording> load_path_recording(const std::filesystem::path& path, const PathReportOptions& options);

}  // namespace pitwall::analysis
