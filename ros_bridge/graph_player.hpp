// SPDX-License-Identifier: Apache-2.0
// A recording played into programs on a ROS graph, one sensor message at a time (after rtabmap's lockstep player): every topic as it was
// recorded, as the bytes, under its name, type hash and durability, from publishers that keep everything until it is taken. Before and
// after each sensor message the programs have to be idle: none of their threads running or runnable in two looks 2 ms apart. So what comes
// out depends on the recording alone, however loaded the machine is.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "recording/bag.hpp"
#include "recording/lockstep.hpp"
#include "ros_bridge/graph.hpp"
#include "ros_bridge/peer.hpp"
#include "ros_bridge/typed.hpp"
#include "ros_messages/standard.hpp"

namespace pitwall::ros_bridge {

struct GraphPlayerOptions {
  std::vector<std::string> required;  ///< topics that must have a reader before anything is played
  bool clock = true;                  ///< publish /clock
  bool lockstep = true;               ///< else at the recording's pace
  double rate = 1.0;                  ///< of that pace
  Duration connect_timeout{60'000'000'000};
  Duration connect_stable{2'000'000'000};  ///< the graph has to stay as it is for so long
  Duration idle_timeout{300'000'000'000};
  Duration stall_timeout{30'000'000'000};  ///< of outputs, at the recording's pace
  std::string output;                      ///< topic whose stamps tell how far the programs are; empty: none
};

class GraphPlayer final : public recording::Destination {
 public:
  /// Advertises the topics (of all recordings; a name once). `peer` may be null: whoever listens, on somebody else's clock; only at the
  /// recording's pace. `interrupted` ends it with an error. Errors: a topic that cannot be, a QoS that cannot be read.
  static Result<std::unique_ptr<GraphPlayer>> make(const std::vector<recording::Topic>& topics, const GraphPlayerOptions& options,
                                                   Graph& graph, Peer* peer, std::function<bool()> interrupted);

  /// Waits until the required topics are read and the graph has settled. The error says who does not match whom, with their QoS.
  Status connect();
  /// Until `done`, or for so long. Errors: the program died, interrupted.
  Status wait_for(const std::function<bool()>& done, Duration patience);
  /// At the end: all that was given has had its effect.
  Status finish();

  [[nodiscard]] bool has_subscriber(const std::string& topic) const override;
  Status ready(Time time) override;
  Status give(const recording::BusMessage& message) override;
  [[nodiscard]] std::optional<Time> last_output() const override { return last_output_; }
  Status catch_up(Time time) override;
  /// Called while waiting, and after each message.
  void on_wait(std::function<void()> handler) { on_wait_ = std::move(handler); }
  [[nodiscard]] std::uint64_t given() const { return given_; }

 private:
  struct Channel {
    Graph::PublisherId publisher = 0;
    TopicSpec topic;
  };
  GraphPlayer(const GraphPlayerOptions& options, Graph& graph, Peer* peer, std::function<bool()> interrupted)
      : options_(options), graph_(graph), peer_(peer), interrupted_(std::move(interrupted)) {}
  Status look_around();
  Status listen_to_output();
  Status wait_until_idle(int looks);
  void wait(Duration span);
  [[nodiscard]] std::string unmatched() const;

  GraphPlayerOptions options_;
  Graph& graph_;
  Peer* peer_;
  std::function<bool()> interrupted_;
  std::function<void()> on_wait_ = [] {};
  std::map<std::string, Channel> channels_;
  Publisher<ros_messages::Clock> clock_;
  std::optional<Time> clock_at_;
  std::optional<Time> last_output_;
  bool sensor_next_ = false;                    // the message that ready() was for
  bool sensor_given_ = false;                   // the last message was one
  std::optional<std::pair<Time, Time>> began_;  // the recording's pace: time of its first message, and when that was
  bool listening_ = false;                      // to the output
  std::uint64_t given_ = 0;
};

}  // namespace pitwall::ros_bridge
