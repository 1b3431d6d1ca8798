// SPDX-License-Identifier: Apache-2.0
// The little linear algebra that steering laws are designed with, at construction: dense matrices, the exponential and the
// exact zero-order hold that it gives (C. F. Van Loan, "Computing integrals involving the matrix exponential", IEEE Trans.
// Automatic Control 23, 1978), the algebraic Riccati equation by structured doubling (E. K.-W. Chu, H.-Y. Fan, W.-W. Lin,
// C.-S. Wang, Int. J. Control 77, 2004), spectral radii by repeated squaring. Everything in one fixed order of operations.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace pitwall::controllers {

/// A dense matrix, row by row.
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::size_t rows, std::size_t cols) : rows_(rows), cols_(cols), v_(rows * cols) {}
  static Matrix identity(std::size_t n);
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t cols() const { return cols_; }
  double& operator()(std::size_t i, std::size_t k) { return v_[i * cols_ + k]; }
  double operator()(std::size_t i, std::size_t k) const { return v_[i * cols_ + k]; }
  [[nodiscard]] Matrix transposed() const;
  /// The part of that size whose first element is (i, k).
  [[nodiscard]] Matrix part(std::size_t i, std::size_t k, std::size_t rows, std::size_t cols) const;
  /// Overwrites the part whose first element is (i, k).
  void set(std::size_t i, std::size_t k, const Matrix& m);
  /// Largest sum of absolute values of a row.
  [[nodiscard]] double norm() const;

 private:
  std::size_t rows_ = 0;
  std::size_t cols_ = 0;
  std::vector<double> v_;
};

Matrix operator*(const Matrix& a, const Matrix& b);
Matrix operator*(double k, const Matrix& a);
Matrix operator+(const Matrix& a, const Matrix& b);
Matrix operator-(const Matrix& a, const Matrix& b);

/// inv(A) B by elimination with row pivoting; nothing if A is singular to working precision.
std::optional<Matrix> solve(const Matrix& a, const Matrix& b);

/// e^A.
Matrix exponential(const Matrix& a);

/// x' = A x + B u.
struct Continuous {
  Matrix a;
  Matrix b;
};
/// x+ = A x + B u.
struct Discrete {
  Matrix a;
  Matrix b;
};

/// Exactly what the system does in h s while its input is held.
Discrete zero_order_hold(const Continuous& system, double h);

/// The same with one input that acts `delay_s` after it was given, and m = ceil(delay / h), at least `memory_min`, further states: the
/// inputs given 1, 2, ... m periods ago. The state is (x, u_{k-1}, ..., u_{k-m}), the input u_k.
Discrete delayed_hold(const Continuous& system, double h, double delay_s, std::size_t memory_min = 0);

/// P and K of the discrete regulator: least sum of x'Qx + u'Ru, u = -K x, P = A'PA - A'PB (R + B'PB)^-1 B'PA + Q.
struct Regulator {
  Matrix cost;            ///< P
  Matrix gain;            ///< K
  double residual = 0.0;  ///< of the equation, over the norm of P
  int iterations = 0;
};
/// The stabilising solution; nothing where doubling does not converge to it (residual above 1e-8): (A, B) not stabilisable, or a
/// mode on the unit circle that Q does not see.
std::optional<Regulator> regulator(const Discrete& system, const Matrix& q, const Matrix& r);

/// Largest magnitude of an eigenvalue of a square matrix, to about 1e-6.
double spectral_radius(const Matrix& a);

}  // namespace pitwall::controllers
