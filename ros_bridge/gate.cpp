// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/gate.hpp"

namespace pitwall::ros_bridge {
namespace {

struct Words {
  std::string_view name;
  std::string_view hint;
};

constexpr std::array<Words, kCauses> kWords{{
    {"none", ""},
    {"shutdown", ""},
    {"emergency_stop", "release it, let go of the deadman, and press the acknowledge button (or the deadman again)"},
    {"waiting_for_joy", "start the joystick's node, or look at its topic and domain"},
    {"joy_stale", "the joystick's node has fallen silent: look at pad, dongle and autorepeat_rate (20 or more)"},
    {"deadman_button_missing", "this pad has no such button: look at its mode switch (D/X) and at deadman_button"},
    {"deadman_released", ""},
    {"deadman_not_seen_released", "let go of the deadman once"},
    {"teleop", ""},
    {"teleop_stale", "the teleop button is held, and nothing comes on the teleop topic"},
    {"clock_jumped", "let go of the deadman and press it again; look at time synchronisation"},
    {"duplicate_publisher", "an input has two publishers: end one of them (`ros2 topic info -v`)"},
    {"other_driver", "another node publishes on the drive topic: end it"},
    {"loop_late", "this program was held up: look at the machine's load"},
    {"scan_missing", "start the LiDAR's node, or look at its topic"},
    {"scan_stale", "no scan that can be used lately: look at LiDAR, network and its clock"},
    {"odometry_missing", "start the odometry, or look at its topic"},
    {"odometry_stale", "the odometry has fallen silent"},
    {"pose_missing", "start the localisation, or look at its topic and frames"},
    {"pose_stale", "the localisation has fallen silent"},
    {"command_not_finite", "the controller answered NaN or infinity: a bug"},
    {"command_stale", "the controller has not decided lately"},
}};

// What the operator's own driving does not survive either; the controller's inputs are not its concern.
bool stops_everybody(Cause cause) { return cause == Cause::kClockJumped || cause == Cause::kOtherDriver || cause == Cause::kLoopLate; }

bool late(const std::optional<Time>& last, Time now, double deadline_s) { return now - *last >= from_seconds(deadline_s); }

}  // namespace

std::string_view name(Cause cause) { return kWords[static_cast<std::size_t>(cause)].name; }
std::string_view hint(Cause cause) { return kWords[static_cast<std::size_t>(cause)].hint; }

void GateParameters::fields(FieldVisitor& f) {
  f.flag("release_first", release_first, "at the start and after trouble the deadman must be let go of once");
  f.integer("deadman_button", deadman_button, {"", 0, 63, "index of the deadman button in /joy"});
  f.integer("estop_button", estop_button, {"", -1, 63, "index of an emergency stop button; -1: none"});
  f.integer("teleop_button", teleop_button, {"", -1, 63, "index of the button that lets the teleop topic drive; -1: none"});
  f.integer("acknowledge_button", acknowledge_button, {"", -1, 63, "index of the button that leaves an emergency stop; -1: the deadman"});
  f.number("joy_deadline_s", joy_deadline_s, {"s", 0.05, 0.5, "age of /joy from which the operator counts as lost"});
  f.number("input_deadline_s", input_deadline_s, {"s", 0.05, 0.5, "age of scan, odometry and pose from which nothing moves"});
  f.number("command_deadline_s", command_deadline_s, {"s", 0.05, 0.5, "age of a decision from which nothing moves"});
  f.number("teleop_deadline_s", teleop_deadline_s, {"s", 0.05, 0.5, "age of a teleop command from which nothing moves"});
  f.number("loop_deadline_s", loop_deadline_s, {"s", 0.05, 1.0, "time between two ticks from which nothing moves"});
  f.number("zeros_s", zeros_s, {"s", 0.1, 10.0, "how long a stop is repeated where no decision comes"});
}

Cause Gate::of_operator(const GateFacts& f) const {
  if (!f.joy) return Cause::kWaitingForJoy;
  if (late(f.joy, f.now, parameters_.joy_deadline_s)) return Cause::kJoyStale;
  if (!f.button_there) return Cause::kDeadmanButtonMissing;
  if (f.by_hand) return f.teleop && !late(f.teleop, f.now, parameters_.teleop_deadline_s) ? Cause::kTeleop : Cause::kTeleopStale;
  return f.deadman ? Cause::kNone : Cause::kDeadmanReleased;
}

Cause Gate::of_inputs(const GateFacts& f) const {
  if (f.clock_jumped) return Cause::kClockJumped;
  if (f.duplicate) return Cause::kDuplicatePublisher;
  if (f.other_driver) return Cause::kOtherDriver;
  if (f.since_last >= from_seconds(parameters_.loop_deadline_s)) return Cause::kLoopLate;
  const auto look = [&](bool needed, const std::optional<Time>& last, Cause missing, Cause stale) {
    if (!needed) return Cause::kNone;
    if (!last) return missing;
    return late(last, f.now, parameters_.input_deadline_s) ? stale : Cause::kNone;
  };
  if (const Cause c = look(f.needs_scan, f.scan, Cause::kScanMissing, Cause::kScanStale); c != Cause::kNone) return c;
  if (const Cause c = look(f.needs_odometry, f.odometry, Cause::kOdometryMissing, Cause::kOdometryStale); c != Cause::kNone) return c;
  if (const Cause c = look(f.needs_pose, f.pose, Cause::kPoseMissing, Cause::kPoseStale); c != Cause::kNone) return c;
  if (!f.command_finite) return Cause::kCommandNotFinite;
  if (!f.command || late(f.command, f.now, parameters_.command_deadline_s)) return Cause::kCommandStale;
  return Cause::kNone;
}

void Gate::latch(const GateFacts& f) {
  if (f.estop) {
    estop_ = true;
    released_ = false;
  }
  const bool fresh = f.joy && !late(f.joy, f.now, parameters_.joy_deadline_s);
  const bool let_go = fresh && f.button_there && !f.deadman;
  if (!estop_) {
    released_ = released_ || let_go;
    return;
  }
  if (f.estop || !let_go) return;
  if (parameters_.acknowledge_button < 0 || f.acknowledge) {
    estop_ = false;
    released_ = true;
  }
}

Cause Gate::tick(const GateFacts& f) {
  latch(f);
  const Cause before = cause_;
  const Cause of_op = of_operator(f);
  const Cause of_in = of_inputs(f);
  // What has gone wrong counts from when it does, also while the deadman is released: it may not drive off by itself later.
  if (of_in != Cause::kNone || (of_op != Cause::kNone && of_op != Cause::kDeadmanReleased))
    released_ = of_op == Cause::kDeadmanReleased && released_;
  cause_ = Cause::kNone;
  if (f.shutdown) {
    cause_ = Cause::kShutdown;
  } else if (estop_) {
    cause_ = Cause::kEmergencyStop;
  } else if (of_op == Cause::kTeleop && stops_everybody(of_in)) {
    cause_ = of_in;
  } else if (of_op != Cause::kNone) {
    cause_ = of_op;
  } else if (of_in != Cause::kNone) {
    cause_ = of_in;
  } else if (parameters_.release_first && !released_) {
    cause_ = Cause::kDeadmanNotSeenReleased;
  }
  if (cause_ != before) since_ = f.now;
  return cause_;
}

}  // namespace pitwall::ros_bridge
