// SPDX-License-Identifier: Apache-2.0
// A recorded drive through the mapper, and a simulated one to be recorded for it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "core/result.hpp"
#include "recording/bag_info.hpp"
#include "scenarios/course_mapper.hpp"
#include "scenarios/outcome.hpp"
#include "scenarios/resolve.hpp"

namespace pitwall::apps {

/// Every scan of a recording into a mapper. `T_base_lidar` is where the scanner sits if the recording has no transforms that say so.
/// Errors: no transforms and no odometry, no scans, a scanner that the transforms do not place although they have it, interrupted.
Result<std::unique_ptr<scenarios::CourseMapper>> map_recording(const std::filesystem::path& run, const std::string& odom_frame,
                                                               const scenarios::MappingSettings& settings, const Pose2& T_base_lidar,
                                                               const recording::BagProgress& progress);

/// Which drive to simulate.
struct MappingDrive {
  std::string track;
  std::int64_t laps = 2;
  std::int64_t seed = 12345;
  double speed_mps = 1.0;
};

/// gap_follow round a track, recorded into `folder`. Errors are bad input; what happened on the way is in the outcome.
Result<scenarios::Outcome> record_mapping_drive(const MappingDrive& drive, scenarios::ValidationOptions options,
                                                const std::filesystem::path& folder, const std::function<bool()>& interrupted);

}  // namespace pitwall::apps
