// SPDX-License-Identifier: Apache-2.0
// The bag of a replay: what went in, as it was recorded but for the corrections of the recorded SLAM, and what came out.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>

#include "analysis/slam_recording.hpp"
#include "recording/bag_writer.hpp"
#include "ros_messages/graph.hpp"

namespace pitwall::analysis {

class ReplayBag {
 public:
  static Result<ReplayBag> create(const std::filesystem::path& folder, std::string odom_frame);

  /// As it was recorded; of a list of transforms, those that are not a SLAM's.
  Status copy(const recording::Topic& topic, const recording::BagMessage& message);
  /// A pose of the replay at a stamp.
  Status pose(Time now, Time stamp, const recording::Pose3& T_map_base);
  /// The correction that is in force.
  Status correction(Time now, Time stamp, const Pose2& T_map_odom);
  Status close() { return writer_.close(); }
  [[nodiscard]] const std::vector<recording::Topic>& topics() const { return writer_.topics(); }

 private:
  explicit ReplayBag(recording::BagWriter writer) : writer_(std::move(writer)) {}
  template <class Message>
  Status put(std::size_t topic, Time now, const Message& message);

  recording::BagWriter writer_;
  std::map<std::string, std::size_t> copied_;  // index by name
  std::size_t tf_ = 0;
  std::size_t pose_ = 0;
  std::string odom_frame_;
  std::string bytes_;
  ros_messages::TFMessage transforms_;
};

}  // namespace pitwall::analysis
