// SPDX-License-Identifier: Apache-2.0
#include "plant/slip_model.hpp"

#include <algorithm>
#include <cmath>

#include "plant/single_track.hpp"

namespace pitwall::plant {
namespace {

constexpr double kDampedBelow_mps2 = 1.0;     // (1 m/s)^2
constexpr double kRollingKnee_mps2 = 2.5e-3;  // (0.05 m/s)^2: slower than this rolling resistance turns viscous
constexpr double kDampingRatio = 0.7;
constexpr double kDampingMost_s_per_m = 3.0;

double damping_weight(double speed2) {
  const double rest = 1.0 - speed2 / kDampedBelow_mps2;
  return rest > 0.0 ? rest * rest : 0.0;
}

/// The contact of one axle: how fast it slips, and how its carcass answers.
struct Contact {
  double rate_mps = 0.0;  // u'
  double slip = 0.0;      // what the tyre law is given
};

Contact contact(double vx2, double across, double across_body, double deflection, const SlipModel& car) {
  const double speed2 = vx2 + across_body * across_body;
  Contact out;
  const double relaxed = deflection * car.per_relaxation;
  out.rate_mps = across - std::sqrt(speed2) * relaxed;
  out.slip = relaxed + damping_weight(speed2) * car.damping_s * out.rate_mps * car.per_relaxation;
  return out;
}

void load(AxleForce& axle, const AxleTyre& tyre, double load_n) {
  axle.load_n = load_n;
  axle.limit_n = tyre.grip * load_n;
}

/// The square of what drive and brake may take of an axle's circle.
double along_max2(const AxleForce& axle, const AxleTyre& tyre, double slip, double reserve) {
  const double claim = std::min(std::abs(tyre.stiffness * axle.load_n * slip), reserve * axle.limit_n);
  return axle.limit_n * axle.limit_n - claim * claim;
}

void share_out(double force, double front_share, double front_max2, double rear_max2, AxleForces& forces) {
  double front = front_share * force;
  double rear = force - front;
  if (front * front > front_max2 || rear * rear > rear_max2) {
    const double front_max = std::sqrt(front_max2);
    const double rear_max = std::sqrt(rear_max2);
    front = std::clamp(front, -front_max, front_max);
    // A rigid shaft hands on what an axle has no grip for.
    const bool shaft = front_share > 0.0 && front_share < 1.0;
    rear = std::clamp(shaft ? force - front : rear, -rear_max, rear_max);
    if (shaft) front = std::clamp(force - rear, -front_max, front_max);
  }
  forces.front.along_n = front;
  forces.rear.along_n = rear;
}

// Inlined by force: the two axles then overlap, a tenth of a step.
[[gnu::always_inline]] inline double across_force(const AxleForce& axle, const AxleTyre& tyre, double slip) {
  const double left = std::sqrt(std::max(0.0, axle.limit_n * axle.limit_n - axle.along_n * axle.along_n));
  return -side_force(tyre, tyre.stiffness * axle.load_n, left, slip);
}

double resistance(double vx, const SlipModel& car) {
  double sum = car.drag_per_m * vx * std::abs(vx);
  if (car.rolling_resistance > 0.0) sum += car.rolling_resistance * kGravity * vx / std::sqrt(vx * vx + kRollingKnee_mps2);
  return sum;
}

/// Energy of a carcass spring: the integral of side_force over the deflection.
double spring_energy(const AxleForce& axle, const AxleTyre& tyre, double deflection, double relaxation) {
  const double left = std::sqrt(std::max(0.0, axle.limit_n * axle.limit_n - axle.along_n * axle.along_n));
  // Simpson's rule: exact on the brush but for the piece in which it saturates.
  constexpr int kHalves = 100;
  const double step = deflection / relaxation / kHalves;
  double sum = 0.0;
  for (int i = 1; i <= kHalves; ++i) {
    const double weight = i == kHalves ? 1.0 : (i % 2 == 0 ? 2.0 : 4.0);
    sum += weight * side_force(tyre, tyre.stiffness * axle.load_n, left, i * step);
  }
  return sum * step * relaxation / 3.0;
}

}  // namespace

double AxleForce::utilisation() const { return limit_n > 0.0 ? std::sqrt(along_n * along_n + across_n * across_n) / limit_n : 0.0; }

void SlipModel::prepare() {
  const double weight = mass * kGravity / (lf + lr);
  load_front_n = weight * lr;
  load_rear_n = weight * lf;
  load_shift_kg = mass * cog_height / (lf + lr);
  per_mass = 1.0 / mass;
  per_inertia = 1.0 / yaw_inertia;
  per_relaxation = 1.0 / relaxation_m;
  const double spring = (front.stiffness * load_front_n + rear.stiffness * load_rear_n) / relaxation_m;
  damping_s = std::min(2.0 * kDampingRatio * std::sqrt(mass / spring), kDampingMost_s_per_m * relaxation_m);
}

double SlipModel::fastest_rate() const {
  const double spring_front = front.stiffness * load_front_n / relaxation_m;
  const double spring_rear = rear.stiffness * load_rear_n / relaxation_m;
  const double square = (spring_front + spring_rear) / mass + (lf * lf * spring_front + lr * lr * spring_rear) / yaw_inertia;
  return std::sqrt(square) + damping_s * square + 1.0 / relaxation_m;
}

SlipState slip_rate(const SlipState& state, const SlipInput& input, const SlipModel& car, math::SinCos heading, AxleForces& forces) {
  const double s = input.sin_steering;
  const double c = input.cos_steering;
  const double front_left = state.vy + car.lf * state.yaw_rate;
  const double rear_left = state.vy - car.lr * state.yaw_rate;
  const double vx2 = state.vx * state.vx;
  const Contact front = contact(vx2, c * front_left - s * state.vx, front_left, state.front_m, car);
  const Contact rear = contact(vx2, rear_left, rear_left, state.rear_m, car);

  const double slowing = resistance(state.vx, car);
  const double grip = std::max(car.front.grip, car.rear.grip) * kGravity;
  const double shift = std::clamp(input.acceleration, -grip, grip) - slowing;
  load(forces.front, car.front, std::max(0.0, car.load_front_n - shift * car.load_shift_kg));
  load(forces.rear, car.rear, std::max(0.0, car.load_rear_n + shift * car.load_shift_kg));
  share_out(car.mass * input.acceleration, car.drive_front_share, along_max2(forces.front, car.front, front.slip, car.cornering_reserve),
            along_max2(forces.rear, car.rear, rear.slip, car.cornering_reserve), forces);
  forces.front.across_n = across_force(forces.front, car.front, front.slip);
  forces.rear.across_n = across_force(forces.rear, car.rear, rear.slip);

  const double front_x = forces.front.along_n * c - forces.front.across_n * s;
  const double front_y = forces.front.along_n * s + forces.front.across_n * c;
  SlipState rate;
  rate.x = state.vx * heading.cos - state.vy * heading.sin;
  rate.y = state.vx * heading.sin + state.vy * heading.cos;
  rate.yaw = state.yaw_rate;
  rate.vx = (front_x + forces.rear.along_n) * car.per_mass - slowing + state.yaw_rate * state.vy;
  rate.vy = (front_y + forces.rear.across_n) * car.per_mass - state.yaw_rate * state.vx;
  rate.yaw_rate = (car.lf * front_y - car.lr * forces.rear.across_n) * car.per_inertia;
  rate.steering = input.steering_rate;
  rate.front_m = front.rate_mps;
  rate.rear_m = rear.rate_mps;
  rate.integral_mps2 = input.integral_rate;
  return rate;
}

AxleForces axle_forces(const SlipState& state, const SlipInput& input, const SlipModel& car) {
  AxleForces forces;
  slip_rate(state, input, car, {0.0, 1.0}, forces);
  return forces;
}

double energy(const SlipState& state, const SlipInput& input, const SlipModel& car) {
  const AxleForces forces = axle_forces(state, input, car);
  return 0.5 * car.mass * (state.vx * state.vx + state.vy * state.vy) + 0.5 * car.yaw_inertia * state.yaw_rate * state.yaw_rate +
         spring_energy(forces.front, car.front, state.front_m, car.relaxation_m) +
         spring_energy(forces.rear, car.rear, state.rear_m, car.relaxation_m);
}

}  // namespace pitwall::plant
