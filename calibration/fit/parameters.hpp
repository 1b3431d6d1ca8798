// SPDX-License-Identifier: Apache-2.0
// What a fit may change of a car, with bounds, prior and how well each must be known to count as identified.
//
// Most names are fields of core/car.hpp. The others:
//   cornering_stiffness      mu C of the rear axle, per load and rad: the one level of stiffness, on the floor of the run
//   understeer_gradient      K of  steering = L / R + K a_y,  (1 / (mu C_f) - 1 / (mu C_r)) / g: sets the front axle
//   mount_yaw_rad            measured heading over the car's: a turned mount and a constant slip angle look alike and are one number
//   pose_ahead_m             the measured point ahead of base_link
//   speed_gain               true speed that a commanded one asks for: the gain from speed to the motor's turns that the car was set up
//   with,
//                            against the right one (hardware: speed_to_erpm_gain)
//   acceleration_gain        acceleration over commanded one, where a log has accelerations for speeds
// Wheelbase and mass are not here: with a wrong one the others take their part (steering_gain, yaw_inertia_kgm2).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/car.hpp"
#include "core/result.hpp"

namespace pitwall::fit {

/// The car under test and how its measurements sit on it.
struct Subject {
  CarParameters car;
  double mount_yaw_rad = 0.0;
  double pose_ahead_m = 0.0;
  double speed_gain = 1.0;
  double acceleration_gain = 1.0;
};

/// One number that a fit can change.
struct Parameter {
  std::string name;
  std::string unit;
  double low = 0.0;  ///< bounds
  double high = 1.0;
  double prior = 0.0;        ///< value before the fit, and after it where the data do not tell
  double spread = 1.0;       ///< standard deviation of the prior: of its logarithm where `logarithmic`, else in its unit
  bool logarithmic = false;  ///< positive, and steps and errors are relative
  double allowed = 0.1;      ///< half-width of the 95 % interval below which it is identified: relative where logarithmic, else in its unit
  bool of_car = true;        ///< a field of the profile; otherwise it says how the measurements sit on the car
  bool free = false;
  std::string doc;

  /// Coordinate of the solver: 0 at the prior, 1 a spread above it.
  [[nodiscard]] double to_unit(double value) const;
  [[nodiscard]] double from_unit(double z) const;
  /// Half-width h of a value's interval, from that of the coordinate: relative where logarithmic.
  [[nodiscard]] double half_width(double unit_half_width) const { return spread * unit_half_width; }
};

/// Every parameter, in a fixed order, with the car's values as priors; none is free. Bounds always hold the prior.
std::vector<Parameter> parameters_of(const CarParameters& car);

/// The one of that name; the error names the nearest.
Result<std::size_t> find_parameter(std::span<const Parameter> parameters, std::string_view name);

/// The car and measurement with these values, one for each parameter.
Subject subject_of(const CarParameters& base, std::span<const Parameter> parameters, std::span<const double> values);

/// What the parameter is in a car.
double value_in(const Subject& subject, std::string_view name);

/// Bounds the right way about, the prior between them, spread above 0.
Status check(const Parameter& parameter);

}  // namespace pitwall::fit
