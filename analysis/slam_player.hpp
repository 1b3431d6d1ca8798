// SPDX-License-Identifier: Apache-2.0
// Plays the scans of a recording into a SLAM, one at a time. slam_replay.hpp says in which ways.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/slam_engine.hpp"
#include "analysis/slam_replay.hpp"
#include "analysis/slam_replay_bag.hpp"

namespace pitwall::analysis {

/// How two sequences of poses differ, stamp by stamp.
struct PoseSequenceError {
  std::size_t compared = 0;
  double max_position_m = 0.0;
  double max_heading_deg = 0.0;
  std::size_t missing = 0;  ///< recorded, but not replayed
  std::size_t extra = 0;    ///< replayed, but not recorded
  [[nodiscard]] bool exact() const { return missing == 0 && extra == 0 && max_position_m == 0.0 && max_heading_deg == 0.0; }
};
using PosesByStamp = std::map<Time, recording::Pose3>;
PoseSequenceError pose_sequence_error(const PosesByStamp& recorded, const PosesByStamp& replayed);

class SlamPlayer {
 public:
  /// All of these must outlive the player. `recorded` are the poses of the run.
  SlamPlayer(const SlamRecording& run, const SlamReplayOptions& options, const slam::SlamParameters& parameters,
             const PosesByStamp& recorded, ReplayBag& bag)
      : run_(run), options_(options), parameters_(parameters), recorded_(recorded), bag_(bag) {}

  /// Plays everything. Errors: reading, writing, a scanner that the transforms do not place, interrupted.
  Status play();

  /// Null where no scan was ever given.
  [[nodiscard]] const SlamEngine* engine() const { return engine_.get(); }
  [[nodiscard]] const PosesByStamp& poses() const { return poses_; }
  [[nodiscard]] const std::vector<DroppedScan>& dropped() const { return dropped_; }
  [[nodiscard]] std::uint64_t given() const { return given_; }
  /// From the arrival of a scan to its pose, by the stated cost: the longest, s of the recording's time.
  [[nodiscard]] double worst_latency_s() const { return worst_latency_s_; }
  /// Set where too many poses in a row did not come: their stamps.
  [[nodiscard]] const std::vector<Time>& gave_up_after() const { return gave_up_after_; }

 private:
  struct Waiting {
    LaserScan scan;
    std::string frame;
    Time arrival;
  };
  Status arrived(Waiting&& scan);
  // Hands the scan over at `start`, and says when the engine is done with it.
  Status give(const Waiting& scan, Time start);
  Status make_engine(const Waiting& scan);
  void drop(const Waiting& scan, const char* cause) { dropped_.push_back({scan.arrival, cause}); }

  const SlamRecording& run_;
  const SlamReplayOptions& options_;
  const slam::SlamParameters& parameters_;
  const PosesByStamp& recorded_;
  ReplayBag& bag_;
  std::unique_ptr<SlamEngine> engine_;
  std::optional<Waiting> waiting_;
  Time free_at_{INT64_MIN};
  std::optional<Pose2> T_map_odom_;
  PosesByStamp poses_;
  std::vector<DroppedScan> dropped_;
  std::uint64_t given_ = 0;
  double worst_latency_s_ = 0.0;
  std::vector<Time> missing_in_a_row_;
  std::vector<Time> gave_up_after_;
};

}  // namespace pitwall::analysis
