// SPDX-License-Identifier: Apache-2.0
// The single-track model whose tyres slip, in the body frame: one set of equations from standstill to a spin.
//
//   m (vx' - r vy) = F_xf cos d - F_yf sin d + F_xr - R(vx)
//   m (vy' + r vx) = F_xf sin d + F_yf cos d + F_yr
//   I r'           = lf (F_xf sin d + F_yf cos d) - lr F_yr
//
// Carcass. Between rim and floor the tyre is a spring that rolling relaxes (Pacejka, 3rd ed., ch. 7 and 8.6). Its
// deflection u of an axle with contact velocity (V_x, V_y) in the wheels' frame, V = |(V_x, V_y)|, follows
//   u' = V_y - V u / sigma,      F_y = -side_force((u + w(V) tau u') / sigma),
// so that the slip u / sigma settles at V_y / V, the sine of the slip angle, with nothing to divide by: at rest the tyre is
// a spring, in reverse the same equation holds, sideways |u| <= sigma. The carcass damping tau acts below 1 m/s only,
// w = (1 - V^2)^2, where rolling no longer damps the spring; on u' rather than on V_y, so it never shifts a steady turn.
//
// Loads shift with the acceleration a that drive and resistances give: F_zf = m (g lr - a h) / L, F_zr = m (g lf + a h) / L.
//
// Drive and brake force m a is shared out front : rear. With both axles driven the shaft is rigid: what one cannot pass on,
// the other gets. Cornering has the first claim on a share `cornering_reserve` of each axle's circle, since the motor, not a
// disc, slows these cars: a motor holds the wheels' speed and does not lock them. No wheel-spin states: the wheel that
// would carry the force is found by the inverse tyre law (plant.hpp, wheel_speed_mps).
//
// Resistances: R = m g c_rr vx / sqrt(vx^2 + (0.05 m/s)^2) + rho/2 c_d A vx |vx|.
#pragma once

#include <cmath>

#include "core/math.hpp"
#include "plant/tyre.hpp"

namespace pitwall::plant {

/// Motion of the centre of gravity: place in the map frame, velocity in the body frame.
struct SlipState {
  double x = 0.0;              ///< m
  double y = 0.0;              ///< m
  double yaw = 0.0;            ///< rad
  double vx = 0.0;             ///< m/s, forward
  double vy = 0.0;             ///< m/s, to the left
  double yaw_rate = 0.0;       ///< rad/s
  double steering = 0.0;       ///< rad, wheels, positive to the left
  double front_m = 0.0;        ///< carcass deflection of the front axle, positive when it slips to the left
  double rear_m = 0.0;         ///< of the rear axle
  double integral_mps2 = 0.0;  ///< what the speed loop has integrated
};

/// What drives the model.
struct SlipInput {
  double steering_rate = 0.0;  ///< rad/s
  double acceleration = 0.0;   ///< of drive and brake, m/s^2 along body x, before the circle
  double integral_rate = 0.0;  ///< m/s^3
  double sin_steering = 0.0;   ///< of the angle that the front tyres are given
  double cos_steering = 1.0;
};

/// The forces of one axle, in its wheels' frame.
struct AxleForce {
  double along_n = 0.0;   ///< of drive and brake
  double across_n = 0.0;  ///< positive to the left
  double load_n = 0.0;
  double limit_n = 0.0;  ///< radius G of the circle
  /// Size of the force over the radius of its circle.
  [[nodiscard]] double utilisation() const;
};

struct AxleForces {
  AxleForce front;
  AxleForce rear;
};

/// Parameters of the model.
struct SlipModel {
  double lf = 0.0;           ///< m, centre of gravity to front axle
  double lr = 0.0;           ///< m, centre of gravity to rear axle
  double mass = 1.0;         ///< kg
  double yaw_inertia = 1.0;  ///< kg m^2
  double cog_height = 0.0;   ///< m
  double drive_front_share = 0.5;
  double cornering_reserve = 0.5;
  double rolling_resistance = 0.0;  ///< c_rr
  double drag_per_m = 0.0;          ///< rho/2 c_d A / m, 1/m
  double relaxation_m = 0.05;       ///< sigma
  AxleTyre front;
  AxleTyre rear;

