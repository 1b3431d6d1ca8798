// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/controller_node.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/log.hpp"
#include "ros_bridge/live_parameters.hpp"
#include "ros_messages/convert.hpp"

namespace pitwall::ros_bridge {
namespace {

namespace ros = ros_messages;

constexpr Duration kTick = from_milliseconds(10);
constexpr Duration kControlTick = from_milliseconds(25);
constexpr Duration kGraphLooks = from_milliseconds(200);
// A clock that goes back, or ahead by more than this at once, has jumped.
constexpr Duration kClockLeap = from_milliseconds(1000);
constexpr std::size_t kLatenciesKept = 1'000'000;

bool pressed(const Joy& joy, std::int64_t button) {
  return button >= 0 && static_cast<std::size_t>(button) < joy.buttons.size() && joy.buttons[static_cast<std::size_t>(button)] == 1;
}

}  // namespace

void ControllerNodeParameters::fields(FieldVisitor& f) {
  f.text("name", name, "of the node");
  f.flag("use_sim_time", use_sim_time, "time is that of /clock");
  f.text("drive_topic", drive_topic, "ackermann_msgs/AckermannDriveStamped, out");
  f.text("teleop_topic", teleop_topic, "ackermann_msgs/AckermannDriveStamped of the operator's hands, in; with gate.teleop_button");
  f.text("estop_topic", estop_topic, "std_msgs/Bool; true stops and latches; empty: none");
  f.nested("inputs", inputs);
  f.nested("gate", gate);
  f.nested("reports", reports);
}

ControllerNode::ControllerNode(const ControllerNodeSetup& setup, Graph& graph, Controller& controller, Localiser* localiser,
                               RunObserver& observer)
    : setup_(setup),
      graph_(graph),
      controller_(controller),
      observer_(observer),
      inputs_(setup.parameters.inputs, graph, localiser, observer),
      gate_(setup.parameters.gate),
      reports_(setup.parameters.reports, setup.parameters.name, setup.car) {
  facts_.needs_scan = true;
  facts_.needs_odometry = true;
  facts_.needs_pose = inputs_.needs_pose();
  tick_message_.car = setup.car_name;
  drive_message_.header.frame_id = setup.parameters.inputs.base_frame;
}

Result<std::unique_ptr<ControllerNode>> ControllerNode::make(const ControllerNodeSetup& setup, Graph& graph, Controller& controller,
                                                             Localiser* localiser, RunObserver& observer) {
  if (const Status status = check_fields("bridge", setup.parameters); !status) return status.error();
  std::unique_ptr<ControllerNode> node(new ControllerNode(setup, graph, controller, localiser, observer));
  if (localiser != nullptr) localiser->reset(std::nullopt);
  if (const Status status = node->open(); !status) return status.error();
  return node;
}

Status ControllerNode::open() {
  const ControllerNodeParameters& p = setup_.parameters;
  Status status = drive_.open(graph_, p.drive_topic, Qos::publish());
  if (status) status = tick_.open(graph_, std::string(recording::kTickTopic), Qos::publish());
  if (status) status = reports_.open(graph_);
  if (status) status = inputs_.open([this] { return now(); });
  if (status && p.use_sim_time) {
    Qos qos = Qos::clock();
    if (p.inputs.reliable) qos = {.reliable = true, .transient_local = false, .depth = 100};
    status =
        subscribe<ros::Clock>(graph_, "/clock", qos, [this](const ros::Clock& m, const Arrival&) { take_clock(ros::to_time(m.clock)); });
  }
  if (status && p.gate.teleop_button >= 0) {
    status = subscribe<ros::AckermannDriveStamped>(graph_, p.teleop_topic, Qos::subscribe(),
                                                   [this](const auto& m, const Arrival& /*arrival*/) { take_teleop(m); });
  }
  if (status && !p.estop_topic.empty()) {
    status = subscribe<ros::Bool>(graph_, p.estop_topic, Qos::subscribe(),
                                  [this](const ros::Bool& m, const Arrival&) { estop_topic_ = m.data; });
  }
  if (status) {
    status = subscribe<ros::String>(graph_, "/" + p.name + "/set", Qos::subscribe(), [this](const ros::String& m, const Arrival&) {
      const Result<Node> changes = parse_yaml(m.data, "/" + setup_.parameters.name + "/set");
      const Status set = changes ? set_parameters(*changes) : Status(changes.error());
      reports_.answer(now(), m.data, set);
    });
  }
  return status;
}

Time ControllerNode::now() const { return setup_.parameters.use_sim_time ? clock_ : graph_.now(); }

Time ControllerNode::next_wake() const {
  const Time soon = graph_.now() + kTick;
  return next_decision_ && !setup_.parameters.use_sim_time ? std::min(soon, *next_decision_) : soon;
}

void ControllerNode::take_clock(Time clock) {
  if (clock_heard_ && (clock < clock_ || clock - clock_ > kClockLeap)) {
    clock_jumped_ = true;
    ++counts_.clock_jumps;
    inputs_.forget();
    facts_.command.reset();
    last_sent_.reset();
    if (next_decision_) next_decision_ = clock;
  }
  // What waits is of the instant that is over now.
  if (begun_ && !period_ && clock != clock_ && inputs_.take_scan_waits()) decide(clock_);
  clock_ = clock;
  if (!std::exchange(clock_heard_, true)) begin(clock);
  if (!period_ || *next_decision_ >= clock_) return;
  while (*next_decision_ + *period_ < clock_) next_decision_ = *next_decision_ + *period_;
  decide(*next_decision_);
}

void ControllerNode::begin(Time at) {
  begun_ = true;
  Observation first = inputs_.seen();
  // Under simulated time always the same, as in the simulator.
  first.now = setup_.parameters.use_sim_time ? Time{} : at;
  controller_.reset(first);
  period_ = controller_.trigger().period;
  if (period_) next_decision_ = at;
}

Status ControllerNode::set_parameters(const Node& changes) {
  Result<std::vector<std::string>> made = change_live(controller_, changes);
  if (!made) return made.error();
  period_ = controller_.trigger().period;
  for (std::string& assignment : *made) {
    observer_.changed(0, assignment);
    reports_.changed(now(), assignment);
    changes_.push_back(std::move(assignment));
  }
  return {};
}

void ControllerNode::tick() {
  const Time at = now();
  if (!setup_.parameters.use_sim_time) {
    if (!begun_) begin(at);
    if (period_ && at >= *next_decision_) decide(at);
  }
  if (!begun_) return;
  if (!period_ && inputs_.take_scan_waits()) decide(at);
  look(at);
  report(at);
}

void ControllerNode::decide(Time at) {
  if (period_) next_decision_ = std::max(*next_decision_ + *period_, at);
  Observation seen = inputs_.seen();
  seen.now = at;
  command_ = controller_.update(seen);
  ++counts_.decisions;
  observer_.decided(0, counts_.decisions, seen, command_);
  facts_.command_finite = std::isfinite(command_.speed_mps) && std::isfinite(command_.steering_angle_rad);
  facts_.command = at;
  look(at);

  tick_message_.now_ns = at.ns;
  tick_message_.tick = counts_.decisions;
  tick_message_.scan = seen.scan.sequence;
  tick_message_.odometry = seen.odometry.sequence;
  tick_message_.pose = seen.pose.sequence;
  tick_message_.joy = seen.joy.sequence;
  tick_message_.imu = seen.imu.sequence;
  tick_message_.parameter_changes = std::exchange(changes_, {});
  tick_message_.steering_angle_rad = command_.steering_angle_rad;
  tick_message_.speed_mps = command_.speed_mps;
  tick_message_.reason = pitwall::name(command_.reason);
  tick_message_.layer = pitwall::name(command_.layer);
  tick_message_.beam = command_.beam;
  tick_message_.ttc_s = command_.ttc_s;
  tick_.publish(tick_message_);
  send_decision(at);
  if (!period_ && counts_.latencies_ms.size() < kLatenciesKept)
    counts_.latencies_ms.push_back(1e3 * (graph_.now() - inputs_.state(NodeInputs::kScan).heard).seconds());
}

// A stop of the controller's own goes out as it is; what would move the car only through the open gate.
void ControllerNode::send_decision(Time at) {
  if (gate_.cause() == Cause::kTeleop) return;
  const bool moves = command_.speed_mps != 0.0F;
  if (!facts_.command_finite || (moves && gate_.cause() != Cause::kNone)) return send(at, steering_sent_rad_, 0.0F);
  send_bounded(at, command_.steering_angle_rad, command_.speed_mps);
}

// Once each, from the message that it came in.
void ControllerNode::take_teleop(const ros::AckermannDriveStamped& message) {
  const auto& drive = message.drive;
  if (!begun_ || !std::isfinite(drive.speed) || !std::isfinite(drive.steering_angle)) return;
  facts_.teleop = now();
  look(now());
  if (gate_.cause() == Cause::kTeleop) send_bounded(now(), drive.steering_angle, drive.speed);
}

void ControllerNode::send_bounded(Time at, float steering_rad, float speed_mps) {
  const auto most = static_cast<float>(setup_.car.speed_max_mps);
  send(
      at,
      std::clamp(steering_rad, static_cast<float>(setup_.car.steering_max_right_rad), static_cast<float>(setup_.car.steering_max_left_rad)),
      std::clamp(speed_mps, -most, most));
}

void ControllerNode::look(Time at) {
  watch_graph();
  const Joy& joy = inputs_.joy();
  const GateParameters& g = setup_.parameters.gate;
  facts_.now = at;
  facts_.since_last = looked_ && at > *looked_ ? at - *looked_ : Duration{};
  looked_ = at;
  facts_.joy = inputs_.state(NodeInputs::kJoy).arrival;
  facts_.button_there = static_cast<std::size_t>(g.deadman_button) < joy.buttons.size();
  facts_.deadman = pressed(joy, g.deadman_button);
  facts_.estop = estop_topic_ || pressed(joy, g.estop_button);
  facts_.by_hand = pressed(joy, g.teleop_button);
  facts_.acknowledge = pressed(joy, g.acknowledge_button);
  facts_.scan = inputs_.state(NodeInputs::kScan).arrival;
  facts_.odometry = inputs_.state(NodeInputs::kOdometry).arrival;
  facts_.pose = inputs_.state(NodeInputs::kPose).arrival;
  facts_.clock_jumped = std::exchange(clock_jumped_, false);
  facts_.duplicate = inputs_.duplicate();
  const Cause before = gate_.cause();
  const Cause cause = gate_.tick(facts_);
  const auto drives = [](Cause c) { return c == Cause::kNone || c == Cause::kTeleop; };
  if (drives(cause)) return;
  // The stop itself at once; then zeros where no decision sends them.
  const bool fresh = drives(before);
  if (fresh) ++counts_.stops;
  const bool repeat = last_sent_ && at - *last_sent_ > kControlTick && at - gate_.since() <= from_seconds(g.zeros_s);
  if ((fresh && facts_.command != at) || repeat) {
    ++counts_.zeros;
    send(at, steering_sent_rad_, 0.0F);
  }
}

void ControllerNode::watch_graph() {
  const Time wall = graph_.now();
  if (looked_at_graph_ && wall - *looked_at_graph_ < kGraphLooks) return;
  looked_at_graph_ = wall;
  const auto drives = [&](const Endpoint& e) { return e.writes && !e.ours && e.topic.name == setup_.parameters.drive_topic; };
  const std::vector<Endpoint> endpoints = graph_.endpoints();
  facts_.other_driver = std::any_of(endpoints.begin(), endpoints.end(), drives);
}

void ControllerNode::send(Time stamp, float steering_rad, float speed_mps) {
  drive_message_.header.stamp = ros::to_stamp(stamp);
  drive_message_.drive.steering_angle = steering_rad;
  drive_message_.drive.speed = speed_mps;
  drive_.publish(drive_message_) ? ++counts_.sent : ++counts_.lost;
  last_sent_ = stamp;
  steering_sent_rad_ = steering_rad;
}

void ControllerNode::report(Time at) {
  Report report{at,      controller_.name(), command_, counts_.decisions, gate_.cause(), steering_sent_rad_, drive_message_.drive.speed,
                inputs_, counts_.lost};
  reports_.tick(report);
}

}  // namespace pitwall::ros_bridge
