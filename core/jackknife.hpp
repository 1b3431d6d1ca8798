// SPDX-License-Identifier: Apache-2.0
// Least squares in a few parameters, with intervals from leaving out one block of time after the other (core/signal.hpp says why).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "core/signal.hpp"

namespace pitwall::signals::detail {

inline constexpr std::size_t kMostParameters = 4;
using Vector = std::array<double, kMostParameters>;
using Matrix = std::array<Vector, kMostParameters>;

/// Solves the leading n x n part of a symmetric positive definite system (Cholesky); false where it is singular.
bool solve(Matrix a, Vector b, std::size_t n, Vector& x);

/// Normal equations of one block of time, or of all.
struct Normal {
  Matrix a{};
  Vector s{};
  void add(const Vector& row, double residual, double weight, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) a[i][j] += weight * row[i] * row[j];
      s[i] += weight * row[i] * residual;
    }
  }
  void add(const Normal& other, double sign) {
    for (std::size_t i = 0; i < kMostParameters; ++i) {
      for (std::size_t j = 0; j < kMostParameters; ++j) a[i][j] += sign * other.a[i][j];
      s[i] += sign * other.s[i];
    }
  }
};

/// Blocks of equal length in time, at least a second each, at most twenty.
class Blocks {
 public:
  static constexpr double kShortest_s = 1.0;
  static constexpr std::size_t kFewest = 4;
  static constexpr double kMost = 20.0;

  Blocks(double first_s, double last_s) : first_s_(first_s), length_s_(std::max(kShortest_s, (last_s - first_s) / kMost)) {}
  Normal& of(double t_s) {
    const auto index = static_cast<std::size_t>(std::max(0.0, (t_s - first_s_) / length_s_));
    if (index >= blocks_.size()) {
      blocks_.resize(index + 1);
      used_.resize(index + 1, false);
    }
    used_[index] = true;
    return blocks_[index];
  }
  /// Half widths of the 95 % intervals, n of them; +inf where the blocks are too few or do not say anything.
  [[nodiscard]] Vector half_widths(std::size_t n) const;

 private:
  double first_s_;
  double length_s_;
  std::vector<Normal> blocks_;
  std::vector<bool> used_;
};

/// A value with its half width; not identifiable where that is infinite.
Estimate estimate(double value, double half_width, std::size_t samples);

}  // namespace pitwall::signals::detail
