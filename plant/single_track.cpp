// SPDX-License-Identifier: Apache-2.0
#include "plant/single_track.hpp"

#include <cmath>
#include <limits>

#include "core/math.hpp"

namespace pitwall::plant {
namespace {

/// Yaw acceleration and slip rate where the car rolls without tyre slip.
void rolling(const State& state, const Input& input, const SingleTrack& car, State& rate) {
  const double wheelbase = car.wheelbase();
  const double tangent = math::tan(state.steering);
  const double ratio = car.lr / wheelbase * tangent;
  const double slip = math::atan(ratio);
  const auto [sin_slip, cos_slip] = math::sincos(slip);
  const double tangent_rate = input.steering_rate * (1.0 + tangent * tangent);
  const double slip_rate = car.lr / wheelbase * tangent_rate / (1.0 + ratio * ratio);
  const double yaw_rate = state.speed * cos_slip * tangent / wheelbase;
  const double yaw_acceleration =
      (input.acceleration * cos_slip * tangent - state.speed * sin_slip * slip_rate * tangent + state.speed * cos_slip * tangent_rate) /
      wheelbase;
  rate.yaw_rate = yaw_acceleration + kRollingRelaxation_per_s * (yaw_rate - state.yaw_rate);
  rate.slip = slip_rate + kRollingRelaxation_per_s * (slip - state.slip);
}

/// The same from the tyre forces.
void slipping(const State& state, const Input& input, const SingleTrack& car, State& rate) {
  const double wheelbase = car.wheelbase();
  const double sign = state.speed < 0.0 ? -1.0 : 1.0;
  // Accelerations m_f, m_r that one radian of slip angle gives the whole car.
  const double per_front = car.friction * car.stiffness_front * (kGravity * car.lr - input.acceleration * car.cog_height) / wheelbase;
  const double per_rear = car.friction * car.stiffness_rear * (kGravity * car.lf + input.acceleration * car.cog_height) / wheelbase;
  const double turn = state.yaw_rate / state.speed;
  const double front = sign * per_front * (state.steering - state.slip - car.lf * turn);
  const double rear = sign * per_rear * (car.lr * turn - state.slip);
  rate.yaw_rate = car.mass / car.yaw_inertia * (car.lf * front - car.lr * rear);
  rate.slip = (front + rear) / state.speed - state.yaw_rate;
}

}  // namespace

State derivative(const State& state, const Input& input, const SingleTrack& car) {
  State rate;
  const auto [s, c] = math::sincos(state.yaw + state.slip);
  rate.x = state.speed * c;
  rate.y = state.speed * s;
  rate.steering = input.steering_rate;
  rate.speed = input.acceleration;
  rate.yaw = state.yaw_rate;
  if (std::abs(state.speed) < kSwitchSpeed_mps) {
    rolling(state, input, car, rate);
  } else {
    slipping(state, input, car, rate);
  }
  return rate;
}

State advanced(const State& state, double h, const State& rate) {
  return {state.x + h * rate.x,         state.y + h * rate.y,     state.steering + h * rate.steering,
          state.speed + h * rate.speed, state.yaw + h * rate.yaw, state.yaw_rate + h * rate.yaw_rate,
          state.slip + h * rate.slip};
}

double steady_lateral_acceleration(double speed, double steering, const SingleTrack& car) {
  const double sign = speed < 0.0 ? -1.0 : 1.0;
  const double understeer = (1.0 / car.stiffness_front - 1.0 / car.stiffness_rear) / (car.friction * kGravity);
  const double v2 = speed * speed;
  return v2 * steering / (car.wheelbase() + sign * understeer * v2);
}

double fastest_rate(const SingleTrack& car, double a_max) {
  const double wheelbase = car.wheelbase();
  const double front = car.friction * car.stiffness_front * (kGravity * car.lr + a_max * car.cog_height) / wheelbase;
  const double rear = car.friction * car.stiffness_rear * (kGravity * car.lf + a_max * car.cog_height) / wheelbase;
  const double slip = front + rear;
  const double yaw = car.mass / car.yaw_inertia * (car.lf * car.lf * front + car.lr * car.lr * rear);
  return (slip + yaw) / kSwitchSpeed_mps;
}

double critical_speed(const SingleTrack& car, bool reverse) {
  const double understeer = (1.0 / car.stiffness_front - 1.0 / car.stiffness_rear) / (car.friction * kGravity);
  const double destabilising = reverse ? understeer : -understeer;
  if (destabilising <= 0.0) return std::numeric_limits<double>::infinity();
  return std::sqrt(car.wheelbase() / destabilising);
}

}  // namespace pitwall::plant
