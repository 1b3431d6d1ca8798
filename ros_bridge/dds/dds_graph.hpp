// SPDX-License-Identifier: Apache-2.0
// A ROS 2 graph over Cyclone DDS, without ROS: one participant and one node a process. Topics, types, QoS and user data are those of
// rmw_cyclonedds_cpp, so that `ros2 topic` and `ros2 node` see us as one of theirs (README.md).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "ros_bridge/dds/settings.hpp"
#include "ros_bridge/graph.hpp"

namespace pitwall::ros_bridge {

struct DdsOptions {
  std::string node = "/pitwall";  ///< "/namespace/name"
  DdsSettings settings;
};

/// All calls from one thread. Nothing polls: what comes wakes wait().
class DdsGraph final : public Graph {
 public:
  /// Errors: a node's name that cannot be; what Cyclone DDS says against the settings.
  static Result<std::unique_ptr<DdsGraph>> make(const DdsOptions& options);
  ~DdsGraph() override;

  Result<PublisherId> advertise(const TopicSpec& topic) override;
  bool publish(PublisherId publisher, std::string_view cdr) override;
  [[nodiscard]] std::size_t readers_of(PublisherId publisher) const override;
  Status subscribe(const TopicSpec& topic, Handler handler) override;
  [[nodiscard]] std::vector<Endpoint> endpoints() const override;
  [[nodiscard]] Time now() const override;
  void wait(Time until) override;

  /// Messages that were not handed out since they are not plain CDR; the first of each writer is in the log.
  [[nodiscard]] std::uint64_t refused() const;

 private:
  struct Parts;
  explicit DdsGraph(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace pitwall::ros_bridge
