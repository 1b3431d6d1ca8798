// SPDX-License-Identifier: Apache-2.0
// Takes a graph down as a bag: topics as they appear, of any type, as the bytes that come, with the type hash and the QoS that their
// publishers announce. It subscribes as rosbag2 does: latched only where every publisher is, best effort, so that all are heard.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/fields.hpp"
#include "core/node.hpp"
#include "core/result.hpp"
#include "recording/bag_writer.hpp"
#include "ros_bridge/graph.hpp"

namespace pitwall::ros_bridge {

/// What a race car's run is worth without (spec: run_analysis 1.3), and the plans of a navigation stack.
std::vector<std::string> default_topics();

struct BagRecorderOptions {
  std::vector<std::string> topics = default_topics();
  bool all = false;  ///< whatever there is, but /rosout's and discovery's own
  recording::WriteOptions write;
};

class BagRecorder {
 public:
  /// Creates the folder, which must not exist or be empty. `graph` outlives it.
  static Result<std::unique_ptr<BagRecorder>> make(const std::filesystem::path& folder, const BagRecorderOptions& options, Graph& graph);
  BagRecorder(const BagRecorder&) = delete;
  BagRecorder& operator=(const BagRecorder&) = delete;

  /// After each graph.wait(): takes in topics that have appeared, flushes what is due.
  void tick();
  /// Summary and metadata. What is not in the bag is the error: the first thing that went wrong.
  Status close();

  [[nodiscard]] const std::vector<recording::Topic>& topics() const { return writer_.topics(); }
  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] std::uint64_t messages() const { return messages_; }
  /// Of those wanted by name, the ones that never had a publisher.
  [[nodiscard]] std::vector<std::string> missing() const;

 private:
  BagRecorder(const BagRecorderOptions& options, Graph& graph, recording::BagWriter writer)
      : options_(options), graph_(graph), writer_(std::move(writer)) {}
  void look();
  void take_in(const TopicSpec& topic);
  void keep(const Status& status);

  BagRecorderOptions options_;
  Graph& graph_;
  recording::BagWriter writer_;
  std::map<std::string, std::string> types_;  // by topic, of those that are recorded
  Status status_;
  std::uint64_t messages_ = 0;
  std::optional<Time> looked_;
};

}  // namespace pitwall::ros_bridge
