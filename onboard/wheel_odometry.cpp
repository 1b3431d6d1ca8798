// SPDX-License-Identifier: Apache-2.0
#include "onboard/wheel_odometry.hpp"

#include <cmath>

#include "core/math.hpp"

namespace pitwall::onboard {
namespace {

constexpr double kGyroLasts_s = 0.1;
// A gyro's gap that is not bridged by the mean of its ends.
constexpr double kLongestGyroStep_s = 0.5;
// A counter cannot run faster than this share above the car's top speed (wheels that spin freely), give or take some counts.
constexpr double kFasterThanCar = 2.0;
constexpr double kSpareCounts = 60.0;

}  // namespace

void Heading::add_gyro(Time stamp, double yaw_rate_radps) {
  if (gyro_stamp_) {
    const double dt = (stamp - *gyro_stamp_).seconds();
    if (dt <= 0.0) return;
    if (dt <= kLongestGyroStep_s) gyro_rad_ += 0.5 * (gyro_radps_ + yaw_rate_radps) * dt;
  }
  gyro_stamp_ = stamp;
  gyro_radps_ = yaw_rate_radps;
}

double Heading::advance(Time to, double model_radps) {
  const double dt = last_ ? (to - *last_).seconds() : 0.0;
  const bool was_by_gyro = by_gyro_ && last_;
  by_gyro_ = gyro_stamp_ && std::abs((to - *gyro_stamp_).seconds()) <= kGyroLasts_s;
  rate_radps_ = by_gyro_ ? gyro_radps_ : model_radps;
  double turn = rate_radps_ * dt;
  if (by_gyro_) {
    const double now_rad = gyro_rad_ + gyro_radps_ * (to - *gyro_stamp_).seconds();
    if (was_by_gyro) turn = now_rad - last_rad_;
    last_rad_ = now_rad;
  }
  last_ = to;
  return turn;
}

double WheelOdometry::step_m(double dt_s, std::int32_t tachometer, double speed_mps) {
  const std::optional<std::int32_t> before = counter_;
  counter_ = tachometer;
  const double by_speed = 0.5 * (last_speed_mps_ + speed_mps) * dt_s;
  if (!before) return by_speed;
  // Unsigned differences wrap as the counter does.
  const auto counts = static_cast<std::int32_t>(static_cast<std::uint32_t>(tachometer) - static_cast<std::uint32_t>(*before));
  const double possible = kSpareCounts + kFasterThanCar * speed_max_mps_ * dt_s / std::abs(metres_per_count_);
  if (std::abs(static_cast<double>(counts)) <= possible) return metres_per_count_ * counts;
  ++restarts_;
  return by_speed;
}

Odometry WheelOdometry::add(Time stamp, std::int32_t tachometer, double speed_mps, double turn_rad, double yaw_rate_radps) {
  const double dt = last_ ? (stamp - *last_).seconds() : 0.0;
  const double way = step_m(dt, tachometer, speed_mps);
  last_ = stamp;
  last_speed_mps_ = speed_mps;
  way_m_ += way;
  // The chord of the arc, in the direction of its middle.
  const double half = 0.5 * turn_rad;
  const double chord = std::abs(half) < 1e-6 ? way : way * math::sin(half) / half;
  const auto [s, c] = math::sincos(T_odom_base_.yaw + half);
  T_odom_base_ = {T_odom_base_.x + chord * c, T_odom_base_.y + chord * s, wrap_angle(T_odom_base_.yaw + turn_rad)};
  return {stamp, T_odom_base_.position(), to_quaternion(T_odom_base_.yaw), speed_mps, yaw_rate_radps};
}

}  // namespace pitwall::onboard
