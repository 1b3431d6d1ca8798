// SPDX-License-Identifier: Apache-2.0
// The solver against brute force, on random problems that are made to be awkward: whole numbers with repeated, parallel and
// contradicting rows, equations, bounds that touch, as well as smooth random ones.
#include <doctest/doctest.h>

#include <cstdint>

#include "controllers/qp/dual_active_set.hpp"
#include "controllers/qp/test_brute_force.hpp"
#include "core/hash.hpp"
#include "core/math.hpp"
#include "core/rng.hpp"

namespace pitwall::controllers::qp {
namespace {

/// Draws by number: the k-th draw of problem `sample`.
class Draws {
 public:
  Draws(const Rng& rng, std::uint64_t sample) : rng_(rng), sample_(sample) {}
  double unit() { return rng_.uniform(sample_, next_++); }
  double between(double a, double b) { return a + (b - a) * unit(); }
  std::size_t below(std::size_t n) { return std::min(n - 1, static_cast<std::size_t>(unit() * static_cast<double>(n))); }

 private:
  const Rng& rng_;
  std::uint64_t sample_;
  std::uint32_t next_ = 0;
};

OwnedProblem random_problem(Draws& draw) {
  OwnedProblem p;
  const bool whole = draw.unit() < 0.5;
  const std::size_t n = 1 + draw.below(5);
  const std::size_t m = draw.below(6);
  const auto number = [&](double size) { return whole ? std::floor(draw.between(-size, size + 1.0)) : draw.between(-size, size); };
  std::vector<double> b(n * n);
  for (double& v : b) v = number(2.0);
  p.hessian.assign(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t c = 0; c < n; ++c) p.hessian[i * n + k] += b[c * n + i] * b[c * n + k];
    }
    p.hessian[i * n + i] += whole ? 1.0 : 0.1;
  }
  for (std::size_t i = 0; i < n; ++i) p.gradient.push_back(number(5.0));
  for (std::size_t i = 0; i < m; ++i) {
    std::vector<double> row(n);
    const double kind = draw.unit();
    if (i > 0 && kind < 0.25) {
      // The same as before, or a multiple of it.
      const std::size_t from = draw.below(i);
      const double factor = kind < 0.1 ? 1.0 : number(2.0);
      for (std::size_t k = 0; k < n; ++k) row[k] = factor * p.rows[from * n + k];
    } else if (kind < 0.45) {
      row[draw.below(n)] = draw.unit() < 0.5 ? 1.0 : -1.0;
    } else {
      for (double& v : row) v = number(2.0);
    }
    const double low = number(2.0);
    const double shape = draw.unit();
    if (shape < 0.4) p.row(row, low, math::kInfinity);
    if (shape >= 0.4 && shape < 0.6) p.row(row, -math::kInfinity, low);
    if (shape >= 0.6 && shape < 0.85) p.row(row, low, low + (whole ? std::floor(draw.between(0.0, 3.0)) : draw.between(0.1, 2.0)));
    if (shape >= 0.85) p.row(row, low, low);
  }
  return p;
}

}  // namespace

