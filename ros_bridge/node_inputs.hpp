// SPDX-License-Identifier: Apache-2.0
// What a controller is given on a ROS graph: topics and transforms in, the Observation out. Everything in it is told to the observer
// first, so a recording of the node replays to the bit.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/controller.hpp"
#include "core/fields.hpp"
#include "core/localiser.hpp"
#include "core/run_observer.hpp"
#include "ros_bridge/graph.hpp"
#include "ros_bridge/tf_buffer.hpp"
#include "ros_messages/geometry.hpp"
#include "ros_messages/nav.hpp"
#include "ros_messages/sensors.hpp"

namespace pitwall::ros_bridge {

/// Where poses come from.
enum class PoseSource : std::uint8_t {
  kNone,
  kTopic,            ///< geometry_msgs/PoseStamped
  kCovarianceTopic,  ///< geometry_msgs/PoseWithCovarianceStamped (amcl, slam_toolbox's /pose)
  kTf,               ///< map_frame -> base_frame, whenever it is known anew
  kLocaliser         ///< our own, on the scans
};
inline constexpr std::array<std::string_view, 5> kPoseSources{"none", "topic", "covariance_topic", "tf", "localiser"};

struct InputParameters {
  std::string scan_topic = "/scan";
  std::string odometry_topic = "/odom";
  std::string joy_topic = "/joy";
  std::string imu_topic = "/imu";
  std::string pose_topic = "/slam_pose";
  PoseSource pose_source = PoseSource::kNone;
  std::string pose_frame;  ///< whose pose the topic tells, such as "laser"; empty: base_frame
  std::string map_frame = "map";
  std::string base_frame = "base_link";
  bool reliable = false;  ///< ask for reliable publishers: lockstep
  double scan_age_s = 0.15;
  double future_s = 0.02;
  void fields(FieldVisitor& f);
};

/// The latest message of one input, and who sent it.
struct InputState {
  std::string topic;
  std::optional<Time> arrival;  ///< of the last one that was good
  std::uint64_t received = 0;
  std::uint64_t refused = 0;
  std::string why_refused;  ///< the last one
  Gid writer{};
  Time heard;                       ///< the last of any kind
  std::optional<Time> two_writers;  ///< when the last message of another writer came within a second of one of this
};

class NodeInputs {
 public:
  enum Kind : std::size_t { kScan, kOdometry, kJoy, kPose, kImu, kKinds };

  /// `localiser` may be null. What is passed by reference outlives this.
  NodeInputs(const InputParameters& parameters, Graph& graph, Localiser* localiser, RunObserver& observer);
  NodeInputs(const NodeInputs&) = delete;
  NodeInputs& operator=(const NodeInputs&) = delete;

  /// Subscribes. `now` is the node's clock, by which arrivals count.
  Status open(std::function<Time()> now);

  [[nodiscard]] const Observation& seen() const { return seen_; }
  [[nodiscard]] const InputState& state(Kind kind) const { return states_[kind]; }
  [[nodiscard]] const Joy& joy() const { return joy_; }
  [[nodiscard]] bool needs_pose() const { return parameters_.pose_source != PoseSource::kNone; }
  [[nodiscard]] const TfBuffer& tf() const { return tf_; }
  /// T_base_laser as the transforms have it; nothing where they do not say.
  [[nodiscard]] std::optional<Pose2> lidar_mount() const;
  /// A scan has come since the last time this was asked.
  bool take_scan_waits();
  /// Whether an input has had two publishers within the last second.
  [[nodiscard]] bool duplicate() const;
  /// After the clock has jumped: what was received before is not fresh any more, however it is stamped.
  void forget();

 private:
  void heard(Kind kind, const Arrival& arrival);
  void refuse(Kind kind, const std::string& why);
  void take(const ros_messages::LaserScan& scan);
  void take(const ros_messages::Odometry& odometry);
  void take_pose(const std::string& frame, PoseEstimate pose);
  void take_tf(const ros_messages::TFMessage& message, bool fixed);
  void give_pose(const PoseEstimate& pose);
  [[nodiscard]] std::string wrong_stamp(Time stamp, Time now) const;

  InputParameters parameters_;
  Graph& graph_;
  Localiser* localiser_;
  RunObserver& observer_;
  std::function<Time()> now_;
  TfBuffer tf_;
  std::array<InputState, kKinds> states_{};
  LaserScan scan_;
  Odometry odometry_;
  PoseEstimate pose_;
  Joy joy_;
  Imu imu_;
  std::string laser_frame_;
  Observation seen_;
  bool scan_waits_ = false;
};

/// The same motion seen at base_link: position and velocity of a point of the body at `T_base_child` become those of the base.
Odometry at_base(const Odometry& of_child, const Pose2& T_base_child);

}  // namespace pitwall::ros_bridge
