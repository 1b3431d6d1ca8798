// SPDX-License-Identifier: Apache-2.0
// `slam_replay --engine ros`: a recorded run through somebody's SLAM node, started here, on ROS domain 77 of this machine.
#pragma once

#include <filesystem>
#include <string>

#include "analysis/slam_replay.hpp"

namespace pitwall::apps {

struct RosReplay {
  std::string command;  ///< with {params} and {out} for the parameter file and the folder that is written
  int domain = 77;
  bool json = false;
};

/// Replays, prints, and gives the exit code. Of the options `engine` and `cost_ms` do not matter; `profile` is a flat map of the node's
/// parameters over the recorded ones.
int slam_replay_ros(const std::filesystem::path& run, const analysis::SlamReplayOptions& options, const RosReplay& ros);

}  // namespace pitwall::apps
