// SPDX-License-Identifier: Apache-2.0
// A ROS 2 graph as the bridge sees it: topics with type and QoS, messages as CDR bytes, and who else is there. What the bridge does is
// written against this seam; what carries it is wiring: `ros_bridge/dds` (Cyclone DDS, no ROS needed), `ros_bridge/ros2` (rclcpp), and
// MemoryGraph (one process, for tests).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/time.hpp"
#include "ros_bridge/qos.hpp"

namespace pitwall::ros_bridge {

struct TopicSpec {
  std::string name;  ///< as ROS says it, absolute: "/scan"
  std::string type;  ///< "sensor_msgs/msg/LaserScan"
  Qos qos;
  /// "RIHS01_<64 hex digits>" of a type that ros_messages does not know; empty: that of ros_messages. Of an endpoint: what its process
  /// says.
  std::string type_hash = {};
};

/// The GUID of a reader, writer or participant.
using Gid = std::array<std::uint8_t, 16>;

/// How a message came.
struct Arrival {
  Time received;  ///< by Graph::now()
  Time sent;      ///< the writer's source timestamp, Unix epoch of its machine; 0 where it has none
  Gid writer{};
};

/// A reader or writer on the graph, of this process or another.
struct Endpoint {
  Gid gid{};
  bool writes = false;
  TopicSpec topic;
  std::string node;   ///< "/namespace/name"; empty until its process said so
  bool ours = false;  ///< of this process
};

class Graph {
 public:
  using Handler = std::function<void(std::string_view cdr, const Arrival& arrival)>;
  using PublisherId = std::size_t;

  virtual ~Graph() = default;
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Errors: a name, type or QoS that cannot be.
  virtual Result<PublisherId> advertise(const TopicSpec& topic) = 0;
  /// `cdr` with its encapsulation header, as ros_messages::write makes it. Never blocks longer than the transport's own limit (100 ms);
  /// false where the message was not taken.
  virtual bool publish(PublisherId publisher, std::string_view cdr) = 0;
  /// How many readers the publisher has now.
  [[nodiscard]] virtual std::size_t readers_of(PublisherId publisher) const = 0;
  /// `handler` is called inside wait(), on its caller's thread, in order of arrival; the bytes are valid until it returns.
  virtual Status subscribe(const TopicSpec& topic, Handler handler) = 0;

  /// All that discovery has found, this process's own among them.
  [[nodiscard]] virtual std::vector<Endpoint> endpoints() const = 0;
  /// Monotonic, moved to the Unix epoch once at the start: never jumps.
  [[nodiscard]] virtual Time now() const = 0;
  /// Hands out what has arrived, or waits for something to arrive or for the graph to change, until `until` at the latest. May come back
  /// with nothing before.
  virtual void wait(Time until) = 0;
};

}  // namespace pitwall::ros_bridge
