// SPDX-License-Identifier: Apache-2.0
#include "localization/twist.hpp"

namespace pitwall::localization {

namespace {

// sin(a) / a and (1 - cos(a)) / a.
struct Chord {
  double along;
  double aside;
};

Chord chord_of(double angle) {
  if (std::abs(angle) < 1e-4) return {1.0 - angle * angle / 6.0, 0.5 * angle * (1.0 - angle * angle / 12.0)};
  const double half = math::sin(0.5 * angle);
  return {math::sin(angle) / angle, 2.0 * half * half / angle};
}

}  // namespace

Pose2 travelled(Twist velocity, double dt_s) {
  const double angle = velocity.yaw_radps * dt_s;
  const Chord c = chord_of(angle);
  const double x = velocity.x_mps * dt_s;
  const double y = velocity.y_mps * dt_s;
  return {c.along * x - c.aside * y, c.aside * x + c.along * y, wrap_angle(angle)};
}

Twist velocity_of(const Pose2& T_start_end, double dt_s) {
  const double angle = wrap_angle(T_start_end.yaw);
  const Chord c = chord_of(angle);
  const double norm2 = c.along * c.along + c.aside * c.aside;
  const double x = (c.along * T_start_end.x + c.aside * T_start_end.y) / norm2;
  const double y = (c.along * T_start_end.y - c.aside * T_start_end.x) / norm2;
  return {x / dt_s, y / dt_s, angle / dt_s};
}

Twist at_frame(Twist velocity_a, const Pose2& T_ab) {
  const Vec2 moved{velocity_a.x_mps - velocity_a.yaw_radps * T_ab.y, velocity_a.y_mps + velocity_a.yaw_radps * T_ab.x};
  const Vec2 v = rotate(-T_ab.yaw, moved);
  return {v.x, v.y, velocity_a.yaw_radps};
}

}  // namespace pitwall::localization
