// SPDX-License-Identifier: Apache-2.0
// Transforms between frames as /tf and /tf_static tell them: a tree of frames, each with its parent, fixed or moving. Between two stamps
// a moving one is interpolated (linear, and slerp on the shorter way); a chain of them is composed at one instant; nothing is extrapolated.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/time.hpp"
#include "recording/pose_graph.hpp"
#include "ros_messages/geometry.hpp"

namespace pitwall::ros_bridge {

using recording::Pose3;

/// T_ac from T_ab and T_bc.
Pose3 compose(const Pose3& T_ab, const Pose3& T_bc);
Pose3 inverse(const Pose3& T_ab);

class TfBuffer {
 public:
  /// Moving transforms older than `keep` before the newest of their frame are forgotten.
  explicit TfBuffer(Duration keep = {10'000'000'000}) : keep_(keep) {}

  /// `fixed`: from /tf_static. What is no transform (not finite, no rotation, a frame that is its own parent) is counted, not kept.
  void add(const ros_messages::TFMessage& message, bool fixed);

  /// T_target_source at that instant. Errors name the frames: unknown, not connected, or known from when to when.
  [[nodiscard]] Result<Pose3> lookup(const std::string& target, const std::string& source, Time at) const;
  /// The last instant at which lookup() has an answer; nothing where they are not connected, or no transform between them moves.
  [[nodiscard]] std::optional<Time> latest(const std::string& target, const std::string& source) const;
  /// Whether some chain, fixed or moving, joins the two.
  [[nodiscard]] bool connected(const std::string& target, const std::string& source) const;

  /// Forgets what moves (a clock that jumped back); what is fixed stays.
  void forget_moving();
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

 private:
  struct Frame {
    std::string parent;
    bool fixed = false;
    std::deque<recording::StampedPose> T_parent_frame;  // by stamp
  };
  using Chain = std::vector<const std::string*>;

  void add_one(const ros_messages::TransformStamped& transform, bool fixed);
  // From the frame to the root.
  [[nodiscard]] Chain to_root(const std::string& frame) const;
  // Both ways up to where they meet; nothing where they do not.
  [[nodiscard]] std::optional<std::pair<Chain, Chain>> between(const std::string& target, const std::string& source) const;
  [[nodiscard]] Result<Pose3> climb(const Chain& chain, Time at) const;
  [[nodiscard]] static Result<Pose3> at_time(const std::string& name, const Frame& frame, Time at);

  Duration keep_;
  std::map<std::string, Frame> frames_;  // those that have a parent
  std::uint64_t refused_ = 0;
};

}  // namespace pitwall::ros_bridge
