// SPDX-License-Identifier: Apache-2.0
#include "localization/imu_mounting.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/math.hpp"
#include "core/signal.hpp"
#include "core/text.hpp"
#include "localization/accelerometer_fit.hpp"

namespace pitwall::localization {

namespace {

/// By `angle_rad` about a unit axis (Rodrigues).
Matrix3 rotation_about(const Vector3& axis, double angle_rad) {
  const auto [s, c] = math::sincos(angle_rad);
  Matrix3 r;
  for (std::size_t k = 0; k < 3; ++k) {
    Vector3 unit;
    unit.v[k] = 1.0;
    const Vector3 column = c * unit + s * cross(axis, unit) + (1.0 - c) * dot(axis, unit) * axis;
    for (std::size_t i = 0; i < 3; ++i) r(i, k) = column.v[i];
  }
  return r;
}

double correlation(std::span<const double> a, std::span<const double> b) {
  double n = 0.0, sa = 0.0, sb = 0.0, saa = 0.0, sbb = 0.0, sab = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) continue;
    n += 1.0;
    sa += a[i];
    sb += b[i];
    saa += a[i] * a[i];
    sbb += b[i] * b[i];
    sab += a[i] * b[i];
  }
  const double spread = (n * saa - sa * sa) * (n * sbb - sb * sb);
  return spread > 0.0 ? (n * sab - sa * sb) / std::sqrt(spread) : 0.0;
}

}  // namespace

Matrix3 rotation_of(double roll_rad, double pitch_rad, double yaw_rad) {
  return rotation_about({{0.0, 0.0, 1.0}}, yaw_rad) * rotation_about({{0.0, 1.0, 0.0}}, pitch_rad) *
         rotation_about({{1.0, 0.0, 0.0}}, roll_rad);
}

Result<Matrix3> mount_rotation(const Vector3& still, std::span<const Vector3> pushed) {
  constexpr double kNotGravity_mps2 = 2.0;
  constexpr double kPush_mps2 = 0.8;
  const double g = length(still);
  if (!(std::abs(g - math::kStandardGravity_mps2) < kNotGravity_mps2))
    return Error{"at rest it reads " + format_number(g, 4) + " m/s^2: that is not gravity"};
  const Vector3 up{{0.0, 0.0, 1.0}};
  const Vector3 direction = (1.0 / g) * still;
  const Vector3 across = cross(direction, up);
  const double sine = length(across);
  Matrix3 level = identity<3>();
  if (sine > 1e-9) {
    level = rotation_about((1.0 / sine) * across, math::atan2(sine, direction.v[2]));
  } else if (direction.v[2] < 0.0) {
    level = rotation_about({{1.0, 0.0, 0.0}}, math::kPi);  // upside down; any horizontal axis turns it as little
  }
  for (const Vector3& reading : pushed) {
    const Vector3 push = level * (reading - still);
    if (!(math::hypot(push.v[0], push.v[1]) > kPush_mps2)) continue;
    return rotation_about(up, -math::atan2(push.v[1], push.v[0])) * level;
  }
  return Error{"no push forward above 0.8 m/s^2"};
}

Result<Matrix3> rotation_between(std::span<const Vector3> a, std::span<const Vector3> b) {
  constexpr double kTurning_radps = 0.3;
  constexpr std::size_t kLeast = 10;
  constexpr double kLeastShare = 1e-3;  // of the second axis in the turns, squared
  Matrix3 sum;                          // of a b^T
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (!is_finite(a[i]) || !is_finite(b[i]) || !(length(a[i]) > kTurning_radps)) continue;
    sum = sum + a[i] * transposed(b[i]);
    ++pairs;
  }
  if (pairs < kLeast) return Error{"turning above 0.3 rad/s in " + std::to_string(pairs) + " samples, needed are 10"};
  // sum = U S V^T by the eigenvectors of sum^T sum, largest first; R = U diag(1, 1, det) V^T.
  const Eigen3 eigen = eigen_symmetric(transposed(sum) * sum);
  if (!(eigen.values[1] > kLeastShare * kLeastShare * eigen.values[2]))
    return Error{"all turns are about one axis: the rotation about it is not known"};
  const auto column = [&](std::size_t k) { return Vector3{{eigen.vectors(0, k), eigen.vectors(1, k), eigen.vectors(2, k)}}; };
  const auto unit = [](const Vector3& v) { return (1.0 / length(v)) * v; };
  const Vector3 v0 = column(2);
  const Vector3 v1 = column(1);
  const Vector3 u0 = unit(sum * v0);
  Vector3 u1 = sum * v1;
  u1 = unit(u1 - dot(u1, u0) * u0);
  return u0 * transposed(v0) + u1 * transposed(v1) + cross(u0, u1) * transposed(cross(v0, v1));
}

Result<double> time_offset_s(std::span<const double> a_t_s, std::span<const double> a, std::span<const double> b_t_s,
                             std::span<const double> b) {
  constexpr double kRange_s = 0.15, kStep_s = 0.0025, kGap_s = 0.1, kLeast_s = 2.0, kLeastCorrelation = 0.5;
  if (a_t_s.empty() || b_t_s.empty() || std::min(a_t_s.back(), b_t_s.back()) - std::max(a_t_s.front(), b_t_s.front()) < kLeast_s)
    return Error{"less than 2 s in common"};
  const int steps = static_cast<int>(std::lround(kRange_s / kStep_s));
  std::vector<double> found;
  for (int k = -steps; k <= steps; ++k) {
    std::vector<double> at(a_t_s.begin(), a_t_s.end());
    for (double& t : at) t += k * kStep_s;
    found.push_back(correlation(a, signals::resample(b_t_s, b, at, signals::Between::kLinear, kGap_s)));
  }
  const auto best = static_cast<std::size_t>(std::max_element(found.begin(), found.end()) - found.begin());
  if (!(found[best] > kLeastCorrelation)) return Error{"they have little in common: correlation " + format_number(found[best], 3)};
  if (best == 0 || best + 1 == found.size()) return Error{"more than 0.15 s apart"};
  // The top of the parabola through the best and its neighbours.
  const double bend = found[best - 1] - 2.0 * found[best] + found[best + 1];
  const double shift = bend < 0.0 ? 0.5 * (found[best - 1] - found[best + 1]) / bend : 0.0;
  return (static_cast<double>(best) - steps + shift) * kStep_s;
}

}  // namespace pitwall::localization
