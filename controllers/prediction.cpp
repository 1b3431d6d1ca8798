// SPDX-License-Identifier: Apache-2.0
#include "controllers/prediction.hpp"

#include <algorithm>

namespace pitwall::controllers {

Predicted predict(const LawInput& in, const CarParameters& car, double ahead_s) {
  // A first-order servo of 40 ms is followed within 1 % by steps of a tenth of it.
  constexpr double kStep_s = 0.005;
  const double v = in.speed_mps;
  const double length = car.wheelbase_m + understeer_s2_per_m(car) * v * v;
  Predicted out{in.T_map_base, in.wheel_rad, in.yaw_rate_radps};
  double target = in.acting_rad;
  std::size_t next = 0;
  double t = 0.0;
  while (t < ahead_s) {
    while (next < in.queued.size() && (in.queued[next].arrives - in.now).seconds() <= t) target = in.queued[next++].steering_rad;
    double until = std::min(t + kStep_s, ahead_s);
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

}  // namespace pitwall::controllers
