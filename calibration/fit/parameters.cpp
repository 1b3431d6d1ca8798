// SPDX-License-Identifier: Apache-2.0
#include "calibration/fit/parameters.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/check.hpp"
#include "core/math.hpp"
#include "core/text.hpp"
#include "plant/single_track.hpp"

namespace pitwall::fit {
namespace {

constexpr double kDelayAllowed_s = 0.010;
constexpr double kShare = 0.1;

enum class Kind { kCar, kStiffness, kUndersteer, kMeasurement };

/// A row of the table. `size`: what 10 % are taken of where a value may be 0.
struct Known {
  std::string_view name;
  std::string_view unit;
  Kind kind;
  double CarParameters::*field;
  double Subject::*measure;
  bool logarithmic;
  double low, high, spread, size;
  std::string_view doc;
};

constexpr Known car(std::string_view name, std::string_view unit, double CarParameters::*field, bool logarithmic, double low, double high,
                    double spread, double size, std::string_view doc) {
  return {name, unit, Kind::kCar, field, nullptr, logarithmic, low, high, spread, size, doc};
}
constexpr Known measured(std::string_view name, std::string_view unit, double Subject::*field, bool logarithmic, double low, double high,
                         double spread, double size, std::string_view doc) {
  return {name, unit, Kind::kMeasurement, nullptr, field, logarithmic, low, high, spread, size, doc};
}

using C = CarParameters;
// The friction comes before what is given on the floor.
constexpr std::array kKnown = {
    car("steering_delay_s", "s", &C::steering_delay_s, false, 0.0, 0.5, 0.1, 0.1, "transport delay of the steering command"),
    car("steering_servo_gain_per_s", "1/s", &C::steering_servo_gain_per_s, true, 1.5, 100, 0.7, 0, "first-order servo"),
    car("steering_rate_max_radps", "rad/s", &C::steering_rate_max_radps, true, 0.3, 15, 0.7, 0, "servo rate"),
    car("steering_gain", "", &C::steering_gain, true, 0.4, 1.8, 0.2, 0, "wheel angle per commanded angle"),
    car("steering_bias_rad", "rad", &C::steering_bias_rad, false, -0.2, 0.2, 0.05, 0.05, "wheel angle when straight ahead is commanded"),
    car("steering_deadband_rad", "rad", &C::steering_deadband_rad, false, 0.0, 0.1, 0.02, 0.05, "errors that the servo does not correct"),
    car("speed_delay_s", "s", &C::speed_delay_s, false, 0.0, 0.5, 0.1, 0.1, "transport delay of the speed command"),
    car("speed_loop_accel_gain_per_s", "1/s", &C::speed_loop_accel_gain_per_s, true, 0.3, 50, 0.7, 0, "speed loop while accelerating"),
    car("speed_loop_brake_gain_per_s", "1/s", &C::speed_loop_brake_gain_per_s, true, 0.3, 50, 0.7, 0, "speed loop while braking"),
    car("speed_loop_integral_gain_per_s2", "1/s^2", &C::speed_loop_integral_gain_per_s2, true, 0.02, 100, 1.0, 0,
        "integrator of the speed loop"),
    car("speed_ramp_mps2", "m/s^2", &C::speed_ramp_mps2, true, 0.2, 50, 0.7, 0, "how fast the speed target may change"),
    car("speed_max_mps", "m/s", &C::speed_max_mps, true, 0.5, 50, 0.7, 0, "forward ceiling"),
    car("acceleration_max_mps2", "m/s^2", &C::acceleration_max_mps2, true, 0.5, 30, 0.5, 0, "limit of drive and brake"),
    car("braking_max_mps2", "m/s^2", &C::braking_max_mps2, true, 0.5, 100, 0.5, 0, "limit of the brake"),
    car("surface_friction", "", &C::surface_friction, true, 0.1, 2.0, 0.5, 0, "of this floor"),
    Known{"cornering_stiffness", "1/rad", Kind::kStiffness, nullptr, nullptr, true, 1.0, 30, 0.6, 0,
          "rear axle's, per load, on this floor: the one level of stiffness"},
    Known{"understeer_gradient", "rad s^2/m", Kind::kUndersteer, nullptr, nullptr, false, -0.0005, 0.04, 0.01, 0.01,
          "steering per lateral acceleration beyond the turn's own"},
    car("yaw_inertia_kgm2", "kg m^2", &C::yaw_inertia_kgm2, true, 0.005, 0.5, 0.5, 0, "over the mass that is given"),
    car("rolling_resistance", "", &C::rolling_resistance, true, 0.002, 0.2, 0.8, 0, "force over load"),
    car("drag_area_m2", "m^2", &C::drag_area_m2, true, 0.002, 0.2, 0.8, 0, "drag coefficient times frontal area"),
    car("odometry_scale", "", &C::odometry_scale, true, 0.5, 2, 0.15, 0, "true over odometry's speed where no tyre slips"),
    measured("mount_yaw_rad", "rad", &Subject::mount_yaw_rad, false, -0.3, 0.3, 0.05, 0.1, "mount yaw and slip bias, which look alike"),
    measured("pose_ahead_m", "m", &Subject::pose_ahead_m, false, -0.3, 0.6, 0.15, 0.2, "measured point ahead of base_link"),
    measured("speed_gain", "", &Subject::speed_gain, true, 0.5, 2, 0.15, 0, "true speed over the commanded one"),
    measured("acceleration_gain", "", &Subject::acceleration_gain, true, 0.2, 3, 0.3, 0, "acceleration over the commanded one"),
};

const Known* known(std::string_view name) {
  const auto* found = std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& k) { return k.name == name; });
  return found == kKnown.end() ? nullptr : found;
}

