// SPDX-License-Identifier: Apache-2.0
// A recording through the odometry gate that runs on the vehicle: which steps it would have replaced, and the pose as it would have been.
// The gate is a library, so that nothing is paced and nothing lost; every pose by scans gives one gated pose, or is counted as left out.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/gated_report.hpp"
#include "analysis/odometry_tracks.hpp"
#include "core/result.hpp"
#include "localization/odometry_gate.hpp"

namespace pitwall::analysis {

struct GateReplay {
  std::vector<localization::GatedPose> poses;  ///< one for each by scans, in order
  localization::GateCounts counts;
  double raw_way_m = 0.0;
  double gated_way_m = 0.0;
  double raw_fastest_mps = 0.0;
  double gated_fastest_mps = 0.0;
  // Over windows of a second, those in which the slip monitor finds nothing wrong with the raw pose.
  std::size_t windows = 0;
  std::size_t quiet_windows = 0;
  double quiet_wheels_m = 0.0;
  double quiet_raw_m = 0.0;
  double quiet_gated_m = 0.0;
  [[nodiscard]] double quiet_off_percent() const { return 100.0 * (quiet_gated_m - quiet_wheels_m) / quiet_wheels_m; }
};
/// Feeds the gate; the wheels are known a pose ahead, as they are on the vehicle. The slip monitor's thresholds are those of the envelope's
/// speed.
GateReplay replay_gate(const OdometryTracks& tracks, const localization::OdometryGateParameters& parameters);

/// Writes a recording of the gated pose as a small robot would: /tf with odom->base_footprint and the leaf base_footprint->odom_wheel,
/// /odometry_gate/odometry with the velocity of each step. Errors: `out` exists, a full disk. A failure leaves nothing behind.
Status write_gated(const std::filesystem::path& out, const OdometryTracks& tracks, const GateReplay& replay);

struct GateReplayOptions {
  TrackOptions tracks;
  localization::OdometryGateParameters gate;
  std::filesystem::path out;                ///< empty: no recording is written
  std::optional<double> max_replaced;       ///< steps
  std::optional<double> max_path_percent;   ///< change of the way
  std::optional<double> max_quiet_percent;  ///< gated way beside the wheels' where nothing slips
};

GatedReport icp_gate_replay(const std::filesystem::path& recording, const GateReplayOptions& options);

}  // namespace pitwall::analysis
