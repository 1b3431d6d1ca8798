// SPDX-License-Identifier: Apache-2.0
#include "tracks/build/box_qp.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"

namespace pitwall::tracks::build {
namespace {

constexpr int kMostIterations = 60;
constexpr double kGap = 1e-10;  // mean complementarity, over that of the start
constexpr double kCentring = 0.1;
constexpr double kToTheWall = 0.995;

/// The point and the prices of its bounds.
struct Iterate {
  std::vector<double> x, low_price, high_price;
};

double gap_of(const Iterate& at, const std::vector<double>& low, const std::vector<double>& high) {
  double sum = 0.0;
  for (std::size_t i = 0; i < low.size(); ++i) sum += at.low_price[i] * (at.x[i] - low[i]) + at.high_price[i] * (high[i] - at.x[i]);
  return sum / (2.0 * static_cast<double>(low.size()));
}

}  // namespace

BoxSolution solve_box_qp(BandedMatrix& hessian, const std::vector<double>& gradient, const std::vector<double>& low,
                         const std::vector<double>& high) {
  const std::size_t n = hessian.size();
  PITWALL_CHECK(gradient.size() == n && low.size() == n && high.size() == n, gradient.size(), n);
  double scale = 0.0;
  for (const double g : gradient) scale = std::max(scale, std::fabs(g));
  scale = std::max(scale, 1e-12);
  Iterate at{std::vector<double>(n), std::vector<double>(n, scale), std::vector<double>(n, scale)};
  for (std::size_t i = 0; i < n; ++i) {
    PITWALL_CHECK(low[i] < high[i], i, low[i], high[i]);
    at.x[i] = 0.5 * (low[i] + high[i]);
  }
  const double first_gap = gap_of(at, low, high);
  BoxSolution solution;
  std::vector<double> diagonal(n), right(n);
  for (solution.iterations = 0; solution.iterations < kMostIterations; ++solution.iterations) {
    const double gap = gap_of(at, low, high);
    const std::vector<double> slope = hessian.times(at.x);
    double stationary = 0.0;
    for (std::size_t i = 0; i < n; ++i)
      stationary = std::max(stationary, std::fabs(slope[i] + gradient[i] - at.low_price[i] + at.high_price[i]));
    if (gap <= kGap * first_gap && stationary <= 1e-8 * scale) {
      solution.converged = true;
      break;
    }
    const double target = kCentring * gap;
    for (std::size_t i = 0; i < n; ++i) {
      const double below = at.x[i] - low[i];
      const double above = high[i] - at.x[i];
      diagonal[i] = at.low_price[i] / below + at.high_price[i] / above + 1e-14 * scale;
      right[i] = -slope[i] - gradient[i] + target / below - target / above;
    }
    if (!hessian.factor(diagonal)) break;
    const std::vector<double> dx = hessian.solve(right);
    double step = 1.0;
    std::vector<double> d_low(n), d_high(n);
    for (std::size_t i = 0; i < n; ++i) {
      const double below = at.x[i] - low[i];
      const double above = high[i] - at.x[i];
      d_low[i] = target / below - at.low_price[i] - at.low_price[i] / below * dx[i];
      d_high[i] = target / above - at.high_price[i] + at.high_price[i] / above * dx[i];
      if (dx[i] < 0.0) step = std::min(step, -kToTheWall * below / dx[i]);
      if (dx[i] > 0.0) step = std::min(step, kToTheWall * above / dx[i]);
      if (d_low[i] < 0.0) step = std::min(step, -kToTheWall * at.low_price[i] / d_low[i]);
      if (d_high[i] < 0.0) step = std::min(step, -kToTheWall * at.high_price[i] / d_high[i]);
    }
    for (std::size_t i = 0; i < n; ++i) {
      at.x[i] = std::clamp(at.x[i] + step * dx[i], low[i], high[i]);
      at.low_price[i] += step * d_low[i];
      at.high_price[i] += step * d_high[i];
    }
  }
  solution.x = std::move(at.x);
  return solution;
}

}  // namespace pitwall::tracks::build
