// SPDX-License-Identifier: Apache-2.0
// The simulator as a ROS car: scan, odometry, pose, IMU, /joy, transforms and /clock out, /drive in. The scenario is one of ours, with its
// track, car, faults and criteria; only the controller is somebody else's, in another process.
//
// - Lockstep: the world stands still from the moment a decision is due until the drive for it has come. Time is simulated, from 0; with our
//   own controller behind the bridge a run has the trace hash that it has in one process. Messages of one instant come after its /clock,
//   the scan last; a /clock a nanosecond later says that there are no more.
// - Real time: stamps and /clock count from the time of day at the start, so nodes with and without use_sim_time agree. A drive holds for
//   0.2 s, then the speed is 0.
//
// It refuses to start, and ends, while real drivers are on the graph (interlock.hpp).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/controller.hpp"
#include "core/fields.hpp"
#include "core/result.hpp"
#include "core/run_observer.hpp"
#include "recording/run_messages.hpp"
#include "ros_bridge/graph.hpp"
#include "ros_bridge/typed.hpp"
#include "ros_messages/drive.hpp"
#include "ros_messages/geometry.hpp"
#include "ros_messages/nav.hpp"
#include "ros_messages/sensors.hpp"
#include "ros_messages/standard.hpp"
#include "scenarios/outcome.hpp"
#include "scenarios/resolve.hpp"
#include "sim/world.hpp"

namespace pitwall::ros_bridge {

struct SimNodeParameters {
  std::string scan_topic = "/scan";
  std::string odometry_topic = "/odom";
  std::string pose_topic = "/slam_pose";  ///< empty: none, and no map -> odom
  std::string imu_topic = "/imu";         ///< empty: none
  std::string joy_topic = "/joy";         ///< empty: a real one is used
  std::string map_topic = "/map";         ///< latched; empty: none
  std::string drive_topic = "/drive";
  std::string map_frame = "map";
  std::string odom_frame = "odom";
  std::string base_frame = "base_link";
  std::string laser_frame = "laser";
  bool truth_odometry = false;  ///< odometry is the true pose on the map, as the common gym bridge has it
  bool lockstep = false;
  double command_timeout_s = 0.2;  ///< in real time
  double answer_timeout_s = 10.0;  ///< in lockstep, of the clock of the machine: then the run goes on with speed 0
  // The operator, in s of the run; -1: never.
  double hold_after_s = 0.0;      ///< the deadman is released before
  double release_after_s = -1.0;  ///< and from then on
  double silence_after_s = -1.0;  ///< no /joy any more
  void fields(FieldVisitor& f);

  /// Topics and frames of f1tenth_gym_ros.
  static SimNodeParameters gym();
};

struct SimCounts {
  std::uint64_t scans = 0;
  std::uint64_t drives = 0;
  std::uint64_t timeouts = 0;        ///< decisions without a fresh drive
  std::vector<double> latencies_ms;  ///< from publishing a scan to the first drive after it
  double slipped_s = 0.0;            ///< by how much real time was missed, in all
};

class SimNode final : public RunObserver {
 public:
  /// Advertises and subscribes. Errors: real drivers are there. `graph` outlives the node.
  static Result<std::unique_ptr<SimNode>> make(const SimNodeParameters& parameters, Graph& graph);

  /// Waits for a controller on the graph, then runs the scenario to its end, as run_scenario() does. Errors: those of run_scenario(), and
  /// real drivers that appeared meanwhile. `interrupted` is asked at least every 0.4 s.
  Result<scenarios::Outcome> run(const scenarios::ResolvedRun& run, const std::function<bool()>& interrupted);
  [[nodiscard]] const SimCounts& counts() const { return counts_; }

  void arrived(std::size_t car, const Source<LaserScan>& scan) override;
  void arrived(std::size_t car, const Source<Odometry>& odometry) override;
  void arrived(std::size_t car, const Source<PoseEstimate>& pose) override;
  void arrived(std::size_t car, const Source<Joy>& joy) override;
  void arrived(std::size_t car, const Source<Imu>& imu) override;
  void changed(std::size_t /*car*/, const std::string& /*assignment*/) override {}
  void decided(std::size_t /*car*/, std::uint64_t /*tick*/, const Observation& /*seen*/, const Command& /*command*/) override {}

 private:
  class Remote;
  SimNode(const SimNodeParameters& parameters, Graph& graph) : parameters_(parameters), graph_(graph) {}
  Status open();
  Status begin(sim::World& world);
  [[nodiscard]] bool controller_is_there() const;
  void after_step(const sim::World& world);
  void look_for_drivers();
  // Whether somebody wants the run to end.
  [[nodiscard]] bool ends() const { return !refusal_.empty() || interrupted_(); }
  void take(const ros_messages::AckermannDriveStamped& drive, const Arrival& arrival);
  void instant(Time t);
  void flush_scan();
  void say_clock(Time t);
  void send_transform(const ros_messages::TransformStamped& transform);
  Command answer(Time now);
  Command held();

  SimNodeParameters parameters_;
  Graph& graph_;
  std::function<bool()> interrupted_;
  SimCounts counts_;
  Publisher<ros_messages::LaserScan> scan_;
  Publisher<ros_messages::Odometry> odometry_;
  Publisher<ros_messages::PoseStamped> pose_;
  Publisher<ros_messages::Imu> imu_;
  Publisher<ros_messages::Joy> joy_;
  Publisher<ros_messages::TFMessage> tf_;
  Publisher<ros_messages::TFMessage> tf_static_;
  Publisher<ros_messages::OccupancyGrid> map_;
  Publisher<ros_messages::Clock> clock_;
  std::string refusal_;  // real drivers have appeared
  std::optional<Time> looked_;
  // Time.
  Duration offset_;  // of stamps from simulated time
  Time started_;     // by the graph's clock
  std::optional<Time> instant_;
  const sim::World* world_ = nullptr;
  // What is under way.
  std::optional<LaserScan> waiting_scan_;
  std::optional<Time> scan_sent_;  // by the graph's clock, until a drive has come
  Pose2 T_odom_base_;
  // What has come.
  std::optional<ros_messages::AckermannDriveStamped> drive_;
  Time drive_received_;
  std::optional<recording::Tick> tick_;
  bool answered_ = true;  // the last decision
};

}  // namespace pitwall::ros_bridge
