// SPDX-License-Identifier: Apache-2.0
#include "controllers/lateral_model.hpp"

#include <algorithm>
#include <cmath>

#include "core/car.hpp"
#include "core/math.hpp"

namespace pitwall::controllers {

namespace {

// A servo without a number answers like this.
constexpr double kIdealServo_per_s = 5000.0;
// Step of the sideways motion: at 5 m/s the slip builds up in some 0.1 s.
constexpr double kSlipStep_s = 0.005;

bool has_tyres(const CarParameters& car) {
  return car.cornering_stiffness_front > 0.0 && car.cornering_stiffness_rear > 0.0 && car.surface_friction > 0.0;
}

double servo_per_s(const CarParameters& car) {
  return car.steering_servo_gain_per_s > 0.0 ? car.steering_servo_gain_per_s : kIdealServo_per_s;
}

}  // namespace

LateralKind possible(LateralKind wanted, const CarParameters& car) {
  return has_tyres(car) && car.mass_kg > 0.0 && car.yaw_inertia_kgm2 > 0.0 ? wanted : LateralKind::kKinematic;
}

Continuous lateral_model(LateralKind kind, const CarParameters& car, double speed_mps) {
  const double v = std::max(std::abs(speed_mps), kSlowest_mps);
  const double servo = servo_per_s(car);
  const double grip = car.surface_friction * kGravity_mps2;
  const std::size_t n = states(kind);
  Continuous c{Matrix(n, n), Matrix(n, 1)};
  c.a(kStateD, kStateE) = v;
  c.a(n - 1, n - 1) = -servo;
  c.b(n - 1, 0) = servo;
  if (kind == LateralKind::kKinematic) {
    const double understeer = has_tyres(car) ? (1.0 / car.cornering_stiffness_front - 1.0 / car.cornering_stiffness_rear) / grip : 0.0;
    c.a(kStateE, n - 1) = v / (car.wheelbase_m + understeer * v * v);
    return c;
  }
  const double lf = car.lf_m();
  const double lr = car.lr_m();
  // Per mass: C_f / m = c_f mu g lr / L.
  const double front = car.cornering_stiffness_front * grip * lr / car.wheelbase_m;
  const double rear = car.cornering_stiffness_rear * grip * lf / car.wheelbase_m;
  const double turn = car.mass_kg / car.yaw_inertia_kgm2;
  c.a(kStateD, kStateVy) = 1.0;
  c.a(kStateD, kStateR) = -lr;
  c.a(kStateE, kStateR) = 1.0;
  c.a(kStateVy, kStateVy) = -(front + rear) / v;
  c.a(kStateVy, kStateR) = -(lf * front - lr * rear) / v - v;
  c.a(kStateVy, n - 1) = front;
  c.a(kStateR, kStateVy) = -turn * (lf * front - lr * rear) / v;
  c.a(kStateR, kStateR) = -turn * (lf * lf * front + lr * lr * rear) / v;
  c.a(kStateR, n - 1) = turn * lf * front;
  return c;
}

SteadyTurns::SteadyTurns(const CarParameters& car, SlipLaw law) : wheelbase_m_(car.wheelbase_m), lr_m_(car.lr_m()) {
  const bool tyres = has_tyres(car);
  const double friction = car.surface_friction > 0.0 ? car.surface_friction : 1.0;
  front_.law = rear_.law = law;
  // Without numbers nothing slips.
  constexpr double kStiff = 1e9;
  front_.stiffness = tyres ? car.cornering_stiffness_front : kStiff;
  rear_.stiffness = tyres ? car.cornering_stiffness_rear : kStiff;
  if (law == SlipLaw::kMagicFormula) {
    front_.b = car.magic_front_b, front_.c = car.magic_front_c, front_.d = car.magic_front_d, front_.e = car.magic_front_e;
    rear_.b = car.magic_rear_b, rear_.c = car.magic_rear_c, rear_.d = car.magic_rear_d, rear_.e = car.magic_rear_e;
  }
  grip_mps2_ = friction * kGravity_mps2 * std::min(front_.d, rear_.d);
  tabulate(front_);
  tabulate(rear_);
}

double SteadyTurns::share_of(const Axle& axle, double slip) {
  switch (axle.law) {
    case SlipLaw::kLinear:
      return axle.stiffness * slip;
    case SlipLaw::kBrush: {
      const double t = std::min(1.0, std::abs(axle.stiffness * slip) / 3.0);
      return std::copysign(1.0 - (1.0 - t) * (1.0 - t) * (1.0 - t), slip);
    }
    case SlipLaw::kMagicFormula: {
      const double bs = axle.b * slip;
      return math::sin(axle.c * math::atan(bs - axle.e * (bs - math::atan(bs))));
    }
  }
  return 0.0;
}

void SteadyTurns::tabulate(Axle& axle) {
  // On the rising side of the curve, which a sine's first quarter is; bisected.
  for (std::size_t i = 0; i < kEntries; ++i) {
    const double share = kMostShare * static_cast<double>(i) / static_cast<double>(kEntries - 1);
    double low = 0.0;
    double high = 1e-3;
    if (axle.law == SlipLaw::kLinear) {
      axle.slip_at_share[i] = share / axle.stiffness;
      continue;
    }
    while (share_of(axle, high) < share && high < 1.0) high = std::min(1.0, 1.1 * high);
    for (int k = 0; k < 60; ++k) (share_of(axle, 0.5 * (low + high)) < share ? low : high) = 0.5 * (low + high);
    axle.slip_at_share[i] = high;
  }
}

double SteadyTurns::slip(const Axle& axle, double share) {
  if (axle.law == SlipLaw::kLinear) return share / axle.stiffness;
  const double place = std::min(std::abs(share), kMostShare) / kMostShare * static_cast<double>(kEntries - 1);
  const auto i = std::min(static_cast<std::size_t>(place), kEntries - 2);
  const double t = place - static_cast<double>(i);
  return std::copysign(axle.slip_at_share[i] + t * (axle.slip_at_share[i + 1] - axle.slip_at_share[i]), share);
}

SteadyTurn SteadyTurns::at(double speed_mps, double curvature_per_m) const {
  // Both axles give the same share of their load.
  const double share = speed_mps * speed_mps * curvature_per_m / grip_mps2_;
  const double front = front_slip(share);
  const double rear = rear_slip(share);
  SteadyTurn turn;
  turn.wheel_rad = math::atan(wheelbase_m_ * curvature_per_m) + front - rear;
  turn.heading_rad = rear;
  turn.yaw_rate_radps = speed_mps * curvature_per_m;
  turn.lateral_mps = lr_m_ * turn.yaw_rate_radps - speed_mps * rear;
  return turn;
}

SideMotion::SideMotion(const CarParameters& car, SlipLaw law)
    : turns_(car, law),
      limited_(law != SlipLaw::kLinear),
      slips_(possible(LateralKind::kDynamic, car) == LateralKind::kDynamic),
      wheelbase_m_(car.wheelbase_m),
      lf_m_(car.lf_m()),
      lr_m_(car.lr_m()),
      mass_kg_(car.mass_kg),
      inertia_kgm2_(car.yaw_inertia_kgm2),
      front_grip_n_(turns_.grip_mps2() * car.mass_kg * car.lr_m() / car.wheelbase_m),
      rear_grip_n_(turns_.grip_mps2() * car.mass_kg * car.lf_m() / car.wheelbase_m) {}

void SideMotion::follow(Time now, double speed_mps, double wheel_rad) {
  // Long enough for any slip to settle.
  constexpr double kSettle_s = 0.5;
  if (known_) {
    advance((now - last_).seconds(), speed_mps, 0.5 * (last_wheel_rad_ + wheel_rad));
  } else {
    put(0.0, 0.0);
    advance(kSettle_s, speed_mps, wheel_rad);
  }
  known_ = true;
  last_ = now;
  last_wheel_rad_ = wheel_rad;
}

void SideMotion::advance(double dt_s, double speed_mps, double wheel_rad) {
  const double pieces = std::clamp(std::ceil(dt_s / kSlipStep_s), 1.0, 100.0);
  for (double i = 0.0; i < pieces; i += 1.0) step(dt_s / pieces, speed_mps, wheel_rad);
}

double SideMotion::within_grip(double wheel_rad, double speed_mps) const {
  constexpr double kShare = 0.9;
  if (!limited_ || !slips_ || !(speed_mps > kSlowest_mps) || wheel_rad * yaw_rate_radps_ < 0.0) return wheel_rad;
  const double most = turns_.at(speed_mps, kShare * turns_.grip_mps2() / (speed_mps * speed_mps)).wheel_rad;
  return std::clamp(wheel_rad, -most, most);
}

void SideMotion::step(double dt_s, double speed_mps, double wheel_rad) {
  if (!slips_ || speed_mps < kSlowest_mps) {
    yaw_rate_radps_ = speed_mps * math::tan(wheel_rad) / wheelbase_m_;
    lateral_mps_ = lr_m_ * yaw_rate_radps_;
    return;
  }
  const double v = speed_mps;
  // As tangents, so that a rolling car at the lock does not slip.
  const double wheel = math::tan(wheel_rad);
  const double front_slip = wheel - (lateral_mps_ + lf_m_ * yaw_rate_radps_) / v;
  const double rear_slip = -(lateral_mps_ - lr_m_ * yaw_rate_radps_) / v;
  // Secant stiffnesses in N/rad: force over slip where the slip is now.
  constexpr double kSmall = 1e-6;
  const auto secant = [](double share, double slip) { return share / slip; };
  const double front_at = std::abs(front_slip) < kSmall ? kSmall : front_slip;
  const double rear_at = std::abs(rear_slip) < kSmall ? kSmall : rear_slip;
  const double front = front_grip_n_ * secant(turns_.front_share(front_at), front_at);
  const double rear = rear_grip_n_ * secant(turns_.rear_share(rear_at), rear_at);
  // (I - dt M) x+ = x + dt N wheel.
  const double m11 = 1.0 + dt_s * (front + rear) / (mass_kg_ * v);
  const double m12 = dt_s * ((lf_m_ * front - lr_m_ * rear) / (mass_kg_ * v) + v);
  const double m21 = dt_s * (lf_m_ * front - lr_m_ * rear) / (inertia_kgm2_ * v);
  const double m22 = 1.0 + dt_s * (lf_m_ * lf_m_ * front + lr_m_ * lr_m_ * rear) / (inertia_kgm2_ * v);
  const double b1 = lateral_mps_ + dt_s * front * wheel / mass_kg_;
  const double b2 = yaw_rate_radps_ + dt_s * lf_m_ * front * wheel / inertia_kgm2_;
  const double det = m11 * m22 - m12 * m21;
  lateral_mps_ = (b1 * m22 - m12 * b2) / det;
  yaw_rate_radps_ = (m11 * b2 - m21 * b1) / det;
}

void LateralWeights::fields(FieldVisitor& f) {
  f.number("lateral_m", lateral_m, {"m", 0.005, 2, "distance from the line that weighs as much as the next two"});
  f.number("heading_rad", heading_rad, {"rad", 0.005, 3, "heading error that weighs as much"});
  f.number("rate_radps", rate_radps, {"rad/s", 0.05, 100, "rate of the commanded angle that weighs as much"});
  f.number("approach_rad", approach_rad, {"rad", 0.05, 1.2, "steepest way back to the line"});
  f.number("approach_mps", approach_mps, {"m/s", 0.1, 10, "fastest sideways motion back to the line"});
}

double LateralWeights::too_far_m(double d_m, double speed_mps, double lateral, double heading) const {
  const double near_m = std::min(approach_rad, approach_mps / std::abs(speed_mps)) * heading / lateral;
  return d_m - std::clamp(d_m, -near_m, near_m);
}

}  // namespace pitwall::controllers
