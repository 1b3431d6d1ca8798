// SPDX-License-Identifier: Apache-2.0
// A recording given to somebody's SLAM (slam_toolbox, or what behaves like it) pose for pose (spec: run_analysis 14): the scans that it
// took in then and no others, each only when the pose of the one before has come, the transforms without the corrections of then.
//
// slam_toolbox counts every scan that it sees and rejects the second to the fourth whatever its settings: so three recorded scans that were
// not taken in are given between the first and the second that were. A pose of one of them means that this is another SLAM than thought.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "core/time.hpp"
#include "recording/lockstep.hpp"
#include "recording/pose_graph.hpp"
#include "ros_bridge/graph.hpp"
#include "ros_bridge/graph_player.hpp"

namespace pitwall::ros_bridge {

/// Stamps of scans.
struct AdmissionPlan {
  std::set<Time> admitted;
  std::set<Time> sacrificed;
};

/// Errors: an admitted stamp without a scan; no three scans to sacrifice between the first two.
Result<AdmissionPlan> plan_admissions(const std::set<Time>& admitted, const std::set<Time>& scans);

struct SlamFeedOptions {
  std::string scan_topic = "/scan";
  std::string pose_topic = "/pose";
  std::string map_frame = "map";
  AdmissionPlan plan;  ///< empty: every scan, and no pose is waited for
  Duration patience{10'000'000'000};
  std::size_t most_missing = 10;  ///< in a row
};

class SlamFeed final : public recording::Destination {
 public:
  SlamFeed(const SlamFeedOptions& options, GraphPlayer& player) : options_(options), player_(player) {}

  /// Subscribes to the poses.
  Status open(Graph& graph);
  /// After the last message: a sacrificed scan that was taken in is an error here at the latest.
  [[nodiscard]] Status finish() const { return wrong_; }

  [[nodiscard]] bool has_subscriber(const std::string& topic) const override { return player_.has_subscriber(topic); }
  Status ready(Time time) override { return player_.ready(time); }
  Status give(const recording::BusMessage& message) override;
  [[nodiscard]] std::optional<Time> last_output() const override { return player_.last_output(); }
  Status catch_up(Time time) override { return player_.catch_up(time); }

  /// By the stamp of their scan.
  [[nodiscard]] const std::map<Time, recording::Pose3>& poses() const { return poses_; }
  [[nodiscard]] std::uint64_t scans_given() const { return scans_given_; }

 private:
  Status give_scan(const recording::BusMessage& message);
  Status give_transforms(const recording::BusMessage& message);

  SlamFeedOptions options_;
  GraphPlayer& player_;
  std::map<Time, recording::Pose3> poses_;
  std::vector<Time> missing_;  // in a row
  Status wrong_;
  std::uint64_t scans_given_ = 0;
};

}  // namespace pitwall::ros_bridge
