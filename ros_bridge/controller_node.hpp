// SPDX-License-Identifier: Apache-2.0
// A controller as a node of a ROS graph, whatever carries the graph:
//
//   scan, odometry, pose, joy, IMU, transforms -> NodeInputs -> Controller -> Gate -> /drive
//                                                                              `-> then log, /pitwall/tick, intent, diagnostics
//
// The fourth of those who run a Controller (beside simulator, replay and car_run). Its owner loops: graph.wait(node.next_wake()), then
// node.tick(). On ROS 2 proper a lifecycle node is the same wiring.
//
// Every decision goes out, a stop as speed 0. Where decisions end, zeros are sent for a second, then nothing: the driver below has its own
// timeout, and nothing is ever repeated that could move the car.
//
// Time is the graph's (monotonic), or by use_sim_time that of /clock. Under simulated time a controller that runs at a rate decides for an
// instant once the clock has gone past it: only then has everything of that instant come.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/car.hpp"
#include "core/controller.hpp"
#include "core/localiser.hpp"
#include "core/node.hpp"
#include "core/run_observer.hpp"
#include "recording/run_messages.hpp"
#include "ros_bridge/gate.hpp"
#include "ros_bridge/node_inputs.hpp"
#include "ros_bridge/reports.hpp"
#include "ros_bridge/typed.hpp"
#include "ros_messages/drive.hpp"
#include "ros_messages/standard.hpp"

namespace pitwall::ros_bridge {

struct ControllerNodeParameters {
  std::string name = "bridge_controller";
  bool use_sim_time = false;
  std::string drive_topic = "/drive";
  std::string teleop_topic = "/teleop";  ///< with gate.teleop_button only
  std::string estop_topic = "/estop";    ///< std_msgs/Bool, true: stop
  InputParameters inputs;
  GateParameters gate;
  ReportParameters reports;
  void fields(FieldVisitor& f);
};

struct ControllerNodeSetup {
  ControllerNodeParameters parameters;
  CarParameters car;
  std::string car_name = "ego";  ///< as the recording calls it
};

struct NodeCounts {
  std::uint64_t decisions = 0;
  std::uint64_t sent = 0;
  std::uint64_t lost = 0;   ///< that the transport did not take
  std::uint64_t zeros = 0;  ///< of those sent, without a decision
  std::uint64_t stops = 0;  ///< times the gate shut while it was open
  std::uint64_t clock_jumps = 0;
  std::vector<double> latencies_ms;  ///< from a scan's arrival to its drive, by the graph's clock; the first million
};

class ControllerNode {
 public:
  /// Advertises and subscribes. `localiser` may be null. What is passed by reference outlives the node.
  static Result<std::unique_ptr<ControllerNode>> make(const ControllerNodeSetup& setup, Graph& graph, Controller& controller,
                                                      Localiser* localiser, RunObserver& observer);
  ControllerNode(const ControllerNode&) = delete;
  ControllerNode& operator=(const ControllerNode&) = delete;

  /// After each graph.wait(): decides if it is due, watches the deadlines, reports.
  void tick();
  /// Until when its owner may wait, by the graph's clock: 10 ms at most.
  [[nodiscard]] Time next_wake() const;
  /// From now on zeros; the owner goes on for a moment, then ends.
  void shut_down() { facts_.shutdown = true; }
  /// As a batch by a topic or a ROS service: all of the changes, or none.
  Status set_parameters(const Node& changes);

  [[nodiscard]] const NodeCounts& counts() const { return counts_; }
  [[nodiscard]] const Gate& gate() const { return gate_; }
  [[nodiscard]] const NodeInputs& inputs() const { return inputs_; }
  /// The node's clock.
  [[nodiscard]] Time now() const;
  /// Lines for whoever keeps a log.
  void on_note(Reports::Note note) { reports_.on_note(std::move(note)); }

 private:
  ControllerNode(const ControllerNodeSetup& setup, Graph& graph, Controller& controller, Localiser* localiser, RunObserver& observer);
  Status open();
  void begin(Time at);
  void take_clock(Time clock);
  void decide(Time at);
  void send_decision(Time at);
  void take_teleop(const ros_messages::AckermannDriveStamped& message);
  void send_bounded(Time at, float steering_rad, float speed_mps);
  void look(Time at);
  void watch_graph();
  void send(Time stamp, float steering_rad, float speed_mps);
  void report(Time at);

  ControllerNodeSetup setup_;
  Graph& graph_;
  Controller& controller_;
  RunObserver& observer_;
  NodeInputs inputs_;
  Gate gate_;
  Reports reports_;
  GateFacts facts_;
  NodeCounts counts_;
  Publisher<ros_messages::AckermannDriveStamped> drive_;
  Publisher<recording::Tick> tick_;
  ros_messages::AckermannDriveStamped drive_message_;
  recording::Tick tick_message_;
  // Clock.
  Time clock_;
  bool clock_heard_ = false;
  bool clock_jumped_ = false;
  // Decisions.
  bool begun_ = false;
  std::optional<Duration> period_;
  std::optional<Time> next_decision_;
  Command command_;
  std::vector<std::string> changes_;  // of parameters, since the last decision
  // Output.
  std::optional<Time> last_sent_;
  float steering_sent_rad_ = 0.0F;
  bool estop_topic_ = false;
  std::optional<Time> looked_at_graph_;
  std::optional<Time> looked_;
};

}  // namespace pitwall::ros_bridge