TEST_CASE("10000 random problems have the solution, or the lack of one, that brute force finds") {
  const Rng rng(1, "qp");
  DualActiveSet solver(5, 5);
  int solved = 0;
  int infeasible = 0;
  int wrong = 0;
  int held = 0;
  double worst_cost = 0.0;
  double worst_x = 0.0;
  double worst_kkt = 0.0;
  for (std::uint64_t k = 0; k < 10000; ++k) {
    Draws draw(rng, k);
    const OwnedProblem p = random_problem(draw);
    const auto expected = brute_force(p);
    const Status status = solver.solve(p.view());
    if (status != (expected ? Status::kSolved : Status::kInfeasible)) {
      ++wrong;
      INFO("problem ", k, " with ", p.n(), " variables and ", p.m(), " rows: ", name(status));
      CHECK(wrong == 0);
      continue;
    }
    infeasible += expected ? 0 : 1;
    if (!expected) continue;
    ++solved;
    held += solver.active() > 0 ? 1 : 0;
    const double best = p.cost(*expected);
    worst_cost = std::max(worst_cost, std::abs(p.cost(solver.solution()) - best) / (1.0 + std::abs(best)));
    for (std::size_t i = 0; i < p.n(); ++i) {
      worst_x = std::max(worst_x, std::abs(solver.solution()[i] - (*expected)[i]) / (1.0 + std::abs((*expected)[i])));
    }
    worst_kkt = std::max({worst_kkt, solver.residuals().stationarity, solver.residuals().rows, solver.residuals().sign});
  }
  CHECK(wrong == 0);
  // The sample is worth something: of each kind enough.
  CHECK(solved > 6000);
  CHECK(held > 4000);
  CHECK(infeasible > 1000);
  CHECK(worst_cost < 1e-9);
  CHECK(worst_x < 1e-8);
  CHECK(worst_kkt < 1e-9);
  MESSAGE("solved " << solved << ", infeasible " << infeasible << ", worst error " << worst_x << ", worst residual " << worst_kkt);
}

TEST_CASE("larger random problems that touch many rows obey the conditions of optimality, feasible by construction") {
  const Rng rng(2, "qp/large");
  DualActiveSet solver(40, 160);
  int most_active = 0;
  for (std::uint64_t k = 0; k < 200; ++k) {
    Draws draw(rng, k);
    const std::size_t n = 10 + draw.below(31);
    const std::size_t m = 2 * n + draw.below(2 * n);
    OwnedProblem p;
    p.hessian.assign(n * n, 0.0);
    std::vector<double> inside(n);
    for (std::size_t i = 0; i < n; ++i) {
      inside[i] = draw.between(-1.0, 1.0);
      p.gradient.push_back(draw.between(-20.0, 20.0));
    }
    std::vector<double> b(n * n);
    for (double& v : b) v = draw.between(-1.0, 1.0);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t c = 0; c < n; ++c) {
        for (std::size_t q = 0; q < n; ++q) p.hessian[i * n + c] += b[q * n + i] * b[q * n + c];
      }
      p.hessian[i * n + i] += 0.01;
    }
    for (std::size_t i = 0; i < m; ++i) {
      std::vector<double> row(n);
      double at = 0.0;
      for (std::size_t c = 0; c < n; ++c) at += (row[c] = draw.between(-1.0, 1.0)) * inside[c];
      const double low = at - draw.between(0.0, 0.5);
      const bool one_sided = draw.unit() < 0.5;
      p.row(row, low, one_sided ? math::kInfinity : at + draw.between(0.0, 0.5));
    }
    REQUIRE(solver.solve(p.view()) == Status::kSolved);
    most_active = std::max(most_active, static_cast<int>(solver.active()));
    CHECK(solver.residuals().within(1e-9));
    // No point obeys the rows better and costs less: towards the known inside point the cost rises.
    std::vector<double> towards(n);
    for (std::size_t i = 0; i < n; ++i) towards[i] = solver.solution()[i] + 1e-3 * (inside[i] - solver.solution()[i]);
    CHECK(p.cost(towards) >= p.cost(solver.solution()) - 1e-9 * std::abs(p.cost(towards)));
  }
  CHECK(most_active > 20);
}

TEST_CASE("what the solver answers is the same to the bit at every optimisation level and with every compiler") {
  const Rng rng(3, "qp/bits");
  DualActiveSet solver(5, 5);
  Hash hash;
  for (std::uint64_t k = 0; k < 500; ++k) {
    Draws draw(rng, k);
    const OwnedProblem p = random_problem(draw);
    hash.add(static_cast<std::uint64_t>(solver.solve(p.view())));
    for (const double v : solver.solution()) hash.add(v);
    for (const double v : solver.multipliers()) hash.add(v);
  }
  CHECK(to_hex(hash.value()) == "fde65020ecfef37f");
}

}  // namespace pitwall::controllers::qp
