// SPDX-License-Identifier: Apache-2.0
// Plays recordings into handlers of this process, one message after the other: the next one comes only when every handler
// has returned, so a result depends on the recording alone, whatever the machine does meanwhile. Order: sensor messages (the
// gated types) wait for a short lookahead, so that the transforms of their time have come before them; before each the clock
// is set to its time; then the message. (After rtabmap's lockstep player, without its need to guess whether a process is
// idle.)
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "core/time.hpp"
#include "recording/bag_reader.hpp"
#include "recording/pose_graph.hpp"

namespace pitwall::recording {

/// What handlers see: a message of a recording, or one that a handler published.
struct BusMessage {
  std::string topic;
  std::string type;
  Time time;   ///< log time in the recording; of a published message, that of the one being handled
  Bytes data;  ///< CDR; valid while handlers run
};

/// Where a recording is played to: handlers of this process (Bus), or programs on a ROS graph (ros_bridge/graph_player.hpp).
class Destination {
 public:
  virtual ~Destination() = default;
  Destination() = default;
  Destination(const Destination&) = default;
  Destination& operator=(const Destination&) = default;

  [[nodiscard]] virtual bool has_subscriber(const std::string& topic) const = 0;
  /// Before a message of a gated type, of that time: in lockstep once all that was given before has had its effect. The clock moves on.
  virtual Status ready(Time time) = 0;
  virtual Status give(const BusMessage& message) = 0;
  /// Of what came out.
  [[nodiscard]] virtual std::optional<Time> last_output() const = 0;
  /// In chunked mode: outputs get their time to reach `time`.
  virtual Status catch_up(Time /*time*/) { return {}; }
};

/// Topics and their handlers. Run to completion: what a handler publishes is delivered after it has returned, in order,
/// before anything else.
class Bus final : public Destination {
 public:
  using Handler = std::function<void(const BusMessage&)>;

  void subscribe(const std::string& topic, Handler handler) { handlers_[topic].push_back(std::move(handler)); }
  void on_clock(std::function<void(Time)> handler) { clock_handlers_.push_back(std::move(handler)); }
  [[nodiscard]] bool has_subscriber(const std::string& topic) const override { return handlers_.contains(topic); }
  Status ready(Time time) override {
    set_clock(time);
    return {};
  }
  Status give(const BusMessage& message) override {
    deliver(message);
    return {};
  }

  /// For handlers; from outside, call deliver().
  void publish(const std::string& topic, const std::string& type, Bytes data);
  /// Hands the message to the handlers of its topic, and then all that they published.
  void deliver(const BusMessage& message);
  /// The clock moves on; a time that is not later is ignored.
  void set_clock(Time now);
  [[nodiscard]] Time clock() const { return clock_; }
  /// Log time of the message whose handling published last; nothing before the first.
  [[nodiscard]] std::optional<Time> last_output() const override { return last_output_; }

 private:
  struct Published {
    std::string topic;
    std::string type;
    Time time;
    Buffer data;
  };
  void run_handlers(const BusMessage& message);

  std::map<std::string, std::vector<Handler>> handlers_;
  std::vector<std::function<void(Time)>> clock_handlers_;
  std::deque<Published> published_;
  Time handling_;
  Time clock_{INT64_MIN};
  std::optional<Time> last_output_;
};

enum class PlayMode : std::uint8_t {
  kLockstep,  ///< gated, with lookahead
  kChunked    ///< in the order of the recording, in pieces; after each piece outputs must have kept up
};

struct PlayerOptions {
  PlayMode mode = PlayMode::kLockstep;
  Duration lookahead{200'000'000};
  std::vector<std::string> left_out;  ///< topics that are not played
  std::vector<std::string> gated_types = {"sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage", "sensor_msgs/msg/PointCloud2",
                                          "sensor_msgs/msg/LaserScan"};
  Duration chunk{10'000'000'000};
  Duration slack{2'000'000'000};  ///< in chunked mode: outputs may be this much older than the last sensor message
  /// A trajectory known from elsewhere, given as transforms golden_map -> golden_base on /tf: held to the ends of the
  /// recording, never more than 0.25 s apart, each 0.5 s ahead of its stamp.
  std::vector<StampedPose> injected;
};

struct PlayReport {
  std::uint64_t delivered = 0;
  std::uint64_t gated = 0;
  std::uint64_t injected = 0;
  std::vector<Finding> findings;
};

/// Plays the recordings one after another. The error names the recording that cannot be opened, where outputs stalled, or is the
/// destination's.
Result<PlayReport> play(const std::vector<std::filesystem::path>& recordings, Destination& to, const PlayerOptions& options = {});

/// The poses of `trajectory` as play() injects them between `start` and `end`.
std::vector<StampedPose> densified(const std::vector<StampedPose>& trajectory, Time start, Time end);

}  // namespace pitwall::recording
