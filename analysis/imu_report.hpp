// SPDX-License-Identifier: Apache-2.0
// What the gyros of a run are worth: every turn rate beside every other (delay, scale, bias, each with its interval), how the car steers by
// its gyro, and how much heading a localiser had to put right on top of each odometry. Gyros on one body agree on what is wrong with both:
// only scans, or a simulated run's truth, are a measure from outside.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "analysis/imu_run.hpp"
#include "core/result.hpp"

namespace pitwall::analysis {

struct ImuReportOptions {
  ImuRunOptions run;                                   ///< with an empty path: only the accelerometer
  std::optional<std::filesystem::path> accelerometer;  ///< CSV of still poses: ax, ay, az in m/s^2 (or g)
  // Limits for gyros against what measures from outside, where there is such, else against each other.
  std::optional<double> max_bias_dps, max_scale_error, max_delay_ms;
  std::optional<double> max_heading_deg;  ///< rms of what a localiser put right on top of an odometry, deg
};

/// What a localiser put right on top of a heading: its heading less that one, from a common start.
struct HeadingCorrection {
  std::string source;
  std::size_t samples = 0;
  std::size_t changes = 0;  ///< samples that differ from the one before
  double final_rad = NAN;
  double max_rad = NAN;
  double rms_rad = NAN;
  double variation_rad = NAN;  ///< sum of all changes
};
/// Sorted stamps; headings of any wrapping. NaN where fewer than two stamps of the localiser lie within the other's.
HeadingCorrection heading_correction(const std::string& source, const std::vector<double>& t_s, const std::vector<double>& yaw_rad,
                                     const PoseSeries& localiser);

/// Of an edge of /tf from the map to an odometry's frame: its own turn.
HeadingCorrection heading_correction(const Track& correction);

/// Errors: as load_imu_run; nothing to compare the only turn rate with; poses that fit_accelerometer refuses.
Result<ReportResult> imu_report(const ImuReportOptions& options);

}  // namespace pitwall::analysis
