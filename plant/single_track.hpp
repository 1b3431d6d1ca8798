// SPDX-License-Identifier: Apache-2.0
// The single-track ("bicycle") model with a linear tyre, about the centre of gravity.
//
// Equations: Althoff, Koschi, Manzinger, "CommonRoad: Composable benchmarks for motion planning on roads", IV 2017,
// vehicle model ST, as F1TENTH Gym uses it. Axle loads shift with the longitudinal acceleration a:
//   F_zf = m (g lr - a h) / L,  F_zr = m (g lf + a h) / L,
// and each axle answers its slip angle with a side force proportional to its load,
//   F_yf = s mu Cf F_zf (delta - beta - lf r / v),  F_yr = s mu Cr F_zr (-beta + lr r / v),  s = sign(v),
//   m |v| s (beta' + r) = F_yf + F_yr,  I r' = lf F_yf - lr F_yr.
// The sign s makes the model hold in reverse too: tyre forces oppose the sideways motion whichever way the car rolls.
//
// Two consequences serve as tests. In a steady turn (a = 0), for any lf and lr,
//   v r = delta / (L / v^2 + s (1/Cf - 1/Cr) / (mu g)),
// so friction hardly limits cornering: the limit comes from outside (plant.hpp, friction envelope).
//
// Below kSwitchSpeed the slip angles are singular (they divide by v). There beta and r follow the rolling geometry,
//   beta_k = atan(lr tan(delta) / L),  r_k = v cos(beta_k) tan(delta) / L,
// by their exact rates plus a fast relaxation of what is left of the dynamic motion. The state means the same on both
// sides (centre of gravity, its direction of motion, its yaw rate), so nothing jumps at the switch.
#pragma once

namespace pitwall::plant {

inline constexpr double kGravity = 9.81;                   ///< m/s^2
inline constexpr double kSwitchSpeed_mps = 0.5;            ///< |v| below which the motion is rolling geometry
inline constexpr double kRollingRelaxation_per_s = 100.0;  ///< how fast a remaining slide dies out below the switch

/// Motion of the centre of gravity in the map frame.
struct State {
  double x = 0.0;         ///< m
  double y = 0.0;         ///< m
  double steering = 0.0;  ///< rad, positive to the left
  double speed = 0.0;     ///< m/s along the direction of motion, negative in reverse
  double yaw = 0.0;       ///< rad
  double yaw_rate = 0.0;  ///< rad/s
  double slip = 0.0;      ///< rad, direction of motion (of the reverse of it when speed < 0) against the body: v_y = speed sin(slip)
};

/// What drives the model.
struct Input {
  double steering_rate = 0.0;  ///< rad/s
  double acceleration = 0.0;   ///< m/s^2 along the direction of motion
};

/// Parameters of the model.
struct SingleTrack {
  double lf = 0.0;               ///< m, centre of gravity to front axle
  double lr = 0.0;               ///< m, centre of gravity to rear axle
  double mass = 0.0;             ///< kg
  double yaw_inertia = 0.0;      ///< kg m^2
  double cog_height = 0.0;       ///< m
  double stiffness_front = 0.0;  ///< 1/rad, per load
  double stiffness_rear = 0.0;   ///< 1/rad, per load
  double friction = 0.0;         ///< of the surface
  [[nodiscard]] double wheelbase() const { return lf + lr; }
};

/// Time derivative of every component; finite for every finite state with |steering| < pi/2, standing still included.
State derivative(const State& state, const Input& input, const SingleTrack& car);

/// state + h * rate, component by component; yaw is not wrapped.
State advanced(const State& state, double h, const State& rate);

/// One classic Runge-Kutta step of h seconds of state' = rate(state).
template <class Rate>
State step_rk4(const State& state, double h, const Rate& rate) {
  const State k1 = rate(state);
  const State k2 = rate(advanced(state, 0.5 * h, k1));
  const State k3 = rate(advanced(state, 0.5 * h, k2));
  const State k4 = rate(advanced(state, h, k3));
  const State sum = advanced(advanced(advanced(k1, 2.0, k2), 2.0, k3), 1.0, k4);
  return advanced(state, h / 6.0, sum);
}

/// One Runge-Kutta step with the inputs held.
inline State step_rk4(const State& state, const Input& input, const SingleTrack& car, double h) {
  return step_rk4(state, h, [&](const State& s) { return derivative(s, input, car); });
}

/// Lateral acceleration speed * yaw_rate of the steady turn at that speed and steering angle, m/s^2 (closed form above).
double steady_lateral_acceleration(double speed, double steering, const SingleTrack& car);

/// Upper bound of the model's own decay rates at |v| >= kSwitchSpeed_mps while |a| <= a_max, 1/s: what an integration
/// step has to resolve.
double fastest_rate(const SingleTrack& car, double a_max);

/// Speed beyond which the model has no stable straight motion, m/s, forwards (or in reverse); infinite if there is none.
double critical_speed(const SingleTrack& car, bool reverse);

}  // namespace pitwall::plant
