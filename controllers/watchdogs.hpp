// SPDX-License-Identifier: Apache-2.0
// The one ordered set of checks that stands before every controller: the operator's deadman switch, then each source
// that the controller needs. The first check that fails names the stop; recovery is immediate once the cause is gone.
//
// Age of a message: the larger of (now - arrival) and (now - stamp); a zero stamp counts by arrival alone. Arrivals in
// the future, and stamps more than kFutureTolerance ahead, are as bad as stale ones: that clock cannot be trusted.
#pragma once

#include <optional>

#include "core/controller.hpp"
#include "core/fields.hpp"

namespace pitwall::controllers {

/// How far a stamp may lie ahead of the decision time (sensor clocks that are disciplined, not equal).
inline constexpr Duration kFutureTolerance = from_milliseconds(20);

/// Tuning of the checks; the deadman is part of a launch, never of a run.
struct WatchdogParameters {
  bool enable_deadman = true;
  std::int64_t deadman_button = 4;
  double joy_timeout_s = 0.5;
  double scan_timeout_s = 0.5;
  double odometry_timeout_s = 0.5;
  double pose_timeout_s = 0.5;
  double pose_frozen_speed_mps = 0.3;    ///< a pose is suspect while odometry reports at least this
  double pose_frozen_time_s = 0.5;       ///< ... for longer than this
  double pose_frozen_distance_m = 0.05;  ///< ... and the pose has moved less than this
  void fields(FieldVisitor& f);
};

/// The sources a controller cannot do without.
struct Needs {
  bool scan = false;
  bool odometry = false;
  bool pose = false;
};

/// Whether a message is younger than `timeout_s` and not from the future.
bool is_fresh(Time now, Time arrival, Time stamp, double timeout_s);

/// The checks in their order, with the memory of where the pose was last seen to move.
class Watchdogs {
 public:
  Watchdogs(const WatchdogParameters& parameters, Needs needs) : parameters_(parameters), needs_(needs) {}

  void reset();
  /// Other tuning; the memory stays.
  void change_parameters(const WatchdogParameters& parameters) { parameters_ = parameters; }
  /// The reason to stop now, or nothing. Call it once a tick, whatever else happens: it also follows the pose.
  std::optional<Reason> check(const Observation& obs);

 private:
  [[nodiscard]] std::optional<Reason> check_operator(const Observation& obs) const;
  [[nodiscard]] std::optional<Reason> check_scan(const Observation& obs) const;
  [[nodiscard]] std::optional<Reason> check_odometry(const Observation& obs) const;
  [[nodiscard]] std::optional<Reason> check_pose(const Observation& obs) const;
  bool follow_pose(const Observation& obs);

  WatchdogParameters parameters_;
  Needs needs_;
  bool anchored_ = false;  // where and when the pose was last seen to move, or the car to be slow
  Vec2 anchor_;
  Time anchor_time_;
};

}  // namespace pitwall::controllers
