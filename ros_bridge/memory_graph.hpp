// SPDX-License-Identifier: Apache-2.0
// A ROS graph inside one process and one thread, on a clock that its owner moves: what the bridge does is tested on it, without a
// middleware. Matching, depth and latched messages are as DDS has them (request against offer, keep last); nothing is ever late or lost.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ros_bridge/graph.hpp"

namespace pitwall::ros_bridge {

class MemoryGraph;

/// What several MemoryGraphs are on.
class MemoryNetwork {
 public:
  explicit MemoryNetwork(Time start = {}) : now_(start) {}

  [[nodiscard]] Time now() const { return now_; }
  /// Time never goes back.
  void advance(Duration by) { now_ = now_ + by; }
  /// Called where a graph waits and nothing has come: the other programs of a test may run now.
  std::function<void()> when_idle;

 private:
  friend class MemoryGraph;
  struct Writer {
    Gid gid{};
    TopicSpec topic;
    std::string node;
    const MemoryGraph* owner = nullptr;
    std::deque<std::string> kept;  // of a latched topic
  };
  struct Reader {
    Gid gid{};
    TopicSpec topic;
    std::string node;
    MemoryGraph* owner = nullptr;
    Graph::Handler handler;
  };
  Gid next_gid();

  Time now_;
  std::uint64_t gids_ = 0;
  std::vector<std::unique_ptr<Writer>> writers_;
  std::vector<std::unique_ptr<Reader>> readers_;
  bool idling_ = false;
};

/// One program on the network; destroyed, it is gone from the graph.
class MemoryGraph final : public Graph {
 public:
  /// `node`: "/namespace/name".
  MemoryGraph(MemoryNetwork& network, std::string node) : network_(network), node_(std::move(node)) {}
  ~MemoryGraph() override;

  Result<PublisherId> advertise(const TopicSpec& topic) override;
  bool publish(PublisherId publisher, std::string_view cdr) override;
  [[nodiscard]] std::size_t readers_of(PublisherId publisher) const override;
  Status subscribe(const TopicSpec& topic, Handler handler) override;
  [[nodiscard]] std::vector<Endpoint> endpoints() const override;
  [[nodiscard]] Time now() const override { return network_.now_; }
  /// Where nothing has come, also not from the others after when_idle, the network's time becomes `until`.
  void wait(Time until) override;

  /// What publish() answers from now on: a transport that takes nothing any more.
  void refuse(bool refuse) { refuse_ = refuse; }

 private:
  struct Waiting {
    MemoryNetwork::Reader* reader = nullptr;
    std::string cdr;
    Arrival arrival;
  };
  void put(MemoryNetwork::Reader& reader, std::string_view cdr, const Gid& writer);
  bool hand_out();

  MemoryNetwork& network_;
  std::string node_;
  std::vector<MemoryNetwork::Writer*> publishers_;
  std::deque<Waiting> inbox_;
  bool refuse_ = false;
};

}  // namespace pitwall::ros_bridge
