// SPDX-License-Identifier: Apache-2.0
#include "tracks/build/banded.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/rng.hpp"
#include "tracks/build/box_qp.hpp"

namespace pitwall::tracks::build {
namespace {

/// A random positive definite matrix with the pattern of a line, also written out whole.
struct Sample {
  BandedMatrix banded;
  std::vector<std::vector<double>> whole;
};

Sample sample(std::size_t blocks, std::size_t block, std::size_t reach, bool cyclic, std::uint64_t seed) {
  const std::size_t n = blocks * block;
  Sample s{BandedMatrix(blocks, block, reach, cyclic), std::vector<std::vector<double>>(n, std::vector<double>(n, 0.0))};
  const Rng rng(seed, "matrix");
  std::uint64_t drawn = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const std::size_t a = i / block;
      const std::size_t b = j / block;
      const std::size_t apart = a - b;
      const bool coupled = apart <= reach || (cyclic && blocks - apart <= reach);
      if (!coupled) continue;
      const double value = i == j ? 12.0 * static_cast<double>(block) : rng.uniform(drawn++) - 0.5;
      s.banded.add(i, j, value);
      s.whole[i][j] = s.whole[j][i] = value;
    }
  }
  return s;
}

std::vector<double> times(const std::vector<std::vector<double>>& whole, const std::vector<double>& x) {
  std::vector<double> product(x.size(), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = 0; j < x.size(); ++j) product[i] += whole[i][j] * x[j];
  }
  return product;
}

std::vector<double> random_vector(std::size_t n, std::uint64_t seed) {
  const Rng rng(seed, "vector");
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = 2.0 * rng.uniform(i) - 1.0;
  return x;
}

TEST_CASE("products and solutions are those of the whole matrix, open and cyclic, odd and even") {
  for (const bool cyclic : {false, true}) {
    for (const std::size_t blocks : {9U, 10U, 31U}) {
      for (const std::size_t block : {1U, 2U}) {
        for (const std::size_t reach : {1U, 2U, 3U}) {
          Sample s = sample(blocks, block, reach, cyclic, blocks + reach);
          const std::vector<double> x = random_vector(s.banded.size(), 5);
          const std::vector<double> right = times(s.whole, x);
          const std::vector<double> product = s.banded.times(x);
          for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::fabs(product[i] - right[i]) < 1e-12);
          REQUIRE(s.banded.factor(std::vector<double>(x.size(), 0.0)));
          const std::vector<double> solved = s.banded.solve(right);
          for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::fabs(solved[i] - x[i]) < 1e-11);
        }
      }
    }
  }
}

TEST_CASE("a matrix that is not positive definite is not factored; a diagonal can make it so") {
  Sample s = sample(12, 1, 2, true, 1);
  CHECK_FALSE(s.banded.factor(std::vector<double>(12, -13.0)));
  CHECK(s.banded.factor(std::vector<double>(12, 1.0)));
}

TEST_CASE("programs with bounds: the solution meets the conditions of optimality") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Sample s = sample(25, 1, 2, seed % 2 == 0, seed);
    std::vector<double> gradient = random_vector(25, seed + 100);
    for (double& g : gradient) g *= 10.0;
    std::vector<double> low(25, -0.3);
    std::vector<double> high(25, 0.4);
    low[3] = 0.1;
    high[3] = 0.1001;
    const BoxSolution solution = solve_box_qp(s.banded, gradient, low, high);
    CHECK(solution.converged);
    CHECK(solution.iterations < 40);
    const std::vector<double> slope = times(s.whole, solution.x);
    for (std::size_t i = 0; i < 25; ++i) {
      const double push = slope[i] + gradient[i];
      CHECK(solution.x[i] >= low[i]);
      CHECK(solution.x[i] <= high[i]);
      if (solution.x[i] > low[i] + 1e-5 && solution.x[i] < high[i] - 1e-5) CHECK(std::fabs(push) < 1e-3);
      if (solution.x[i] <= low[i] + 1e-5 && i != 3) CHECK(push > -1e-4);
      if (solution.x[i] >= high[i] - 1e-5 && i != 3) CHECK(push < 1e-4);
    }
  }
}

TEST_CASE("without active bounds it is the plain solution") {
  Sample s = sample(20, 1, 2, true, 3);
  const std::vector<double> x = random_vector(20, 8);
  std::vector<double> gradient = times(s.whole, x);
  for (double& g : gradient) g = -g;
  const BoxSolution solution = solve_box_qp(s.banded, gradient, std::vector<double>(20, -5.0), std::vector<double>(20, 5.0));
  for (std::size_t i = 0; i < 20; ++i) CHECK(std::fabs(solution.x[i] - x[i]) < 1e-6);
}

}  // namespace
}  // namespace pitwall::tracks::build
