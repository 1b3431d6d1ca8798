// SPDX-License-Identifier: Apache-2.0
#include "localization/wall_pairs.hpp"

#include <algorithm>
#include <cmath>

namespace pitwall::localization {

namespace {

// What the noise of normals adds up to varies by a fifth from pair to pair.
constexpr double kSignificant = 2.0;

}  // namespace

Vector3 in_metres(const Vector3& v) { return {{v.v[0], v.v[1], v.v[2] / kRadian_m}}; }

Matrix3 in_metres(Matrix3 m) {
  for (std::size_t k = 0; k < 2; ++k) {
    m(2, k) /= kRadian_m;
    m(k, 2) /= kRadian_m;
  }
  m(2, 2) /= kRadian_m * kRadian_m;
  return m;
}

Vector3 column(const Matrix3& m, std::size_t k) { return {{m(0, k), m(1, k), m(2, k)}}; }

double dot3(const Vector3& a, const Vector3& b) { return a.v[0] * b.v[0] + a.v[1] * b.v[1] + a.v[2] * b.v[2]; }

void add_square(Matrix3& m, double k, const Vector3& a) {
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) m(i, j) += k * a.v[i] * a.v[j];
  }
}

std::optional<double> WallPairSums::add(const WallPiece& here, Vec2 centre, const WallPiece& moved, Vec2 position, Vec2 arm, Vec2 normal,
                                        double robust_scale_m) {
  const double cosine = dot(normal, here.normal);
  if (cosine < kLeastCosine) return std::nullopt;
  const double scale2 = robust_scale_m * robust_scale_m;
  const Vec2 m = (1.0 / std::sqrt(2.0 + 2.0 * cosine)) * (normal + here.normal);
  const double residual = dot(m, position - centre);
  const double w = scale2 / (scale2 + residual * residual);
  const Vector3 j{{m.x, m.y, cross(arm, m)}};
  const Vec2 t = perpendicular(m);
  const Vector3 aside{{t.x, t.y, cross(arm, t)}};
  add_square(information, w, j);
  add_square(false_information, 0.25 * w * (here.angle_variance + moved.angle_variance), aside);
  for (std::size_t k = 0; k < 3; ++k) gradient.v[k] += w * residual * j.v[k];
  weight += w;
  scatter_m2 += w * 0.5 * (here.scatter_m2 + moved.scatter_m2);
  residual_m2 += w * residual * residual * here.points * moved.points / (here.points + moved.points);
  ++pairs;
  return residual;
}

WallDirections directions_of(const WallPairSums& sums, double noise_m2, double max_sigma_m) {
  WallDirections d;
  d.scaled = eigen_symmetric(in_metres(sums.information));
  const Matrix3 noise = in_metres(sums.false_information);
  for (std::size_t k = 0; k < 3; ++k) {
    const Vector3 v = column(d.scaled.vectors, k);
    const double of_noise = dot3(v, noise * v);
    d.left[k] = d.scaled.values[k] - of_noise;
    d.sigma_m[k] = d.left[k] > 0.0 ? std::min(kUnobserved, std::sqrt(2.0 * noise_m2 / d.left[k])) : kUnobserved;
    d.observable[k] = d.left[k] > kSignificant * of_noise && d.sigma_m[k] <= max_sigma_m;
  }
  return d;
}

}  // namespace pitwall::localization
