// SPDX-License-Identifier: Apache-2.0
// Matrices of a size known when compiled, on the stack: the 3 x 3 of a pose in the plane and the 8 x 8 of a filter. Everything in one
// fixed order of operations; nothing is allocated.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace pitwall::localization {

/// R x C numbers, row by row; zero unless given.
template <std::size_t R, std::size_t C>
struct Matrix {
  std::array<double, R * C> v{};
  double& operator()(std::size_t i, std::size_t k) { return v[i * C + k]; }
  double operator()(std::size_t i, std::size_t k) const { return v[i * C + k]; }
  friend bool operator==(const Matrix&, const Matrix&) = default;
};

template <std::size_t N>
using Vector = Matrix<N, 1>;

using Matrix3 = Matrix<3, 3>;
using Vector3 = Vector<3>;

template <std::size_t N>
Matrix<N, N> identity() {
  Matrix<N, N> m;
  for (std::size_t i = 0; i < N; ++i) m(i, i) = 1.0;
  return m;
}

template <std::size_t N>
Matrix<N, N> diagonal(const std::array<double, N>& values) {
  Matrix<N, N> m;
  for (std::size_t i = 0; i < N; ++i) m(i, i) = values[i];
  return m;
}

template <std::size_t R, std::size_t K, std::size_t C>
Matrix<R, C> operator*(const Matrix<R, K>& a, const Matrix<K, C>& b) {
  Matrix<R, C> m;
  for (std::size_t i = 0; i < R; ++i) {
    for (std::size_t j = 0; j < K; ++j) {
      for (std::size_t k = 0; k < C; ++k) m(i, k) += a(i, j) * b(j, k);
    }
  }
  return m;
}

template <std::size_t R, std::size_t C>
Matrix<R, C> operator*(double k, Matrix<R, C> a) {
  for (double& x : a.v) x *= k;
  return a;
}

template <std::size_t R, std::size_t C>
Matrix<R, C> operator+(Matrix<R, C> a, const Matrix<R, C>& b) {
  for (std::size_t i = 0; i < R * C; ++i) a.v[i] += b.v[i];
  return a;
}

template <std::size_t R, std::size_t C>
Matrix<R, C> operator-(Matrix<R, C> a, const Matrix<R, C>& b) {
  for (std::size_t i = 0; i < R * C; ++i) a.v[i] -= b.v[i];
  return a;
}

template <std::size_t R, std::size_t C>
Matrix<C, R> transposed(const Matrix<R, C>& a) {
  Matrix<C, R> m;
  for (std::size_t i = 0; i < R; ++i) {
    for (std::size_t k = 0; k < C; ++k) m(k, i) = a(i, k);
  }
  return m;
}

inline double dot(const Vector3& a, const Vector3& b) { return a.v[0] * b.v[0] + a.v[1] * b.v[1] + a.v[2] * b.v[2]; }
inline double length(const Vector3& a) { return std::sqrt(dot(a, a)); }
inline Vector3 cross(const Vector3& a, const Vector3& b) {
  return {{a.v[1] * b.v[2] - a.v[2] * b.v[1], a.v[2] * b.v[0] - a.v[0] * b.v[2], a.v[0] * b.v[1] - a.v[1] * b.v[0]}};
}
inline bool is_finite(const Vector3& a) { return std::isfinite(a.v[0]) && std::isfinite(a.v[1]) && std::isfinite(a.v[2]); }

/// a P a^T.
template <std::size_t R, std::size_t C>
Matrix<R, R> sandwich(const Matrix<R, C>& a, const Matrix<C, C>& p) {
  return a * p * transposed(a);
}

/// Of a positive definite matrix, by elimination; the diagonal needs no pivots.
template <std::size_t N>
Matrix<N, N> inverse_of(Matrix<N, N> a) {
  Matrix<N, N> b = identity<N>();
  for (std::size_t k = 0; k < N; ++k) {
    const double pivot = 1.0 / a(k, k);
    for (std::size_t j = 0; j < N; ++j) {
      a(k, j) *= pivot;
      b(k, j) *= pivot;
    }
    for (std::size_t i = 0; i < N; ++i) {
      if (i == k) continue;
      const double f = a(i, k);
      for (std::size_t j = 0; j < N; ++j) {
        a(i, j) -= f * a(k, j);
        b(i, j) -= f * b(k, j);
      }
    }
  }
  return b;
}

/// Eigenvalues in ascending order, and in column k of `vectors` the unit vector of value k.
struct Eigen3 {
  std::array<double, 3> values{};
  Matrix3 vectors;
};

/// Of a symmetric matrix, by Jacobi's rotations (Golub and Van Loan, "Matrix Computations", section 8.5). Of each vector the component of
/// largest magnitude is positive.
Eigen3 eigen_symmetric(const Matrix3& a);

}  // namespace pitwall::localization
