// SPDX-License-Identifier: Apache-2.0
#include "localization/small_matrix.hpp"

#include <algorithm>

namespace pitwall::localization {

namespace {

// Turns rows and columns p and q so that a(p, q) becomes 0.
void rotate_away(Matrix3& a, Matrix3& vectors, std::size_t p, std::size_t q) {
  if (a(p, q) == 0.0) return;
  const double tau = (a(q, q) - a(p, p)) / (2.0 * a(p, q));
  const double t = (tau >= 0.0 ? 1.0 : -1.0) / (std::abs(tau) + std::sqrt(1.0 + tau * tau));
  const double c = 1.0 / std::sqrt(1.0 + t * t);
  const double s = t * c;
  for (std::size_t k = 0; k < 3; ++k) {
    const double kp = a(k, p);
    const double kq = a(k, q);
    a(k, p) = c * kp - s * kq;
    a(k, q) = s * kp + c * kq;
  }
  for (std::size_t k = 0; k < 3; ++k) {
    const double pk = a(p, k);
    const double qk = a(q, k);
    a(p, k) = c * pk - s * qk;
    a(q, k) = s * pk + c * qk;
    const double vp = vectors(k, p);
    const double vq = vectors(k, q);
    vectors(k, p) = c * vp - s * vq;
    vectors(k, q) = s * vp + c * vq;
  }
}

}  // namespace

Eigen3 eigen_symmetric(const Matrix3& a) {
  Matrix3 d = a;
  Matrix3 vectors = identity<3>();
  constexpr int kSweeps = 12;  // three or four suffice: convergence is quadratic
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    const double off = std::abs(d(0, 1)) + std::abs(d(0, 2)) + std::abs(d(1, 2));
    if (!(off > 1e-18 * (std::abs(d(0, 0)) + std::abs(d(1, 1)) + std::abs(d(2, 2))))) break;
    rotate_away(d, vectors, 0, 1);
    rotate_away(d, vectors, 0, 2);
    rotate_away(d, vectors, 1, 2);
  }
  std::array<std::size_t, 3> order{0, 1, 2};
  std::sort(order.begin(), order.end(), [&d](std::size_t i, std::size_t k) { return d(i, i) < d(k, k) || (d(i, i) == d(k, k) && i < k); });
  Eigen3 result;
  for (std::size_t k = 0; k < 3; ++k) {
    const std::size_t from = order[k];
    result.values[k] = d(from, from);
    std::size_t largest = 0;
    for (std::size_t i = 1; i < 3; ++i) {
      if (std::abs(vectors(i, from)) > std::abs(vectors(largest, from))) largest = i;
    }
    const double sign = vectors(largest, from) < 0.0 ? -1.0 : 1.0;
    for (std::size_t i = 0; i < 3; ++i) result.vectors(i, k) = sign * vectors(i, from);
  }
  return result;
}

}  // namespace pitwall::localization
