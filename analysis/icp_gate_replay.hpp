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
};
/// Feeds the gate; the wheels are known a pose ahead, as they are on the vehicle.
GateReplay replay_gate(const OdometryTracks& tracks, const localization::OdometryGateParameters& parameters);

/// Writes a recording of the gated pose as a small robot would: /tf with odom->base_footprint and the leaf base_footprint->odom_wheel,
/// /odometry_gate/odometry with the velocity of each step. Errors: `out` exists, a full disk. A failure leaves nothing behind.
Status write_gated(const std::filesystem::path& out, const OdometryTracks& tracks, const GateReplay& replay);

struct GateReplayOptions {
  TrackOptions tracks;
  localization::OdometryGateParameters gate;
  std::filesystem::path out;               ///< empty: no recording is written
  std::optional<double> max_replaced;      ///< steps
  std::optional<double> max_path_percent;  ///< change of the way
};

GatedReport icp_gate_replay(const std::filesystem::path& recording, const GateReplayOptions& options);

}  // namespace pitwall::analysis
