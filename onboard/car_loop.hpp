// SPDX-License-Identifier: Apache-2.0
// What the car's runner computes, apart from threads and devices: events in, frames for the motor controller out, on a clock that its
// caller owns. It reads like the data flow:
//
//   telemetry, IMU -> estimator -> odometry -+
//   scan -> localiser -> pose ---------------+-> controller -> supervisor -> frames
//   joystick --------------------------------+
//
// Everything the controller is given is told to the observer first, so a recording replays to the bit.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "calibration/hardware.hpp"
#include "core/car.hpp"
#include "core/controller.hpp"
#include "core/localiser.hpp"
#include "core/run_observer.hpp"
#include "drivers/bno055.hpp"
#include "localization/vehicle_state_estimator.hpp"
#include "onboard/actuator_map.hpp"
#include "onboard/events.hpp"
#include "onboard/pad_watch.hpp"
#include "onboard/steering_model.hpp"
#include "onboard/supervisor.hpp"
#include "onboard/wheel_odometry.hpp"

namespace pitwall::onboard {

struct CarLoopSetup {
  CarParameters car;
  calibration::Hardware hardware;
  SupervisorParameters supervisor;
  bool bench = false;
  bool needs_pose = false;
  bool needs_estop = false;    ///< there are emergency stop inputs beside the joystick
  std::optional<Pose2> start;  ///< T_map_base, roughly; nothing: searched for

  /// With the limits of that car; of its two steering locks the smaller on both sides.
  static CarLoopSetup for_car(const CarParameters& car, const calibration::Hardware& hardware);
};

/// Frames of one tick, and where they come from.
struct LoopStep {
  Output out;
  std::array<vesc::Command, 2> frames{};
  std::size_t frame_count = 0;
  std::optional<Time> due;  ///< when this decision was: arrival of its scan, or the instant that its rate asks for
};

struct LoopCounts {
  std::uint64_t scans = 0;
  std::uint64_t scans_refused = 0;  ///< too old, from the future, or with too few valid beams
  std::uint64_t telemetry = 0;
  std::uint64_t imu = 0;
  std::uint64_t imu_refused = 0;  ///< spikes
  std::uint64_t poses = 0;
  std::uint64_t decisions = 0;
  std::uint64_t scans_skipped = 0;  ///< scans that a newer one overtook before the controller ran
};

class CarLoop {
 public:
  /// `localiser` may be null. What is passed by reference outlives the loop.
  CarLoop(const CarLoopSetup& setup, Controller& controller, Localiser* localiser, RunObserver& observer);

  /// Before anything else.
  void begin(Time now);
  /// An event; `now` never decreases. What `event` holds may be swapped away.
  void take(Event& event, Time now);
  /// Runs the controller if it is due, then the supervisor. At least every 25 ms.
  LoopStep tick(Time now);
  /// From now on: brake, then end.
  void shut_down() { facts_.shutdown = true; }

  [[nodiscard]] const LoopCounts& counts() const { return counts_; }
  [[nodiscard]] const Supervisor& supervisor() const { return supervisor_; }
  [[nodiscard]] const Facts& facts() const { return facts_; }
  [[nodiscard]] const localization::VehicleStateEstimator& estimator() const { return estimator_; }
  [[nodiscard]] const WheelOdometry& odometry() const { return wheels_; }
  /// When the controller wants to run next, if by time.
  [[nodiscard]] std::optional<Time> next_decision() const { return next_decision_; }

 private:
  void take_one(const MotorLink& link, Time now);
  void take_one(drivers::Received<vesc::Values>& values, Time now);
  void take_one(drivers::Received<Imu>& imu, Time now);
  void take_one(drivers::Received<LaserScan>& scan, Time now);
  void take_one(JoystickState& joystick, Time now);
  void take_one(const EstopReport& report, Time now);
  void take_one(const Note& /*note*/, Time /*now*/) {}
  void look_at_imu(Time now);
  void decide(Time now);
  void add_frame(LoopStep& step, vesc::CommandKind kind, double value) const;
  [[nodiscard]] bool acceptable(const drivers::Received<LaserScan>& scan, Time now) const;

  CarLoopSetup setup_;
  Controller& controller_;
  Localiser* localiser_;
  RunObserver& observer_;
  ActuatorMap map_;
  Supervisor supervisor_;
  localization::VehicleStateEstimator estimator_;
  bno055::SampleGate imu_gate_;
  Heading heading_;
  ImuSpeed imu_speed_;
  SteeringModel steering_;
  WheelOdometry wheels_;
  PadWatch pad_;
  Facts facts_;
  LoopCounts counts_;
  // The latest message of each source, and what the controller is shown of it.
  LaserScan scan_;
  Odometry odometry_;
  PoseEstimate pose_;
  Joy joy_;
  Imu imu_;
  Observation seen_;
  // Decisions.
  std::optional<Duration> period_;
  std::optional<Time> next_decision_;
  bool scan_waits_ = false;
  std::optional<Time> due_;
};

}  // namespace pitwall::onboard
