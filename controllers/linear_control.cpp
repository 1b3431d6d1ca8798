// SPDX-License-Identifier: Apache-2.0
#include "controllers/linear_control.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "core/math.hpp"

namespace pitwall::controllers {

Matrix Matrix::identity(std::size_t n) {
  Matrix m(n, n);
  for (std::size_t i = 0; i < n; ++i) m(i, i) = 1.0;
  return m;
}

Matrix Matrix::transposed() const {
  Matrix m(cols_, rows_);
  for (std::size_t i = 0; i < rows_; ++i) {
    for (std::size_t k = 0; k < cols_; ++k) m(k, i) = (*this)(i, k);
  }
  return m;
}

Matrix Matrix::part(std::size_t i, std::size_t k, std::size_t rows, std::size_t cols) const {
  Matrix m(rows, cols);
  for (std::size_t a = 0; a < rows; ++a) {
    for (std::size_t b = 0; b < cols; ++b) m(a, b) = (*this)(i + a, k + b);
  }
  return m;
}

void Matrix::set(std::size_t i, std::size_t k, const Matrix& m) {
  for (std::size_t a = 0; a < m.rows(); ++a) {
    for (std::size_t b = 0; b < m.cols(); ++b) (*this)(i + a, k + b) = m(a, b);
  }
}

double Matrix::norm() const {
  double most = 0.0;
  for (std::size_t i = 0; i < rows_; ++i) {
    double sum = 0.0;
    for (std::size_t k = 0; k < cols_; ++k) sum += std::abs((*this)(i, k));
    // A NaN must not look small.
    if (std::isnan(sum)) return sum;
    most = std::max(most, sum);
  }
  return most;
}

Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix m(a.rows(), b.cols());
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t c = 0; c < a.cols(); ++c) {
      for (std::size_t k = 0; k < b.cols(); ++k) m(i, k) += a(i, c) * b(c, k);
    }
  }
  return m;
}

Matrix operator*(double k, const Matrix& a) {
  Matrix m = a;
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t c = 0; c < a.cols(); ++c) m(i, c) *= k;
  }
  return m;
}

Matrix operator+(const Matrix& a, const Matrix& b) {
  Matrix m = a;
  for (std::size_t i = 0; i < a.rows(); ++i) {
    for (std::size_t c = 0; c < a.cols(); ++c) m(i, c) += b(i, c);
  }
  return m;
}

Matrix operator-(const Matrix& a, const Matrix& b) { return a + (-1.0) * b; }

std::optional<Matrix> solve(const Matrix& a, const Matrix& b) {
  const std::size_t n = a.rows();
  Matrix left = a;
  Matrix right = b;
  const double smallest = 1e-15 * a.norm();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < n; ++i) pivot = std::abs(left(i, k)) > std::abs(left(pivot, k)) ? i : pivot;
    if (!(std::abs(left(pivot, k)) > smallest)) return std::nullopt;
    for (std::size_t c = 0; c < n; ++c) std::swap(left(k, c), left(pivot, c));
    for (std::size_t c = 0; c < b.cols(); ++c) std::swap(right(k, c), right(pivot, c));
    for (std::size_t i = k + 1; i < n; ++i) {
      const double f = left(i, k) / left(k, k);
      if (f == 0.0) continue;
      for (std::size_t c = k; c < n; ++c) left(i, c) -= f * left(k, c);
      for (std::size_t c = 0; c < b.cols(); ++c) right(i, c) -= f * right(k, c);
    }
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t c = 0; c < b.cols(); ++c) {
      for (std::size_t k = i + 1; k < n; ++k) right(i, c) -= left(i, k) * right(k, c);
      right(i, c) /= left(i, i);
    }
  }
  return right;
}

Matrix exponential(const Matrix& a) {
  // Halved until its norm is below 1/2, where 16 terms of the series are exact to the last digit, then squared back.
  constexpr int kTerms = 16;
  int halvings = 0;
  for (double size = a.norm(); size > 0.5 && halvings < 60; size *= 0.5) ++halvings;
  const Matrix small = std::ldexp(1.0, -halvings) * a;
  Matrix sum = Matrix::identity(a.rows());
  Matrix term = sum;
  for (int k = 1; k <= kTerms; ++k) {
    term = (1.0 / k) * (term * small);
    sum = sum + term;
  }
  for (int k = 0; k < halvings; ++k) sum = sum * sum;
  return sum;
}

