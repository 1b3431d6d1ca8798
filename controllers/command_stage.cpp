// SPDX-License-Identifier: Apache-2.0
#include "controllers/command_stage.hpp"

#include <algorithm>
#include <cmath>

namespace pitwall::controllers {

namespace {

// Rounded to float32, but never across the limits that `value` keeps.
float to_float_within(double value, double low, double high) {
  auto rounded = static_cast<float>(value);
  if (static_cast<double>(rounded) > high) rounded = std::nextafter(rounded, -std::numeric_limits<float>::infinity());
  if (static_cast<double>(rounded) < low) rounded = std::nextafter(rounded, std::numeric_limits<float>::infinity());
  return rounded;
}

}  // namespace

void CommandParameters::fields(FieldVisitor& f, const CommandRanges& ranges) {
  f.number("max_speed_mps", max_speed_mps, {"m/s", 0.3, ranges.max_speed_mps, "highest commanded speed"});
  f.number("max_lateral_accel_mps2", max_lateral_accel_mps2,
           {"m/s^2", ranges.min_lateral_mps2, ranges.max_lateral_mps2, "lateral acceleration that the curvature limit allows"});
  f.number("max_acceleration_mps2", max_acceleration_mps2,
           {"m/s^2", ranges.min_acceleration_mps2, ranges.max_acceleration_mps2, "ramp of the speed command upwards"});
  f.number("max_braking_decel_mps2", max_braking_decel_mps2,
           {"m/s^2", ranges.min_braking_mps2, ranges.max_braking_mps2, "ramp of the speed command downwards, for planned slow-downs"});
  f.number("max_steering_rate_radps", max_steering_rate_radps, {"rad/s", 0.2, 4, "ramp of the steering command; the car's own rate wins"});
  f.number("command_slew_max_dt_s", command_slew_max_dt_s, {"s", 0.01, 0.5, "longest time step of a ramp, and that of the first command"});
}

CommandStage::CommandStage(const CommandParameters& parameters, const CarParameters& car)
    : parameters_(parameters),
      max_speed_mps_(std::min(parameters.max_speed_mps, car.speed_max_mps)),
      steering_rate_radps_(std::min(parameters.max_steering_rate_radps, car.steering_rate_max_radps)),
      wheelbase_m_(car.wheelbase_m),
      left_lock_rad_(car.steering_max_left_rad),
      right_lock_rad_(car.steering_max_right_rad) {}

void CommandStage::change_parameters(const CommandParameters& parameters, const CarParameters& car) {
  parameters_ = parameters;
  max_speed_mps_ = std::min(parameters.max_speed_mps, car.speed_max_mps);
  steering_rate_radps_ = std::min(parameters.max_steering_rate_radps, car.steering_rate_max_radps);
}

void CommandStage::reset() {
  steering_rad_ = 0.0;
  speed_mps_ = 0.0;
  last_.reset();
}

void CommandStage::resume(const Command& last, Time at) {
  steering_rad_ = last.steering_angle_rad;
  speed_mps_ = last.speed_mps;
  last_ = at;
}

double CommandStage::age_s(Time now) const { return last_ ? (now - *last_).seconds() : std::numeric_limits<double>::infinity(); }

double CommandStage::step_s(Time now) const { return std::clamp(age_s(now), 0.0, parameters_.command_slew_max_dt_s); }

double CommandStage::within_locks(double steering_rad) const { return std::clamp(steering_rad, right_lock_rad_, left_lock_rad_); }

double CommandStage::limit_of_tangent(double tangent) const {
  const double kappa = std::abs(tangent) / wheelbase_m_;
  // Compared as squares, so that a straight road needs no special case.
  if (parameters_.max_lateral_accel_mps2 >= max_speed_mps_ * max_speed_mps_ * kappa) return max_speed_mps_;
  return std::sqrt(parameters_.max_lateral_accel_mps2 / kappa);
}

double CommandStage::curvature_limit_mps(double steering_rad) const { return limit_of_tangent(math::tan(within_locks(steering_rad))); }

Command CommandStage::drive(Time now, std::optional<double> measured_mps, const Desired& desired) {
  if (!std::isfinite(desired.steering_rad) || !std::isfinite(desired.speed_mps) || std::isnan(desired.hard_cap_mps) ||
      std::isnan(desired.safety_ceiling_mps)) {
    return stop(now, Reason::kSteeringLawFailed, Layer::kLaw);
  }
  if (desired.safety_ceiling_mps <= 0.0) return stop(now, Reason::kForwardStop, Layer::kSafety, desired.beam, desired.ttc_s);
  if (desired.speed_mps <= 0.0 || desired.hard_cap_mps <= 0.0) {
    return stop(now, desired.reason, Layer::kLaw, desired.beam, desired.ttc_s);
  }

  const double dt = step_s(now);
  const double wanted_rad = within_locks(desired.steering_rad);
  const double swing = steering_rate_radps_ * dt;
  const float steering =
      to_float_within(std::clamp(wanted_rad, steering_rad_ - swing, steering_rad_ + swing), right_lock_rad_, left_lock_rad_);

  const double curve = limit_of_tangent(std::max(std::abs(math::tan(wanted_rad)), std::abs(math::tan(static_cast<double>(steering)))));
  const double ceiling = std::min({curve, desired.hard_cap_mps, desired.safety_ceiling_mps});
  const double target = std::min(desired.speed_mps, ceiling);
  double basis = speed_mps_;
  if (measured_mps && std::isfinite(*measured_mps)) basis = std::max(basis, std::abs(*measured_mps));
  // Downwards the ramp starts from the last command, not from a measured speed above it: noise must not raise a command.
  const double ramped =
      std::clamp(target, speed_mps_ - parameters_.max_braking_decel_mps2 * dt, basis + parameters_.max_acceleration_mps2 * dt);
  const double limited = std::max(0.0, std::min(ramped, ceiling));

  Command command;
  command.steering_angle_rad = steering;
  command.speed_mps = to_float_within(limited, 0.0, ceiling);
  command.reason = desired.reason;
  command.layer = Layer::kLaw;
  if (limited != desired.speed_mps) {
    command.layer = limited == desired.safety_ceiling_mps ? Layer::kSafety : Layer::kCommandStage;
  }
  command.beam = desired.beam;
  command.ttc_s = static_cast<float>(desired.ttc_s);
  steering_rad_ = static_cast<double>(command.steering_angle_rad);
  speed_mps_ = static_cast<double>(command.speed_mps);
  last_ = now;
  return command;
}

Command CommandStage::stop(Time now, Reason reason, Layer layer, std::int32_t beam, double ttc_s) {
  speed_mps_ = 0.0;
  last_ = now;
  Command command;
  command.steering_angle_rad = static_cast<float>(steering_rad_);
  command.speed_mps = 0.0F;
  command.reason = reason;
  command.layer = layer;
  command.beam = beam;
  command.ttc_s = static_cast<float>(ttc_s);
  return command;
}

}  // namespace pitwall::controllers
