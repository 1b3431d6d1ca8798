// SPDX-License-Identifier: Apache-2.0
#include "core/jackknife.hpp"

#include <cmath>
#include <limits>

namespace pitwall::signals::detail {

bool solve(Matrix a, Vector b, std::size_t n, Vector& x) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i][k] * a[j][k];
      if (i == j) {
        if (!(sum > 1e-14 * std::abs(a[i][i]))) return false;
        a[i][i] = std::sqrt(sum);
      } else {
        a[i][j] = sum / a[j][j];
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  x = b;
  return true;
}

// The half widths are those of the 95 % intervals; +inf where the blocks are too few or do not say anything.
Vector Blocks::half_widths(std::size_t n) const {
  Vector result;
  result.fill(std::numeric_limits<double>::infinity());
  Normal all;
  for (const Normal& block : blocks_) all.add(block, 1.0);
  std::vector<Vector> left_out;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (!used_[b]) continue;
    Normal rest = all;
    rest.add(blocks_[b], -1.0);
    Vector step{};
    if (!solve(rest.a, rest.s, n, step)) return result;
    left_out.push_back(step);
  }
  if (left_out.size() < kFewest) return result;
  const auto count = static_cast<double>(left_out.size());
  for (std::size_t i = 0; i < n; ++i) {
    double mean = 0.0;
    double variance = 0.0;
    for (const Vector& each : left_out) mean += each[i] / count;
    for (const Vector& each : left_out) variance += (each[i] - mean) * (each[i] - mean);
    result[i] = student_t95(left_out.size() - 1) * std::sqrt((count - 1.0) / count * variance);
  }
  return result;
}

Estimate estimate(double value, double half_width, std::size_t samples) {
  Estimate result;
  result.value = value;
  result.low = value - half_width;
  result.high = value + half_width;
  result.samples = samples;
  result.identifiable = std::isfinite(half_width);
  if (!result.identifiable) result.why = "too short: less than 4 blocks of a second";
  return result;
}

}  // namespace pitwall::signals::detail
