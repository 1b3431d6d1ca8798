// SPDX-License-Identifier: Apache-2.0
// Whether what a controller commands may go out on a ROS graph. The bridge does not see the motor, so a stop is speed 0, with the wheels
// held where they are, and what the driver below makes of it. Everything has to be right at once:
//
// - the operator: /joy has come, is younger than its deadline, has the deadman button, and it is pressed; after any trouble, and at the
//   start, it must first be seen released (spec: simulator_and_controllers 10, driver_safety rows 1 to 3 and 29);
// - the inputs: scan, odometry and pose fresh, each from one publisher, from a clock that goes forward (rows 20 and 23);
// - the way out: nobody else publishes on it, and the command is finite and fresh (row 4);
// - no emergency stop: it is latched, and left by the acknowledge button with the deadman released (row 27).
//
// The operator may drive by hand (teleop) with a button of its own, which is the mux: while it is held nothing of the controller gets out,
// whether teleop says something or not; let go, the controller needs its own deadman, pressed anew. A teleop that publishes all the time
// masks nobody. The loss of the operator is a stop, never another source's turn. No clock and no I/O: tick it at least every 25 ms.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/fields.hpp"
#include "core/time.hpp"

namespace pitwall::ros_bridge {

/// Why nothing may move; names are those of logs and diagnostics.
enum class Cause : std::uint8_t {
  kNone,
  kShutdown,
  kEmergencyStop,
  // Operator.
  kWaitingForJoy,
  kJoyStale,
  kDeadmanButtonMissing,
  kDeadmanReleased,
  kDeadmanNotSeenReleased,
  kTeleop,
  kTeleopStale,
  // Graph.
  kClockJumped,
  kDuplicatePublisher,
  kOtherDriver,
  kLoopLate,
  // Inputs.
  kScanMissing,
  kScanStale,
  kOdometryMissing,
  kOdometryStale,
  kPoseMissing,
  kPoseStale,
  // Controller.
  kCommandNotFinite,
  kCommandStale,
};
inline constexpr int kCauses = static_cast<int>(Cause::kCommandStale) + 1;
std::string_view name(Cause cause);
/// What to do about it, for people; empty where it is plain.
std::string_view hint(Cause cause);

struct GateParameters {
  bool release_first = true;  ///< at the start, and after trouble
  std::int64_t deadman_button = 4;
  std::int64_t estop_button = -1;        ///< none
  std::int64_t teleop_button = -1;       ///< none
  std::int64_t acknowledge_button = -1;  ///< none: the latch is left by releasing and pressing the deadman
  // Deadlines since the last good input (driver_safety, "Deadlines").
  double joy_deadline_s = 0.25;
  double input_deadline_s = 0.4;
  double command_deadline_s = 0.15;
  double teleop_deadline_s = 0.2;
  double loop_deadline_s = 0.15;  ///< between two ticks: what came meanwhile looks fresh, and is not
  double zeros_s = 1.0;           ///< how long a stop is repeated where no decision comes any more; then silence
  void fields(FieldVisitor& f);
};

/// All that is known at one tick; arrivals by one clock.
struct GateFacts {
  Time now;
  std::optional<Time> joy;
  bool button_there = false;  ///< the last /joy has such a button
  bool deadman = false;
  bool estop = false;        ///< some emergency stop is asked for now
  bool acknowledge = false;  ///< its button is pressed
  bool by_hand = false;      ///< the teleop button is pressed
  std::optional<Time> teleop;
  bool needs_scan = false;
  bool needs_odometry = false;
  bool needs_pose = false;
  std::optional<Time> scan;
  std::optional<Time> odometry;
  std::optional<Time> pose;
  bool clock_jumped = false;  ///< since the last tick
  bool duplicate = false;     ///< an input has two publishers
  bool other_driver = false;  ///< the output has another publisher
  Duration since_last;        ///< tick, by the same clock
  std::optional<Time> command;
  bool command_finite = true;
  bool shutdown = false;
};

class Gate {
 public:
  explicit Gate(const GateParameters& parameters) : parameters_(parameters) {}

  /// Why nothing of the controller may move the car now; kNone: its commands go out; kTeleop: those of teleop do.
  Cause tick(const GateFacts& facts);
  [[nodiscard]] Cause cause() const { return cause_; }
  /// Since when it is that cause.
  [[nodiscard]] Time since() const { return since_; }

 private:
  [[nodiscard]] Cause of_operator(const GateFacts& f) const;
  [[nodiscard]] Cause of_inputs(const GateFacts& f) const;
  void latch(const GateFacts& f);

  GateParameters parameters_;
  Cause cause_ = Cause::kWaitingForJoy;
  Time since_;
  bool released_ = false;  // the deadman was seen so since the last trouble
  bool estop_ = false;
};

}  // namespace pitwall::ros_bridge
