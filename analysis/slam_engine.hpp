// SPDX-License-Identifier: Apache-2.0
// What a replay drives: something that takes one scan at a time and answers with the pose it publishes for it, if it took it in. Ours is
// a function of this process. An external SLAM on a ROS graph fits behind the same three questions (publish the scan, wait for the pose of
// its stamp, ask for the map); so do the recorded poses themselves, with which the player is tested alone.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "analysis/slam_record.hpp"
#include "analysis/slam_recording.hpp"
#include "localization/slam/slam.hpp"
#include "recording/pose_graph.hpp"

namespace pitwall::analysis {

class SlamEngine {
 public:
  SlamEngine() = default;
  virtual ~SlamEngine() = default;
  SlamEngine(const SlamEngine&) = delete;
  SlamEngine& operator=(const SlamEngine&) = delete;

  /// The next scan, with the pose of the base in odometry at its stamp and its velocity there. The pose that is published for it; nothing
  /// where the scan is not taken in.
  virtual std::optional<recording::Pose3> add(const LaserScan& scan, const Pose2& T_odom_base, const localization::Twist& velocity) = 0;
  /// After the last scan.
  virtual Status finish() = 0;
  /// What it says of itself; frames and drops are the player's to fill in.
  [[nodiscard]] virtual SlamRecord record() const = 0;
  /// Nothing where it keeps none.
  [[nodiscard]] virtual std::optional<recording::PoseGraph> graph() const = 0;
  /// Nothing where it makes none. Errors say why it could not be made.
  [[nodiscard]] virtual Result<std::optional<tracks::OccupancyMap>> map() const = 0;
};

/// A graph of ours as files hold it, closures with their type of link.
recording::PoseGraph pose_graph_of(const slam::Graph& graph);

/// Ours. Parameters out of range are a bug: check_fields() them first.
std::unique_ptr<SlamEngine> own_engine(const slam::SlamParameters& parameters, const Pose2& T_base_sensor);
/// Answers with the poses that were recorded, at their stamps.
std::unique_ptr<SlamEngine> recorded_engine(std::span<const PublishedPose> poses);

}  // namespace pitwall::analysis
