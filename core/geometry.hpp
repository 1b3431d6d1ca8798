// SPDX-License-Identifier: Apache-2.0
// Plane geometry in SI units and radians, REP-103 axes (x forward, y left, yaw counter-clockwise).
// A plain struct rather than Eigen::Vector2d: trivially copyable into messages and hashes, and as fast at -O0 as the
// determinism tests need.
#pragma once

#include <cmath>

#include "core/math.hpp"

namespace pitwall {

/// A point or vector of the plane in metres.
struct Vec2 {
  double x = 0.0;
  double y = 0.0;
  friend constexpr bool operator==(Vec2, Vec2) = default;
};

constexpr Vec2 operator+(Vec2 a, Vec2 b) { return {a.x + b.x, a.y + b.y}; }
constexpr Vec2 operator-(Vec2 a, Vec2 b) { return {a.x - b.x, a.y - b.y}; }
constexpr Vec2 operator-(Vec2 a) { return {-a.x, -a.y}; }
constexpr Vec2 operator*(double k, Vec2 a) { return {k * a.x, k * a.y}; }
constexpr double dot(Vec2 a, Vec2 b) { return a.x * b.x + a.y * b.y; }
/// z component of a x b: positive when b lies to the left of a.
constexpr double cross(Vec2 a, Vec2 b) { return a.x * b.y - a.y * b.x; }
/// a turned by +90 degrees (to its left).
constexpr Vec2 perpendicular(Vec2 a) { return {-a.y, a.x}; }
inline double norm(Vec2 a) { return std::sqrt(dot(a, a)); }
inline double distance(Vec2 a, Vec2 b) { return norm(b - a); }
/// The unit vector at `angle_rad`.
inline Vec2 unit_vector(double angle_rad) {
  const auto [s, c] = math::sincos(angle_rad);
  return {c, s};
}

/// A pose in the plane; also the transform that takes coordinates of its own frame to the frame it is given in:
/// with `Pose2 T_map_base`, `T_map_base * p_base` is p_map.
struct Pose2 {
  double x = 0.0;
  double y = 0.0;
  double yaw = 0.0;
  friend constexpr bool operator==(Pose2, Pose2) = default;
  [[nodiscard]] constexpr Vec2 position() const { return {x, y}; }
};

/// Angle brought into (-pi, pi]; exact for any finite input as std::remainder is.
inline double wrap_angle(double angle_rad) {
  const double wrapped = std::remainder(angle_rad, 2.0 * math::kPi);
  return wrapped <= -math::kPi ? math::kPi : wrapped;
}

/// v turned by `angle_rad`.
inline Vec2 rotate(double angle_rad, Vec2 v) {
  const auto [s, c] = math::sincos(angle_rad);
  return {c * v.x - s * v.y, s * v.x + c * v.y};
}

inline Vec2 operator*(const Pose2& T_ab, Vec2 p_b) { return T_ab.position() + rotate(T_ab.yaw, p_b); }

/// T_ac = T_ab * T_bc, yaw wrapped.
inline Pose2 operator*(const Pose2& T_ab, const Pose2& T_bc) {
  const Vec2 p = T_ab * T_bc.position();
  return {p.x, p.y, wrap_angle(T_ab.yaw + T_bc.yaw)};
}

/// T_ba from T_ab.
inline Pose2 inverse(const Pose2& T_ab) {
  const Vec2 p = rotate(-T_ab.yaw, -T_ab.position());
  return {p.x, p.y, wrap_angle(-T_ab.yaw)};
}

}  // namespace pitwall
