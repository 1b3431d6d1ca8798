// SPDX-License-Identifier: Apache-2.0
// The recorded IMU and wheels again through the car's own vehicle-state estimator, once as it is and once for each change, scored against
// the scans and, on a simulated run, against the truth. Open loop: the car drove as it drove.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/imu_run.hpp"
#include "localization/vehicle_state_estimator.hpp"

namespace pitwall::analysis {

struct EstimatorReplayOptions {
  ImuRunOptions run;
  std::filesystem::path car_yaml;  ///< profile of the car, where the recording has none
  bool car_given = false;          ///< whether run.driver.profile was asked for by name
  std::filesystem::path rig;       ///< mounts of the IMUs (localization/imu_fusion.hpp): they are put together as the IMU "rig"
  std::vector<std::string> sets;   ///< each a setting of its own: "name=value", several joined by commas; "imu=/topic" chooses the IMU
  std::optional<double> max_speed_rms_mps, max_rate_rms_dps, max_drift_dpm;
};

/// What the estimator said after each sample of the IMU.
struct EstimatedSeries {
  std::vector<double> t_s, speed_mps, lateral_mps, yaw_rad, yaw_rate_radps;
  std::array<localization::MeasurementCounts, localization::kMeasurements> counts;
};
/// Feeds IMU and wheel speed in the order of receipt.
EstimatedSeries replay_estimator(const ImuSeries& imu, const OdometrySeries& wheels, Time origin,
                                 const localization::VehicleStateParameters& parameters);

/// The IMUs of a rig as one at base_link, synchronised and fused in the order of receipt as on the car. Errors: a rig that cannot be read,
/// an IMU of it that was not recorded, no time at which all of them are known.
Result<ImuTrack> fused_track(const ImuRun& run, const std::filesystem::path& rig);

/// Errors: as load_imu_run; as fused_track; no odometry; no calibration in the recording and none given; an unknown name, value or IMU in
/// --set.
Result<ReportResult> estimator_replay(const EstimatorReplayOptions& options);

}  // namespace pitwall::analysis