  // Filled in by prepare().
  double damping_s = 0.0;     ///< tau: 0.7 of critical for sideways motion on the carcass springs, at most 3 s/m sigma
  double load_front_n = 0.0;  ///< at rest
  double load_rear_n = 0.0;
  double load_shift_kg = 0.0;  ///< load that goes to the rear per acceleration
  double per_mass = 0.0;
  double per_inertia = 0.0;
  double per_relaxation = 0.0;

  void prepare();
  /// Upper bound of the rates that do not grow with speed, 1/s.
  [[nodiscard]] double fastest_rate() const;
};

/// The forces at a state.
AxleForces axle_forces(const SlipState& state, const SlipInput& input, const SlipModel& car);

/// Time derivative of every component, and the forces; finite for every finite state. The place is in the frame in which the
/// heading has this sine and cosine.
SlipState slip_rate(const SlipState& state, const SlipInput& input, const SlipModel& car, math::SinCos heading, AxleForces& forces);

/// Kinetic energy plus what the two carcass springs hold, J, with the loads and circles of `input`.
double energy(const SlipState& state, const SlipInput& input, const SlipModel& car);

/// state + h * rate, component by component; yaw is not wrapped.
inline SlipState advanced(const SlipState& state, double h, const SlipState& rate) {
  return {state.x + h * rate.x,
          state.y + h * rate.y,
          state.yaw + h * rate.yaw,
          state.vx + h * rate.vx,
          state.vy + h * rate.vy,
          state.yaw_rate + h * rate.yaw_rate,
          state.steering + h * rate.steering,
          state.front_m + h * rate.front_m,
          state.rear_m + h * rate.rear_m,
          state.integral_mps2 + h * rate.integral_mps2};
}

/// Sine and cosine of a change of angle, within 6e-15; quick for small ones.
inline math::SinCos sincos_of_change(double change_rad) {
  if (!(std::abs(change_rad) <= 0.25)) return math::sincos(change_rad);
  const double z = change_rad * change_rad;
  const double sine = 1.0 + z * (-1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040 + z * (1.0 / 362880))));
  const double cosine = 1.0 + z * (-0.5 + z * (1.0 / 24 + z * (-1.0 / 720 + z * (1.0 / 40320 + z * (-1.0 / 3628800)))));
  return {change_rad * sine, cosine};
}

/// One classic Runge-Kutta step of h seconds. `input(state, t)` is asked at each stage, t seconds into the step; `forces` are those
/// at the start.
template <class Inputs>
SlipState step_rk4(const SlipState& state, double h, const SlipModel& car, const Inputs& input, AxleForces& forces) {
  // In the frame of the heading at the start: one pair of sine and cosine a step, the rest are small changes.
  SlipState start = state;
  start.x = start.y = start.yaw = 0.0;
  AxleForces later;
  const SlipState k1 = slip_rate(start, input(start, 0.0), car, {0.0, 1.0}, forces);
  const SlipState s2 = advanced(start, 0.5 * h, k1);
  const SlipState k2 = slip_rate(s2, input(s2, 0.5 * h), car, sincos_of_change(s2.yaw), later);
  const SlipState s3 = advanced(start, 0.5 * h, k2);
  const SlipState k3 = slip_rate(s3, input(s3, 0.5 * h), car, sincos_of_change(s3.yaw), later);
  const SlipState s4 = advanced(start, h, k3);
  const SlipState k4 = slip_rate(s4, input(s4, h), car, sincos_of_change(s4.yaw), later);
  SlipState sum = advanced(advanced(advanced(k1, 2.0, k2), 2.0, k3), 1.0, k4);
  SlipState end = advanced(start, h / 6.0, sum);
  const auto [s, c] = math::sincos(state.yaw);
  const double ahead = end.x;
  const double left = end.y;
  end.x = state.x + (c * ahead - s * left);
  end.y = state.y + (s * ahead + c * left);
  end.yaw += state.yaw;
  return end;
}

}  // namespace pitwall::plant
