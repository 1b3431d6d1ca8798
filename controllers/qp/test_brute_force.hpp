// SPDX-License-Identifier: Apache-2.0
// The slow and obvious way to solve a small quadratic program, for tests: every choice of rows at their lower bound, at their
// upper bound or free is tried; the one whose stationary point obeys all rows with multipliers of the right sign is the minimum.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "controllers/qp/dual_active_set.hpp"

namespace pitwall::controllers::qp {

/// A problem that owns its numbers.
struct OwnedProblem {
  std::vector<double> hessian, gradient, rows, lower, upper;
  [[nodiscard]] Problem view() const { return {hessian, gradient, rows, lower, upper}; }
  [[nodiscard]] std::size_t n() const { return gradient.size(); }
  [[nodiscard]] std::size_t m() const { return lower.size(); }
  [[nodiscard]] double cost(std::span<const double> x) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < n(); ++i) {
      sum += gradient[i] * x[i];
      for (std::size_t k = 0; k < n(); ++k) sum += 0.5 * hessian[i * n() + k] * x[i] * x[k];
    }
    return sum;
  }
  void row(std::vector<double> a, double low, double high) {
    rows.insert(rows.end(), a.begin(), a.end());
    lower.push_back(low);
    upper.push_back(high);
  }
};

/// Gaussian elimination with full pivoting; nothing if a pivot is below 1e-9 of the first.
inline std::optional<std::vector<double>> solve_linear(std::vector<double> a, std::vector<double> b) {
  const std::size_t n = b.size();
  std::vector<std::size_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = i;
  double first = 0.0;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pr = k;
    std::size_t pc = k;
    for (std::size_t i = k; i < n; ++i) {
      for (std::size_t j = k; j < n; ++j) {
        if (std::abs(a[i * n + j]) > std::abs(a[pr * n + pc])) pr = i, pc = j;
      }
    }
    const double pivot = a[pr * n + pc];
    if (k == 0) first = std::abs(pivot);
    if (!(std::abs(pivot) > 1e-9 * first)) return std::nullopt;
    for (std::size_t j = 0; j < n; ++j) std::swap(a[k * n + j], a[pr * n + j]);
    std::swap(b[k], b[pr]);
    for (std::size_t i = 0; i < n; ++i) std::swap(a[i * n + k], a[i * n + pc]);
    std::swap(order[k], order[pc]);
    for (std::size_t i = k + 1; i < n; ++i) {
      const double f = a[i * n + k] / a[k * n + k];
      for (std::size_t j = k; j < n; ++j) a[i * n + j] -= f * a[k * n + j];
      b[i] -= f * b[k];
    }
  }
  std::vector<double> x(n);
  for (std::size_t i = n; i-- > 0;) {
    double sum = b[i];
    for (std::size_t j = i + 1; j < n; ++j) sum -= a[i * n + j] * x[order[j]];
    x[order[i]] = sum / a[i * n + i];
  }
  return x;
}

/// The minimum, or nothing where no point obeys all rows (within 1e-9 of the numbers' size, which is about 1).
inline std::optional<std::vector<double>> brute_force(const OwnedProblem& p) {
  const std::size_t n = p.n();
  const std::size_t m = p.m();
  std::vector<int> side(m, 0);
  for (;;) {
    std::vector<std::size_t> active;
    bool possible = true;
    for (std::size_t i = 0; i < m; ++i) {
      if (side[i] != 0) active.push_back(i);
      possible = possible && !(side[i] == 1 && std::isinf(p.lower[i])) && !(side[i] == 2 && std::isinf(p.upper[i]));
    }
    if (possible && active.size() <= n) {
      const std::size_t size = n + active.size();
      std::vector<double> a(size * size, 0.0);
      std::vector<double> b(size, 0.0);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < n; ++k) a[i * size + k] = p.hessian[i * n + k];
        b[i] = -p.gradient[i];
        for (std::size_t q = 0; q < active.size(); ++q) {
          a[i * size + n + q] = -p.rows[active[q] * n + i];
          a[(n + q) * size + i] = p.rows[active[q] * n + i];
        }
      }
      for (std::size_t q = 0; q < active.size(); ++q) b[n + q] = side[active[q]] == 1 ? p.lower[active[q]] : p.upper[active[q]];
      if (const auto x = solve_linear(a, b)) {
        bool minimum = true;
        for (std::size_t i = 0; i < m && minimum; ++i) {
          double v = 0.0;
          double size_of = 1.0;
          for (std::size_t k = 0; k < n; ++k) v += p.rows[i * n + k] * (*x)[k], size_of += std::abs(p.rows[i * n + k] * (*x)[k]);
          minimum = v >= p.lower[i] - 1e-9 * size_of && v <= p.upper[i] + 1e-9 * size_of;
        }
        for (std::size_t q = 0; q < active.size() && minimum; ++q) {
          const double multiplier = (*x)[n + q];
          if (p.lower[active[q]] == p.upper[active[q]]) continue;
          minimum = side[active[q]] == 1 ? multiplier >= -1e-9 : multiplier <= 1e-9;
        }
        if (minimum) return std::vector<double>(x->begin(), x->begin() + static_cast<std::ptrdiff_t>(n));
      }
    }
    std::size_t i = 0;
    while (i < m && ++side[i] == 3) side[i++] = 0;
    if (i == m) return std::nullopt;
  }
}

}  // namespace pitwall::controllers::qp
