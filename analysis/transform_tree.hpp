// SPDX-License-Identifier: Apache-2.0
// The transforms of a recording as tf2 answers for them: between two stamps of an edge linear and by slerp, then the edges composed in
// their order. Interpolating a pose that is composed already is another motion: on the reference run of racerbot such a replay was 2.25 m
// off by its 59th pose.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/time.hpp"
#include "localization/twist.hpp"
#include "recording/pose_graph.hpp"
#include "ros_messages/geometry.hpp"

namespace pitwall::analysis {

/// T_ac = T_ab * T_bc.
recording::Pose3 composed(const recording::Pose3& T_ab, const recording::Pose3& T_bc);
/// T_ba from T_ab.
recording::Pose3 inverted(const recording::Pose3& T_ab);
/// The pose that a transform of /tf says; a leading slash of a frame is an old way to write it.
recording::Pose3 pose_of(const ros_messages::Transform& transform);
std::string frame_name(std::string_view frame_id);

class TransformTree {
 public:
  /// Takes in a transform; in any order of stamps. A static one holds at all times. What is not finite, or gives a frame a second parent,
  /// is left out and counted.
  void add(const ros_messages::TransformStamped& transform, bool is_static);
  /// Sorts; of equal stamps the first received stays. Call before any question.
  void complete();

  [[nodiscard]] bool has(std::string_view frame) const;
  [[nodiscard]] std::vector<std::string> frames() const;
  [[nodiscard]] std::vector<std::string> children_of(std::string_view frame) const;
  /// Samples of the edge that ends in `child`; 0 where there is none.
  [[nodiscard]] std::size_t samples_of(std::string_view child) const;

  /// The pose of `child` in `parent` at a time, by whatever edges join them; nothing where none do, or where one of them has no sample on
  /// both sides of that time.
  [[nodiscard]] std::optional<recording::Pose3> lookup(std::string_view parent, std::string_view child, Time at) const;
  /// Its shadow on the ground.
  [[nodiscard]] std::optional<Pose2> planar(std::string_view parent, std::string_view child, Time at) const;

  /// Transforms left out because their frame has another parent already, and because a number in them is not finite.
  [[nodiscard]] std::size_t second_parents() const { return second_parents_; }
  [[nodiscard]] std::size_t not_finite() const { return not_finite_; }

 private:
  struct Edge {
    std::string parent;
    bool is_static = false;
    std::vector<recording::StampedPose> samples;
  };
  // Of `frame` up to its root, itself first.
  [[nodiscard]] std::vector<std::string_view> ancestors(std::string_view frame) const;
  // The pose of `child` in its ancestor `top`.
  [[nodiscard]] std::optional<recording::Pose3> climb(std::string_view child, std::string_view top, Time at) const;

  std::map<std::string, Edge, std::less<>> edges_;  // by child
  std::size_t second_parents_ = 0;
  std::size_t not_finite_ = 0;
};

/// The velocity of `base`, in its axes, at a time: that of the last 50 ms in the frame `odom`. Zero where the tree does not reach back so
/// far. A function of the recording alone: what a scan is de-skewed with must not depend on which scans were looked at before it.
localization::Twist velocity_at(const TransformTree& tree, std::string_view odom, std::string_view base, Time at);

}  // namespace pitwall::analysis
