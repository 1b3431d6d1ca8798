// SPDX-License-Identifier: Apache-2.0
// What comes before a fit: which parameters are fitted, and how well drives like these would tell them.
#include <algorithm>

#include "calibration/fit/fit.hpp"
#include "calibration/fit/intervals.hpp"
#include "calibration/fit/objective.hpp"

namespace pitwall::fit {
namespace {

bool has(const Problem& problem, Quantity quantity) {
  return std::any_of(problem.drives.begin(), problem.drives.end(), [&](const Drive& d) { return d.find(quantity) != nullptr; });
}

}  // namespace

void free_usual(const Problem& problem, std::vector<Parameter>& parameters) {
  bool tracks = false;
  bool speeds = false;
  bool accelerations = false;
  for (const Drive& drive : problem.drives) {
    tracks = tracks || drive.track.has_value();
    for (const double speed : drive.commands.speed_mps) (std::isfinite(speed) ? speeds : accelerations) = true;
  }
  const bool sideslip = tracks || has(problem, Quantity::kLateral);
  for (Parameter& p : parameters) {
    const std::string& name = p.name;
    p.free = true;
    if (name == "speed_loop_integral_gain_per_s2") p.free = problem.base.speed_loop_integral_gain_per_s2 > 0.0 && speeds;
    if (name == "speed_ramp_mps2") p.free = problem.base.speed_ramp_mps2 > 0.0 && speeds;
    if (name == "speed_loop_accel_gain_per_s" || name == "speed_loop_brake_gain_per_s" || name == "speed_max_mps") p.free = speeds;
    // Told apart from the odometry's scale by a speed that is not the odometry's.
    if (name == "speed_gain") p.free = speeds && (tracks || has(problem, Quantity::kSpeed));
    if (name == "acceleration_gain") p.free = accelerations;
    if (name == "odometry_scale") p.free = has(problem, Quantity::kWheelSpeed) && (tracks || has(problem, Quantity::kSpeed));
    if (name == "yaw_inertia_kgm2" || name == "mount_yaw_rad") p.free = sideslip;
    if (name == "pose_ahead_m") p.free = tracks;
  }
}

Result<std::vector<double>> forecast(const Problem& problem, const std::vector<Parameter>& parameters, const std::vector<double>& values,
                                     unsigned jobs) {
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].free) free.push_back(i);
  }
  std::vector<double> sigma;
  for (const Channel& channel : problem.channels) sigma.push_back(channel.sigma);
  Objective on(problem, parameters, values, free, sigma, 1, jobs);
  const std::vector<double> z = on.start();
  std::vector<double> f(on.rows());
  std::vector<double> jacobian(on.rows() * on.columns());
  if (!on.evaluate(z.data(), f.data(), jacobian.data())) return Error{"the plant refuses the car that the forecast is asked for"};
  jacobian.resize(on.data_rows() * on.columns());
  const std::vector<double> half = expected_half_widths(jacobian, on.columns());
  std::vector<double> all(parameters.size(), 0.0);
  for (std::size_t j = 0; j < free.size(); ++j) all[free[j]] = parameters[free[j]].half_width(half[j]);
  return all;
}

}  // namespace pitwall::fit
