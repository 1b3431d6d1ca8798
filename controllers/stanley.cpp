// SPDX-License-Identifier: Apache-2.0
#include "controllers/stanley.hpp"

#include <algorithm>
#include <cmath>

#include "controllers/map_law.hpp"
#include "controllers/prediction.hpp"
#include "controllers/stability.hpp"
#include "core/car.hpp"

namespace pitwall::controllers {

namespace {

double rear_slip(const CarParameters& car) {
  if (car.cornering_stiffness_rear <= 0.0 || car.surface_friction <= 0.0) return 0.0;
  return 1.0 / (car.surface_friction * kGravity_mps2 * car.cornering_stiffness_rear);
}

}  // namespace

void StanleyParameters::fields(FieldVisitor& f) {
  f.number("gain_per_s", gain_per_s, {"1/s", 0.05, 20, "rate at which a small distance from the line decays"});
  f.number("softening_mps", softening_mps, {"m/s", 0.05, 5, "added to the speed that divides the distance"});
  f.number("heading_gain", heading_gain, {"", 0.05, 2, "steering per heading error at low speed"});
  f.number("heading_delays", heading_delays, {"", 0, 20, "total delays that the heading takes to follow, at least; 0: no bound"});
  f.number("yaw_damping_s", yaw_damping_s, {"s", 0, 0.5, "steering per yaw rate beyond that of the line"});
  f.flag("delay_aware", delay_aware, "steer for where the car will be when the command arrives");
}

Status validate(const StanleyParameters& p, const LawSetup& /*setup*/, std::string_view what) { return check_fields(what, p); }

StanleyLaw::StanleyLaw(const StanleyParameters& parameters, const LawSetup& setup)
    : p_(parameters),
      line_(setup.line),
      table_(setup.table),
      car_(setup.car),
      period_s_(setup.control_period_s),
      total_delay_s_(setup.total_delay_s()),
      ahead_s_(parameters.delay_aware ? actuation_s(setup.car) : 0.0),
      understeer_s2_per_m_(understeer_s2_per_m(setup.car)),
      rear_slip_s2_per_m_(rear_slip(setup.car)) {}

double StanleyLaw::heading_gain(double speed_mps) const {
  const double slowed = p_.heading_delays * speed_mps * total_delay_s_;
  return slowed > 0.0 ? std::min(p_.heading_gain, car_.wheelbase_m / slowed) : p_.heading_gain;
}

double StanleyLaw::steer(const LawInput& in) {
  constexpr double kBack_m = 0.3;
  constexpr double kAhead_m = 1.0;
  const double v = std::max(0.0, in.speed_mps);
  const Predicted then = predict(in, car_, ahead_s_);
  const double yaw = then.T_map_base.yaw;
  const Vec2 front = then.T_map_base.position() + car_.wheelbase_m * unit_vector(yaw);
  const double hint = in.fix.on_line.s_m + v * ahead_s_ + car_.wheelbase_m;
  const tracks::Projection q = line_->path().project_near(front, hint, kBack_m + v * ahead_s_, kAhead_m);
  const LawLine::Frame path = line_->at(q.s_m, in.shift);

  const double lateral = q.lateral_m - in.shift(q.s_m);
  const double kappa = path.curvature_per_m;
  const double turn = std::clamp(car_.wheelbase_m * kappa, -0.9, 0.9);
  const double lateral_accel = v * v * kappa;
  const double steady =
      table_ != nullptr ? steady_steering(*table_, car_.wheelbase_m, v, kappa) : math::atan(turn) + understeer_s2_per_m_ * lateral_accel;
  const double rear_slip = rear_slip_s2_per_m_ * lateral_accel;
  const double steady_heading = math::asin(turn) - rear_slip;
  const double steady_lateral = car_.wheelbase_m * (rear_slip - 0.5 * turn);
  const double heading = wrap_angle(path.heading_rad - yaw);
  return steady + heading_gain(v) * (heading - steady_heading) -
         math::atan2(p_.gain_per_s * (lateral - steady_lateral), p_.softening_mps + v) -
         p_.yaw_damping_s * (then.yaw_rate_radps - v * kappa);
}

double StanleyLaw::delay_margin_s(double speed_mps) const {
  const double per_m = p_.gain_per_s / (p_.softening_mps + speed_mps);
  // The front axle is L ahead: d_f = d + L e.
  const FeedbackGains gains{.lateral = per_m, .heading = heading_gain(speed_mps) + per_m * car_.wheelbase_m, .yaw_rate = p_.yaw_damping_s};
  return controllers::delay_margin_s(gains, car_, speed_mps, period_s_, ahead_s_);
}

}  // namespace pitwall::controllers