double rear_stiffness(const CarParameters& c) { return c.surface_friction * c.cornering_stiffness_rear; }
double understeer(const CarParameters& c) {
  return (1.0 / (c.surface_friction * c.cornering_stiffness_front) - 1.0 / rear_stiffness(c)) / plant::kGravity;
}

}  // namespace

double Parameter::to_unit(double value) const {
  return logarithmic ? (math::log(value) - math::log(prior)) / spread : (value - prior) / spread;
}

double Parameter::from_unit(double z) const {
  const double value = logarithmic ? prior * math::exp(spread * z) : prior + spread * z;
  return std::clamp(value, low, high);
}

std::vector<Parameter> parameters_of(const CarParameters& car) {
  Subject subject;
  subject.car = car;
  std::vector<Parameter> parameters;
  for (const Known& k : kKnown) {
    Parameter p;
    p.name = k.name;
    p.unit = k.unit;
    p.logarithmic = k.logarithmic;
    p.spread = k.spread;
    p.prior = value_in(subject, k.name);
    // A car without an integrator or a ramp has 0 there: a fit of one begins at its lowest.
    if (k.logarithmic && p.prior <= 0.0) p.prior = k.low;
    p.low = std::min(k.low, p.prior);
    p.high = std::max(k.high, p.prior);
    p.allowed = k.logarithmic ? kShare : kShare * k.size;
    if (k.unit == "s") p.allowed = kDelayAllowed_s;
    p.of_car = k.kind != Kind::kMeasurement;
    p.doc = k.doc;
    parameters.push_back(std::move(p));
  }
  return parameters;
}

Result<std::size_t> find_parameter(std::span<const Parameter> parameters, std::string_view name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].name == name) return i;
    names.push_back(parameters[i].name);
  }
  return Error{unknown_name("parameter", name, names)};
}

double value_in(const Subject& subject, std::string_view name) {
  const Known* k = known(name);
  PITWALL_CHECK(k != nullptr);
  switch (k->kind) {
    case Kind::kCar:
      return subject.car.*(k->field);
    case Kind::kStiffness:
      return rear_stiffness(subject.car);
    case Kind::kUndersteer:
      return understeer(subject.car);
    case Kind::kMeasurement:
      return subject.*(k->measure);
  }
  return NAN;
}

Subject subject_of(const CarParameters& base, std::span<const Parameter> parameters, std::span<const double> values) {
  PITWALL_CHECK(parameters.size() == values.size(), parameters.size(), values.size());
  Subject subject;
  subject.car = base;
  double stiffness = rear_stiffness(base);
  double gradient = understeer(base);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Known* k = known(parameters[i].name);
    PITWALL_CHECK(k != nullptr);
    // What a car does not have stays away unless it is fitted.
    const bool absent = k->kind == Kind::kCar && base.*(k->field) == 0.0 && !parameters[i].free && values[i] == parameters[i].prior;
    if (absent) continue;
    if (k->kind == Kind::kCar) subject.car.*(k->field) = values[i];
    if (k->kind == Kind::kStiffness) stiffness = values[i];
    if (k->kind == Kind::kUndersteer) gradient = values[i];
    if (k->kind == Kind::kMeasurement) subject.*(k->measure) = values[i];
  }
  const double mu = subject.car.surface_friction;
  const auto per_friction = [mu](double on_floor) { return std::clamp(on_floor / mu, 0.1, 100.0); };
  subject.car.cornering_stiffness_rear = per_friction(stiffness);
  subject.car.cornering_stiffness_front = per_friction(1.0 / std::max(1e-3, 1.0 / stiffness + gradient * plant::kGravity));
  return subject;
}

Status check(const Parameter& p) {
  if (!(p.low < p.high)) {
    return Error{p.name + ": bounds " + format_number(p.low, 5) + " .. " + format_number(p.high, 5) + " are the wrong way about"};
  }
  if (!(p.prior >= p.low && p.prior <= p.high)) {
    return Error{p.name + " = " + format_number(p.prior, 5) + ": allowed: " + format_number(p.low, 5) + " .. " + format_number(p.high, 5)};
  }
  if (!(p.spread > 0.0)) return Error{p.name + ": the spread of the prior must be above 0"};
  return {};
}

}  // namespace pitwall::fit
