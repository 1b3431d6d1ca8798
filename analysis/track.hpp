// SPDX-License-Identifier: Apache-2.0
// Poses over time, as a recording has them: of an odometry topic, or of an edge of /tf.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/bag_messages.hpp"
#include "core/geometry.hpp"
#include "core/result.hpp"

namespace pitwall::analysis {

/// Poses over time; stamps increase, yaw is continuous.
struct Track {
  std::string source;  ///< "/odom", "odom->base_footprint", "match /scan"
  std::string frame;   ///< that the poses are in, where it is recorded
  std::vector<double> t_s;
  std::vector<Pose2> pose;
  std::size_t left_out = 0;  ///< poses that are not finite, or have a stamp that was there already
  std::size_t unseen = 0;    ///< of matched scans: samples in which the walls do not tell the speed, so that it is only a guess
  [[nodiscard]] std::size_t size() const { return t_s.size(); }
  /// Linear between the poses on both sides; nothing outside, and where they are more than `longest_gap_s` apart.
  [[nodiscard]] std::optional<Pose2> at(double t_s, double longest_gap_s = 0.5) const;
};

/// Sorts by stamp, makes the yaw continuous and leaves out what is no pose. Sizes agree.
Track track_of(std::string source, const std::vector<double>& t_s, const std::vector<Pose2>& poses);

/// Two frames; as text "parent->child".
struct FrameEdge {
  std::string parent;
  std::string child;
  static std::optional<FrameEdge> parse(std::string_view text);
  [[nodiscard]] std::string text() const { return parent + "->" + child; }
};

/// Whether a recording has messages on a topic.
bool has_messages(const std::filesystem::path& recording, std::string_view topic);

/// Calls `take` with every transform of those of `topics` that were recorded.
Status each_transform(const std::filesystem::path& recording, const std::vector<std::string>& topics, StampClock& clock,
                      const std::function<void(const FrameEdge& edge, double t_s, const Pose2& T_parent_child)>& take);

/// nav_msgs/Odometry, geometry_msgs/PoseStamped, geometry_msgs/PoseWithCovarianceStamped.
bool is_pose_type(std::string_view type);
/// The poses of a topic of such a type.
Result<Track> read_topic_track(const std::filesystem::path& recording, const std::string& topic, StampClock& clock);
/// The poses of `edge.child` in `edge.parent`, by /tf and /tf_static; those recorded the other way round are inverted.
Result<Track> read_edge_track(const std::filesystem::path& recording, const FrameEdge& edge, StampClock& clock);

}  // namespace pitwall::analysis
