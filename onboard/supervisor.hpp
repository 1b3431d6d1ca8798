// SPDX-License-Identifier: Apache-2.0
// Decides, tick by tick, what the motor controller is told. Between every command and the wheels stands this one state machine:
//
//   NO_DEVICE -> IDENTIFIED -> DISARMED -> ARMED -> STOPPING -> DISARMED ...        FAULT, ESTOP: latched, left by acknowledge only
//
// - Motion needs all of: deadman held, joystick there, scan, odometry, telemetry, pose and command fresh, a loop that runs, plausible
//   wheels, a battery. What is missing makes it STOPPING within the same tick. Losing the operator is a stop, never another source.
// - A command moves the car once. Nothing is repeated, so a controller that hangs leaves the firmware's own timeout in force.
// - A stop is brake current, ramped up, with the steering held, then a hold below 0.2 m/s; speed 0 would only coast. A command of speed 0
//   from the controller is such a stop too, in state ARMED.
// - Arming wants the deadman released once since whatever went wrong, and a press while everything is ready. Speed then rises from 0.
// - A motor controller that comes back is disarmed, whatever was going on.
//
// No I/O and no clock: Facts carry stamps of one monotonic clock. No allocation. Tick it at least every 25 ms.
// The rows of the safety list that it covers are in docs/car.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "core/fields.hpp"
#include "core/time.hpp"
#include "onboard/imu_speed.hpp"
#include "onboard/states.hpp"

namespace pitwall::onboard {

struct SupervisorParameters {
  // Deadlines since the last good input.
  double command_deadline_s = 0.15;
  double input_deadline_s = 0.4;     ///< scan, odometry, telemetry, pose: each
  double loop_deadline_s = 0.15;     ///< between two ticks
  double joystick_silence_s = 0.75;  ///< while moving, of a pad that streams at rest
  double moving_mps = 0.3;           ///< from here on the car counts as moving
  // Motion.
  double speed_max_mps = 5.0;
  double speed_min_mps = 0.0;          ///< negative: reverse is allowed
  double bench_speed_mps = 1.0;        ///< cap in bench mode
  double acceleration_max_mps2 = 4.0;  ///< of the speed that is sent
  double steering_left_rad = 0.0;      ///< most that is sent
  double steering_right_rad = 0.0;     ///< negative
  // Stop.
  double brake_current_a = 25.0;  ///< about 4 m/s^2 of a 3.7 kg car with a 3500 kV motor geared 11.8:1
  double brake_ramp_aps = 250.0;  ///< from half of it upwards
  double hold_current_a = 5.0;
  double standing_mps = 0.2;
  double hold_time_s = 0.5;  ///< standing for so long ends a stop
  double shutdown_longest_s = 1.0;
  // Plausibility.
  double mismatch_mps = 1.0;    ///< measured speed beyond the commands of the last second by this
  double mismatch_share = 0.3;  ///< and by this share of them
  double mismatch_time_s = 0.5;
  double imu_mismatch_mps = 0.4;     ///< measured speed outside of what the IMU allows by this
  double imu_mismatch_share = 0.15;  ///< and by this share of it, for mismatch_time_s
  double sign_mps = 0.3;             ///< both beyond it, with opposite signs
  double sign_time_s = 0.2;
  // Battery, per cell.
  double battery_cells = 3.0;
  double cell_absent_v = 1.67;
  double cell_stop_v = 3.4;
  double cell_cap_v = 3.5;
  double cell_warn_v = 3.6;
  double cell_full_v = 4.25;  ///< from here on braking is limited
  double cell_over_v = 4.5;   ///< where a quarter of it is left
  double voltage_filter_s = 0.5;
  double capped_speed_mps = 1.5;  ///< nearly empty, or hot
  // Heat.
  double fet_warn_degc = 75.0;
  double fet_stop_degc = 90.0;
  double motor_warn_degc = 80.0;
  double motor_stop_degc = 95.0;
  void fields(FieldVisitor& f);
};

/// What the motor controller last said.
struct Telemetry {
  Time arrival;
  double speed_mps = 0.0;
  double voltage_v = 0.0;
  double fet_degc = 0.0;
  double motor_degc = 0.0;  ///< outside 0 .. 150: no sensor
  int fault_code = 0;
  bool firmware_timeout = false;
  bool kill_switch = false;
};

/// What a controller wants, as it came out of it.
struct MotionCommand {
  std::uint64_t sequence = 0;  ///< counts its decisions, from 1
  Time decided;
  double speed_mps = 0.0;
  double steering_rad = 0.0;
};

/// All that is known at one tick. Stamps are arrivals by the monotonic clock.
struct Facts {
  Time now;
  // Motor controller.
  bool motor_present = false;          ///< its port is open and it answers
  bool motor_identified = false;       ///< its firmware is known
  bool motor_supported = true;         ///< and one that we may drive
  std::uint64_t motor_connection = 0;  ///< counts how often it was connected
  std::uint64_t motor_identity = 0;    ///< hash of its UUID; 0 where it has none
  std::optional<Telemetry> telemetry;
  // Operator.
  bool joystick_present = false;
  std::uint64_t joystick_connection = 0;  ///< counts how often it was connected
  bool deadman = false;                   ///< by what the joystick last said
  Time joystick_event;                    ///< its last record, whatever it was
  bool joystick_streams = false;          ///< it was seen to send without being touched
  bool acknowledge = false;
  bool estop = false;
  bool needs_estop = false;  ///< there are emergency stop inputs
  EstopSays estop_says = EstopSays::kWaits;
  std::optional<Time> estop_report;  ///< when that was last said
  bool shutdown = false;             ///< the program was asked to end
  // Speeds that the IMU allows; nothing where there is none, or where the wheels turn in the air.
  std::optional<SpeedRange> imu_speed;
  // Inputs of the controller.
  bool needs_pose = false;
  std::optional<Time> scan;
  std::optional<Time> odometry;
  std::optional<Time> pose;
  std::optional<MotionCommand> command;
};

enum class Motor : std::uint8_t {
  kNothing,  ///< no frame this tick
  kSpeed,
  kBrake,    ///< SET_CURRENT_BRAKE
  kHold,     ///< SET_HANDBRAKE
  kRelease,  ///< SET_CURRENT 0
};
std::string_view name(Motor motor);

struct Transition {
  Time at;
  State from = State::kNoDevice;
  State to = State::kNoDevice;
  Cause cause = Cause::kNone;
};

/// What goes out this tick, and what to tell the operator.
struct Output {
  Motor motor = Motor::kNothing;
  double speed_mps = 0.0;              ///< of kSpeed
  double current_a = 0.0;              ///< of kBrake and kHold
  std::optional<double> steering_rad;  ///< servo; nothing: no frame
  State state = State::kNoDevice;
  Cause cause = Cause::kNone;            ///< why it is in that state
  Cause refused = Cause::kNone;          ///< why a held deadman does not arm
  std::uint32_t warnings = 0;            ///< bits of Warning
  std::optional<Transition> transition;  ///< of this tick
  bool finished = false;                 ///< after a shutdown: the car stands, or had its time to
  [[nodiscard]] bool warns(Warning w) const { return (warnings & static_cast<std::uint32_t>(w)) != 0; }
};

class Supervisor {
 public:
  explicit Supervisor(const SupervisorParameters& parameters, bool bench = false) : parameters_(parameters), bench_(bench) {}

