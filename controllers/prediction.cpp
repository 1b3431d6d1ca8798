// SPDX-License-Identifier: Apache-2.0
#include "controllers/prediction.hpp"

#include <algorithm>
#include <cmath>

namespace pitwall::controllers {

namespace {

// A first-order servo of 40 ms is followed within 1 % by steps of a tenth of it.
constexpr double kServoStep_s = 0.005;

double kinematic_yaw_rate(const CarParameters& car, const SteadyTurns& turns, double speed_mps, double wheel_rad) {
  // The steady turn's angle is atan(L kappa) and the difference of the slips, which grows with v^2 kappa; one step from there.
  const double rolling = speed_mps * math::tan(wheel_rad) / car.wheelbase_m;
  const double share = speed_mps * rolling / turns.grip_mps2();
  const double slip = turns.front_slip(share) - turns.rear_slip(share);
  return speed_mps * math::tan(wheel_rad - slip) / car.wheelbase_m;
}

}  // namespace

Predicted predict(const LawInput& in, const CarParameters& car, double ahead_s) {
  const double v = in.speed_mps;
  const double length = car.wheelbase_m + understeer_s2_per_m(car) * v * v;
  Predicted out{in.T_map_base, in.wheel_rad, in.yaw_rate_radps};
  double target = in.acting_rad;
  std::size_t next = 0;
  double t = 0.0;
  while (t < ahead_s) {
    while (next < in.queued.size() && (in.queued[next].arrives - in.now).seconds() <= t) target = in.queued[next++].steering_rad;
    double until = std::min(t + kServoStep_s, ahead_s);
    if (next < in.queued.size()) until = std::min(until, (in.queued[next].arrives - in.now).seconds());
    const double dt = until - t;
    const double share = car.steering_servo_gain_per_s > 0.0 ? 1.0 - math::exp(-car.steering_servo_gain_per_s * dt) : 1.0;
    out.wheel_rad += share * (target - out.wheel_rad);
    out.yaw_rate_radps = v * math::tan(out.wheel_rad) / length;
    const double turned = out.yaw_rate_radps * dt;
    const Vec2 p = out.T_map_base.position() + v * dt * unit_vector(out.T_map_base.yaw + 0.5 * turned);
    out.T_map_base = {p.x, p.y, wrap_angle(out.T_map_base.yaw + turned)};
    t = until;
  }
  return out;
}

RolledOn roll_on(const LawInput& in, const LawSetup& setup, LateralKind kind, SideMotion& side) {
  const LawLine& line = *setup.line;
  const CarParameters& car = setup.car;
  RolledOn at{.s_m = in.fix.on_line.s_m, .lateral_m = in.lateral_error_m(), .speed_mps = std::max(0.0, in.speed_mps)};
  const double line_heading = in.shift.none() ? line.heading_at(at.s_m) : line.at(at.s_m, in.shift).heading_rad;
  at.heading_rad = wrap_angle(in.T_map_base.yaw - line_heading);
  at.wheel_rad = in.wheel_rad;
  const double faster = at.speed_mps - line.speed_at(at.s_m);
  const double pieces = std::ceil(car.steering_delay_s / kServoStep_s);
  const double dt = pieces > 0.0 ? car.steering_delay_s / pieces : 0.0;
  const double share = car.steering_servo_gain_per_s > 0.0 ? 1.0 - math::exp(-car.steering_servo_gain_per_s * dt) : 1.0;
  std::size_t next = 0;
  double target = in.acting_rad;
  for (double i = 0.0; i < pieces; i += 1.0) {
    const Time middle = in.now + from_seconds((i + 0.5) * dt);
    while (next < in.queued.size() && in.queued[next].arrives <= middle) target = in.queued[next++].steering_rad;
    const double before = at.wheel_rad;
    at.wheel_rad += share * (target - at.wheel_rad);
    const double wheel = 0.5 * (before + at.wheel_rad);
    const double v = at.speed_mps;
    side.advance(dt, v, wheel);
    double yaw_rate = side.yaw_rate_radps();
    double aside = side.lateral_mps() - car.lr_m() * yaw_rate;
    if (kind == LateralKind::kKinematic) {
      yaw_rate = kinematic_yaw_rate(car, side.turns(), v, wheel);
      aside = -v * side.turns().rear_slip(v * yaw_rate / side.turns().grip_mps2());
    }
    const double curvature = curvature_at(line, in.shift, at.s_m);
    const math::SinCos heading = math::sincos(at.heading_rad);
    const double along = (v * heading.cos - aside * heading.sin) / std::max(0.1, 1.0 - curvature * at.lateral_m);
    at.lateral_m += dt * (v * heading.sin + aside * heading.cos);
    at.heading_rad += dt * (yaw_rate - curvature * along);
    at.s_m += dt * along;
    at.speed_mps = std::max(0.0, line.speed_at(at.s_m) + faster);
  }
  return at;
}

}  // namespace pitwall::controllers
