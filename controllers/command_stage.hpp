// SPDX-License-Identifier: Apache-2.0
// The one command stage. Whatever a law wants, this is what the car is told (spec sections 5.2 steps 12-15 and 6.4):
//
//   steering   slewed from the last commanded angle at max_steering_rate, within the car's two locks
//   speed      target  = min(desired, curvature limit, hard cap, safety ceiling)
//              command = target, at most max(last, |measured|) + max_acceleration * dt,
//                        at least last - max_braking_decel * dt;
//                        then cut by curvature limit, hard cap and safety ceiling at once, never below 0
//   curvature  kappa = max(|tan desired|, |tan commanded|) / wheelbase, limit = sqrt(max_lateral_accel / kappa)
//
// No floor of any kind enters here. What is sent is rounded to float32, as the wire holds it, before it becomes the next
// basis. A stop is speed 0 at once with the steering held where it is: turning wheels under a braking car helps nobody.
#pragma once

#include <limits>
#include <optional>

#include "core/car.hpp"
#include "core/controller.hpp"
#include "core/fields.hpp"

namespace pitwall::controllers {

/// Allowed ranges, which differ between the controllers.
struct CommandRanges {
  double max_speed_mps = 4.0;
  double min_acceleration_mps2 = 0.5;
  double max_acceleration_mps2 = 6.0;
  double min_braking_mps2 = 0.5;
  double max_braking_mps2 = 5.0;
  double min_lateral_mps2 = 0.3;
  double max_lateral_mps2 = 4.0;
};

/// Of controllers that follow a line.
inline constexpr CommandRanges kLineRanges{6.0, 1.0, 8.0, 1.0, 12.0, 0.5, 6.0};

/// Tuning. The car's own limits (locks, steering rate, top speed) come from its profile and always win.
struct CommandParameters {
  double max_speed_mps = 2.5;
  double max_lateral_accel_mps2 = 1.0;
  double max_acceleration_mps2 = 3.0;
  double max_braking_decel_mps2 = 3.0;  ///< of planned slow-downs
  double max_steering_rate_radps = 1.0;
  double command_slew_max_dt_s = 0.10;  ///< longest time step of a ramp, and that of the first command
  void fields(FieldVisitor& f, const CommandRanges& ranges = {});
};

/// What a law wants, and what bounds it.
struct Desired {
  double steering_rad = 0.0;
  double speed_mps = 0.0;
  double hard_cap_mps = std::numeric_limits<double>::infinity();        ///< of the law's mode; acts at once
  double safety_ceiling_mps = std::numeric_limits<double>::infinity();  ///< of the safety stage; acts at once
  Reason reason = Reason::kDrive;
  std::int32_t beam = -1;
  double ttc_s = std::numeric_limits<double>::infinity();
};

/// Ramps and limits with the memory of the last command; one object drives one car.
class CommandStage {
 public:
  CommandStage(const CommandParameters& parameters, const CarParameters& car);

  void reset();
  /// Other tuning; the memory of the last command stays.
  void change_parameters(const CommandParameters& parameters, const CarParameters& car);
  /// As though `last` had been its own command of that time.
  void resume(const Command& last, Time at);

  /// The command at `now`. `measured_mps` is the odometry speed where it is fresh. Non-finite wishes are a stop with
  /// kSteeringLawFailed; a desired speed or hard cap <= 0 is a stop with desired.reason, a safety ceiling <= 0 one with
  /// kForwardStop (pass a stop's reason where the law itself wants to stand).
  Command drive(Time now, std::optional<double> measured_mps, const Desired& desired);
  /// Speed 0 at once, steering held.
  Command stop(Time now, Reason reason, Layer layer, std::int32_t beam = -1, double ttc_s = std::numeric_limits<double>::infinity());

  /// Last commanded steering angle, rad: the basis of the next slew.
  [[nodiscard]] double steering_rad() const { return steering_rad_; }
  /// Last commanded speed, m/s; 0 after a stop.
  [[nodiscard]] double speed_mps() const { return speed_mps_; }
  /// Age of the last command in seconds; +inf before the first.
  [[nodiscard]] double age_s(Time now) const;
  /// Highest speed ever commanded, m/s: the smaller of the tuning's and the car's.
  [[nodiscard]] double max_speed_mps() const { return max_speed_mps_; }
  /// A steering angle brought within the car's locks.
  [[nodiscard]] double within_locks(double steering_rad) const;
  /// sqrt(max_lateral_accel / |kappa|) of a steering angle, at most max_speed.
  [[nodiscard]] double curvature_limit_mps(double steering_rad) const;

 private:
  [[nodiscard]] double limit_of_tangent(double tangent) const;
  [[nodiscard]] double step_s(Time now) const;

  CommandParameters parameters_;
  double max_speed_mps_;
  double steering_rate_radps_;
  double wheelbase_m_;
  double left_lock_rad_;
  double right_lock_rad_;
  double steering_rad_ = 0.0;
  double speed_mps_ = 0.0;
  std::optional<Time> last_;
};

}  // namespace pitwall::controllers
