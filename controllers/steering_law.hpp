// SPDX-License-Identifier: Apache-2.0
// The seam of the steering laws. A law only steers: where the car is, how fast it may go, whom it passes, what is dangerous
// and how fast the wheels may turn is decided around it, by the same code for every law (line_controller.hpp):
//
//   watchdogs -> pose now -> place on the line -> opponents -> pass, follow or drive -> LAW -> safety -> command stage
//
// A law is made once for one car and one line and may size what it needs then; steer() does not allocate.
// Signs: d is positive to the left of the line, a heading error is that of the car against the line, steering is positive to
// the left. Everything is given at base_link, the centre of the rear axle.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/law_line.hpp"
#include "controllers/line_following.hpp"
#include "controllers/pose_filter.hpp"
#include "core/car.hpp"
#include "core/geometry.hpp"
#include "core/steering_table.hpp"
#include "core/time.hpp"

namespace pitwall::controllers {

/// What a law is made for.
struct LawSetup {
  CarParameters car;
  double control_period_s = 0.025;
  double steering_rate_radps = 1.0;      ///< how fast the command stage lets the angle change
  double max_speed_mps = 4.0;            ///< of tuning and car
  const LawLine* line = nullptr;         ///< outlives the law; null where only parameters are checked
  const SteeringTable* table = nullptr;  ///< steady-state steering of the car's tyres; null: not given

  /// From a steering command to the wheels: transport delay, servo lag, half a control period, s.
  [[nodiscard]] double total_delay_s() const { return steering_delay_s(car, control_period_s); }
};

/// What a law knows at one tick.
struct LawInput {
  Time now;
  Pose2 T_map_base;                        ///< where the car is now, as estimated from late poses and what was commanded since
  double speed_mps = 0.0;                  ///< measured, smoothed
  double yaw_rate_radps = 0.0;             ///< that the wheels are believed to give at this speed
  double wheel_rad = 0.0;                  ///< angle that the wheels are believed to have
  double commanded_rad = 0.0;              ///< last commanded angle, as sent; 0 before the first. The command stage slews from here
  LineFix fix;                             ///< of T_map_base on the unshifted line
  LineShift shift;                         ///< the sideways shift from the line that is followed on purpose, by arc length
  double shift_m = 0.0;                    ///< the same here
  std::span<const QueuedSteering> queued;  ///< commands that have not reached the servo yet, oldest first
  double acting_rad = 0.0;                 ///< the command that the servo is following now

  /// Signed distance from the shifted line, left positive, m.
  [[nodiscard]] double lateral_error_m() const { return fix.on_line.lateral_m - shift_m; }
};

/// From where the car is to the angle of its front wheels.
class SteeringLaw {
 public:
  virtual ~SteeringLaw() = default;
  SteeringLaw() = default;
  SteeringLaw(const SteeringLaw&) = delete;
  SteeringLaw& operator=(const SteeringLaw&) = delete;

  /// Forgets everything. Called at the start, and before the first steer() after a tick on which the law was not asked.
  virtual void reset() {}
  /// The angle to command, rad, not yet limited to locks and rate. Not finite: the law has failed, and the car stops with
  /// kSteeringLawFailed. No allocation.
  virtual double steer(const LawInput& in) = 0;
  /// Whether the last answer is a stopgap: the law could not do its work and fell back on what it had planned before.
  [[nodiscard]] virtual bool fell_back() const { return false; }
  /// The longest delay in s, from command to wheel (LawSetup::total_delay_s()), with which the loop of this law and a car that
  /// drives straight at this speed is stable. Over the car's own total delay it is the stability margin.
  [[nodiscard]] virtual double delay_margin_s(double speed_mps) const = 0;
  /// What the law counted since it was made (solver iterations, fallbacks), for reports.
  [[nodiscard]] virtual std::vector<std::pair<std::string_view, double>> counters() const { return {}; }
};

/// Delay margin over total delay: how much slower than its profile says the car may answer before the loop is lost.
struct StabilityMargin {
  double value = 0.0;      ///< the least; below 1 the loop is unstable, below kFairMargin little is left for what is not modelled
  double speed_mps = 0.0;  ///< where
};
inline constexpr double kFairMargin = 1.5;

/// The least margin over the speeds up to setup.max_speed_mps.
StabilityMargin stability_margin(const SteeringLaw& law, const LawSetup& setup);

}  // namespace pitwall::controllers
