// SPDX-License-Identifier: Apache-2.0
// A recorded run through a SLAM again, without ROS and without a clock: three ideas make it repeatable. Which scans are taken in is the
// recorded list of admissions; where odometry was is the recorded transform tree, each edge interpolated at the scan's stamp and then
// composed (transform_tree.hpp); and the next scan comes when the last one is done.
//
//   exact        the admitted scans (stamps of /pose), each taken in: the poses of the run, to the bit where the engine is the same
//   all scans    every scan, admitted by the recorded settings: the same, if admission does not depend on timing
//   rate         every scan at R times the speed it was recorded with, at a stated cost per admitted scan of simulated time: what comes
//   while
//                the engine is busy waits, and is dropped when a newer one comes
//
// The result is a run folder beside the run, <run>-replay-<odom>-<label>: bag (scans, odometry and transforms as recorded; poses and
// corrections of the replay), map, graph.g2o, trajectory.tum, slam.json, metadata/files/slam.yaml, replay.json. It can be replayed and
// reported on like any run. The source is only read.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "analysis/gated_report.hpp"
#include "localization/slam/slam.hpp"
#include "recording/bag_info.hpp"

namespace pitwall::analysis {

enum class ReplayMode : std::uint8_t { kRate, kAdmitted, kAllScans };
enum class ReplayEngine : std::uint8_t { kOwn, kRecorded };

struct SlamReplayOptions {
  std::string odom_frame;  ///< empty: the one the SLAM corrected
  std::string label;       ///< empty: by the mode, "exact", "all-scans", "rate-1"
  ReplayMode mode = ReplayMode::kRate;
  ReplayEngine engine = ReplayEngine::kOwn;
  double rate = 1.0;
  double cost_ms = 5.0;                  ///< of an admitted scan; the others cost nothing
  std::filesystem::path profile;         ///< YAML of slam::SlamParameters, over the recorded ones
  std::filesystem::path out_root;        ///< empty: where the run lies
  std::optional<double> max_position_m;  ///< gate: largest difference of a pose
  std::optional<double> max_missing;     ///< gate: poses that did not come again
  recording::BagProgress progress;
};

/// Replays a run. Refused: a recording that cannot be read, no scans, a folder that is there already, an exact replay of a run without
/// poses or with a pose whose scan was not recorded, a scanner that the transforms do not place. Failed, beside the gates: an exact replay
/// of a run of this engine with its own settings that is not exact; more than 10 poses in a row missing.
GatedReport slam_replay(const std::filesystem::path& run, const SlamReplayOptions& options);

struct SlamRecording;
/// Where the result goes: <run>-replay-<odom>-<label>.
std::filesystem::path slam_replay_folder(const std::filesystem::path& run, const SlamRecording& recording,
                                         const SlamReplayOptions& options);

/// The settings that a run was made with: its metadata/files/slam.yaml, else what /parameter_events say of slam_toolbox, else the defaults.
struct RecordedSettings {
  slam::SlamParameters parameters;
  std::string source;
};
Result<RecordedSettings> recorded_settings(const SlamRecording& recording);

}  // namespace pitwall::analysis
