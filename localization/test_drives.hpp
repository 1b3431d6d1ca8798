// SPDX-License-Identifier: Apache-2.0
// Drives with known truth, and what an IMU and wheels would say of them: velocities of base_link as functions of time, accelerations by
// their derivatives, noise from a fixed seed.
#pragma once

#include <cmath>
#include <functional>

#include "core/geometry.hpp"
#include "core/messages.hpp"
#include "core/rng.hpp"
#include "localization/twist.hpp"

namespace pitwall::localization::drives {

struct Drive {
  std::function<Twist(double)> velocity;                                  ///< truth at t s
  std::function<double(double)> wheel_slip = [](double) { return 0.0; };  ///< wheels turn (1 + slip) vx
  std::function<double(double)> gyro_bias = [](double) { return 0.0; };
  double gyro_scale = 0.0;
  Vec2 accel_offset;
  double gyro_noise = 0.003;
  double accel_noise = 0.04;
  double wheel_noise = 0.02;
  Vec2 imu_at;  ///< from base_link
};

inline Time at(double t) { return Time{} + from_seconds(50.0 + t); }

/// Soft step from 0 to 1 over [begin, begin + length].
inline double ramp(double t, double begin, double length) {
  const double u = std::clamp((t - begin) / length, 0.0, 1.0);
  return u * u * (3.0 - 2.0 * u);
}
/// 1 between begin and end, with soft edges of `edge` s.
inline double pulse(double t, double begin, double end, double edge) { return ramp(t, begin, edge) - ramp(t, end - edge, edge); }

inline Imu imu_of(const Drive& d, double t, std::uint64_t sample) {
  constexpr double kStep = 1e-4;
  const Rng noise(21, "imu");
  const Twist v = d.velocity(t);
  const Twist change = (0.5 / kStep) * (d.velocity(t + kStep) + (-1.0) * d.velocity(t - kStep));
  const double r = v.yaw_radps;
  const Vec2 base{change.x_mps - r * v.y_mps, change.y_mps + r * v.x_mps};
  const Vec2 here = base - r * r * d.imu_at + change.yaw_radps * perpendicular(d.imu_at) + d.accel_offset;
  Imu imu;
  imu.stamp = at(t);
  imu.angular_velocity_radps = {0.0, 0.0, (1.0 + d.gyro_scale) * r + d.gyro_bias(t) + d.gyro_noise * noise.normal(sample, 0)};
  imu.linear_acceleration_mps2 = {here.x + d.accel_noise * noise.normal(sample, 1), here.y + d.accel_noise * noise.normal(sample, 2),
                                  9.80665};
  return imu;
}

inline double wheels_of(const Drive& d, double t, std::uint64_t sample) {
  const Rng noise(22, "wheels");
  const double vx = d.velocity(t).x_mps;
  return vx == 0.0 ? 0.0 : (1.0 + d.wheel_slip(t)) * vx + d.wheel_noise * noise.normal(sample);
}

/// Called every 5 ms from 0 to `until_s`: t, number of the step, true pose. Feeds IMU at 200 Hz and wheels at 50 Hz first.
template <class Estimator, class Each>
void run(Estimator& estimator, const Drive& d, double until_s, const Each& each) {
  constexpr int kFine = 10;
  Pose2 truth;
  const auto steps = static_cast<std::uint64_t>(until_s / 0.005 + 0.5);
  for (std::uint64_t k = 0; k <= steps; ++k) {
    const double t = 0.005 * static_cast<double>(k);
    estimator.add_imu(imu_of(d, t, k));
    if (k % 4 == 0) estimator.add_wheels(at(t), wheels_of(d, t, k));
    each(t, k, truth);
    for (int i = 0; i < kFine; ++i) truth = truth * travelled(d.velocity(t + (i + 0.5) * 0.005 / kFine), 0.005 / kFine);
  }
}

}  // namespace pitwall::localization::drives