  Output tick(const Facts& facts);
  [[nodiscard]] State state() const { return state_; }
  /// The telemetry with which the last FAULT began.
  [[nodiscard]] const std::optional<Telemetry>& first_fault() const { return first_fault_; }

 private:
  // Speeds that were sent within a tenth of a second.
  struct SentRange {
    double low = 0.0;
    double high = 0.0;
  };

  [[nodiscard]] bool telemetry_fresh(const Facts& f) const;
  [[nodiscard]] bool stands(const Facts& f) const;
  void go(State to, Cause cause, Output& out);
  void look(const Facts& f, Output& out);
  void watch_battery(const Facts& f, Output& out);
  [[nodiscard]] bool lost_device(const Facts& f, Output& out);
  [[nodiscard]] Cause estop(const Facts& f) const;
  [[nodiscard]] bool latched(const Facts& f, Output& out);
  [[nodiscard]] Cause stale(const Facts& f) const;
  [[nodiscard]] Cause unfit(const Facts& f) const;
  [[nodiscard]] Cause reason_to_stop(const Facts& f) const;
  [[nodiscard]] Cause implausible(const Facts& f);
  [[nodiscard]] bool disagrees_with_imu(const Facts& f);
  [[nodiscard]] Cause not_ready(const Facts& f) const;
  void try_to_arm(const Facts& f, Output& out);
  void try_to_leave_latch(const Facts& f, Output& out);
  void change_state(const Facts& f, Output& out);
  void act(const Facts& f, Output& out);
  void drive(const Facts& f, Output& out);
  void brake(const Facts& f, Output& out);
  void idle(const Facts& f, Output& out);
  void finish(const Facts& f, Output& out);
  void remember_sent(Time now, double low_mps, double high_mps);
  [[nodiscard]] double speed_cap() const;

  SupervisorParameters parameters_;
  bool bench_ = false;
  State state_ = State::kNoDevice;
  Cause cause_ = Cause::kNone;
  std::optional<Time> last_tick_;
  double dt_s_ = 0.0;
  // Devices.
  std::uint64_t motor_connection_ = 0;
  std::uint64_t motor_identity_ = 0;
  std::uint64_t joystick_connection_ = 0;
  bool joystick_changed_ = false;
  // Operator.
  bool acknowledge_before_ = false;
  bool released_ = false;  // the deadman was seen so since the last trouble
  Cause refused_ = Cause::kNone;
  // Car.
  double speed_mps_ = 0.0;
  std::optional<double> voltage_v_;  // filtered
  bool capped_ = false;
  std::optional<Telemetry> first_fault_;
  std::optional<Time> standing_since_;
  std::optional<Time> shutdown_since_;
  // What was sent.
  std::optional<Time> armed_at_;
  std::uint64_t used_command_ = 0;
  std::optional<Time> commanded_at_;
  double sent_speed_mps_ = 0.0;
  double brake_a_ = 0.0;
  Time braked_at_;
  std::optional<Time> idled_at_;
  std::array<SentRange, 10> sent_{};  // ring over the last second
  std::int64_t sent_slot_ = 0;
  std::optional<Time> mismatch_since_;
  std::optional<Time> against_since_;
  std::optional<Time> imu_mismatch_since_;
};

}  // namespace pitwall::onboard