Discrete zero_order_hold(const Continuous& system, double h) {
  const std::size_t n = system.a.rows();
  const std::size_t m = system.b.cols();
  Matrix both(n + m, n + m);
  both.set(0, 0, h * system.a);
  both.set(0, n, h * system.b);
  const Matrix e = exponential(both);
  return {e.part(0, 0, n, n), e.part(0, n, n, m)};
}

Discrete delayed_hold(const Continuous& system, double h, double delay_s, std::size_t memory_min) {
  // Within the period [k, k + 1) h the input given `whole` + 1 periods ago acts until `rest`, then the one after it.
  constexpr double kExact = 1e-9;
  PITWALL_CHECK(h > 0.0 && delay_s >= 0.0 && system.b.cols() == 1);
  const std::size_t n = system.a.rows();
  auto whole = static_cast<std::size_t>(std::floor(delay_s / h + kExact));
  const double rest = std::max(0.0, delay_s - static_cast<double>(whole) * h);
  const bool exact = rest <= kExact * h;
  const std::size_t m = std::max(memory_min, whole + (exact ? 0 : 1));
  const Discrete before = zero_order_hold(system, exact ? 0.0 : rest);
  const Discrete after = zero_order_hold(system, exact ? h : h - rest);
  Discrete d{Matrix(n + m, n + m), Matrix(n + m, 1)};
  d.a.set(0, 0, after.a * before.a);
  const auto put = [&](std::size_t periods_ago, const Matrix& effect) {
    if (periods_ago == 0) {
      d.b.set(0, 0, effect);
    } else {
      d.a.set(0, n + periods_ago - 1, effect);
    }
  };
  put(whole, after.b);
  if (!exact) put(whole + 1, after.a * before.b);
  if (m > 0) d.b(n, 0) = 1.0;
  for (std::size_t i = 1; i < m; ++i) d.a(n + i, n + i - 1) = 1.0;
  return d;
}

std::optional<Regulator> regulator(const Discrete& system, const Matrix& q, const Matrix& r) {
  constexpr int kMostDoublings = 60;
  constexpr double kSettled = 1e-14;
  constexpr double kWorstResidual = 1e-8;
  const std::size_t n = system.a.rows();
  const auto weighted = solve(r, system.b.transposed());
  if (!weighted) return std::nullopt;
  Matrix a = system.a;
  Matrix g = system.b * *weighted;
  Matrix h = q;
  Regulator result;
  bool settled = false;
  while (!settled && result.iterations < kMostDoublings) {
    ++result.iterations;
    const Matrix mixed = Matrix::identity(n) + g * h;
    const auto inverse_a = solve(mixed, a);
    const auto inverse_g = solve(mixed, g);
    if (!inverse_a || !inverse_g) return std::nullopt;
    const Matrix gain_h = a.transposed() * h * *inverse_a;
    g = g + a * *inverse_g * a.transposed();
    a = a * *inverse_a;
    h = h + gain_h;
    // Rounding makes them unsymmetric in the last digit; doubling would let that grow.
    g = 0.5 * (g + g.transposed());
    h = 0.5 * (h + h.transposed());
    settled = gain_h.norm() <= kSettled * h.norm();
  }
  const Matrix pb = h * system.b;
  const auto gain = solve(r + system.b.transposed() * pb, pb.transposed() * system.a);
  if (!settled || !gain) return std::nullopt;
  result.cost = h;
  result.gain = *gain;
  const Matrix again = system.a.transposed() * h * (system.a - system.b * *gain) + q;
  result.residual = (again - h).norm() / h.norm();
  if (!(result.residual < kWorstResidual) || !(spectral_radius(system.a - system.b * *gain) < 1.0)) return std::nullopt;
  return result;
}

double spectral_radius(const Matrix& a) {
  // |A^(2^k)|^(1 / 2^k), with the sizes kept apart as logarithms.
  constexpr int kSquarings = 24;
  Matrix power = a;
  double log_size = 0.0;
  double share = 1.0;
  for (int k = 0;; ++k) {
    const double size = power.norm();
    if (!(size > 0.0)) return size == 0.0 ? 0.0 : size;
    log_size += share * math::log(size);
    if (k == kSquarings) return math::exp(log_size);
    power = (1.0 / size) * power;
    power = power * power;
    share *= 0.5;
  }
}

}  // namespace pitwall::controllers
