// SPDX-License-Identifier: Apache-2.0
#include "controllers/qp/dual_active_set.hpp"

#include <doctest/doctest.h>

#include "controllers/qp/test_brute_force.hpp"
#include "core/math.hpp"
#include "tests/support/allocation_guard.hpp"

namespace pitwall::controllers::qp {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

OwnedProblem identity(std::vector<double> wanted) {
  OwnedProblem p;
  const std::size_t n = wanted.size();
  p.hessian.assign(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) p.hessian[i * n + i] = 1.0;
  for (const double w : wanted) p.gradient.push_back(-w);
  return p;
}

/// The point nearest to `wanted` that obeys the rows.
std::vector<double> solution_of(const OwnedProblem& p, Status expected = Status::kSolved) {
  DualActiveSet solver(8, 16);
  const Status status = solver.solve(p.view());
  CHECK(name(status) == name(expected));
  return {solver.solution().begin(), solver.solution().end()};
}

void check_near(const std::vector<double>& x, const std::vector<double>& expected, double tolerance = 1e-12) {
  REQUIRE(x.size() == expected.size());
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(std::abs(x[i] - expected[i]) <= tolerance * (1.0 + std::abs(expected[i])));
}

}  // namespace

TEST_CASE("the example of Goldfarb and Idnani's paper: minimum, multipliers and rows that hold it") {
  // Section 5: min x1^2/2*4 - 2 x1 x2 + 4 x2^2 / 2 + 6 x1 with x1 >= 0, x2 >= 0, x1 + x2 >= 2; the minimum is (1/2, 3/2).
  OwnedProblem p;
  p.hessian = {4, -2, -2, 4};
  p.gradient = {6, 0};
  p.row({1, 0}, 0, math::kInfinity);
  p.row({0, 1}, 0, math::kInfinity);
  p.row({1, 1}, 2, math::kInfinity);
  DualActiveSet solver(2, 3);
  REQUIRE(solver.solve(p.view()) == Status::kSolved);
  check_near({solver.solution().begin(), solver.solution().end()}, {0.5, 1.5});
  check_near({solver.multipliers().begin(), solver.multipliers().end()}, {0.0, 0.0, 5.0});
  CHECK(solver.active() == 1);
  CHECK(solver.residuals().within(1e-15));
}

TEST_CASE("without rows that matter it is the unconstrained minimum, at once") {
  OwnedProblem p = identity({1, -2, 3});
  check_near(solution_of(p), {1, -2, 3});
  p.row({1, 1, 1}, -10, 10);
  DualActiveSet solver(3, 1);
  REQUIRE(solver.solve(p.view()) == Status::kSolved);
  CHECK(solver.iterations() == 0);
}

TEST_CASE("a box clips, a plane projects, an equation holds from either side") {
  OwnedProblem box = identity({3, -4, 0.5});
  box.row({1, 0, 0}, -1, 1);
  box.row({0, 1, 0}, -1, 1);
  box.row({0, 0, 1}, -1, 1);
  check_near(solution_of(box), {1, -1, 0.5});
  for (const double sign : {1.0, -1.0}) {
    OwnedProblem plane = identity({2, 2});
    plane.row({sign, sign}, 2 * sign, 2 * sign);
    check_near(solution_of(plane), {1, 1});
  }
}

TEST_CASE("multipliers are positive at a lower bound and negative at an upper one") {
  OwnedProblem p = identity({3, -4});
  p.row({2, 0}, -2, 2);
  p.row({0, 2}, -2, 2);
  DualActiveSet solver(2, 2);
  REQUIRE(solver.solve(p.view()) == Status::kSolved);
  check_near({solver.multipliers().begin(), solver.multipliers().end()}, {-1.0, 1.5});
}

TEST_CASE("rows that contradict each other are infeasible, however they do it") {
  SUBCASE("parallel, apart") {
    OwnedProblem p = identity({0, 0});
    p.row({1, 1}, 2, math::kInfinity);
    p.row({-2, -2}, -3, math::kInfinity);
    CHECK(solution_of(p, Status::kInfeasible).empty());
  }
  SUBCASE("a bound above the other") {
    OwnedProblem p = identity({0, 0});
    p.row({1, 0}, 1, 0.5);
    CHECK(solution_of(p, Status::kInfeasible).empty());
  }
  SUBCASE("three half-planes without a common point") {
    OwnedProblem p = identity({0, 0});
    p.row({1, 0}, 1, math::kInfinity);
    p.row({0, 1}, 1, math::kInfinity);
    p.row({1, 1}, -math::kInfinity, 1.9);
    CHECK(solution_of(p, Status::kInfeasible).empty());
  }
  SUBCASE("two equations") {
    OwnedProblem p = identity({0, 0});
    p.row({1, 1}, 1, 1);
    p.row({2, 2}, 3, 3);
    CHECK(solution_of(p, Status::kInfeasible).empty());
  }
  SUBCASE("a row of zeros that should be more") {
    OwnedProblem p = identity({0, 0});
    p.row({0, 0}, 1, math::kInfinity);
    CHECK(solution_of(p, Status::kInfeasible).empty());
  }
}

TEST_CASE("rows that meet in one degenerate point, in any order, cost no cycle and no digit") {
  // Six planes through (1, 1), of which two are enough.
  const std::vector<std::vector<double>> rows = {{1, 0}, {0, 1}, {1, 1}, {2, 1}, {1, 2}, {3, 1}};
  std::vector<std::size_t> order = {0, 1, 2, 3, 4, 5};
  do {
    OwnedProblem p = identity({-3, -5});
    for (const std::size_t i : order) p.row(rows[i], rows[i][0] + rows[i][1], math::kInfinity);
    const std::vector<double> x = solution_of(p);
    CHECK(std::abs(x[0] - 1.0) < 1e-12);
    CHECK(std::abs(x[1] - 1.0) < 1e-12);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("doubled, parallel and nearly parallel rows") {
  SUBCASE("the same row twice, and as a multiple") {
    OwnedProblem p = identity({0, 0});
    p.row({1, 1}, 2, math::kInfinity);
    p.row({1, 1}, 2, math::kInfinity);
    p.row({1e6, 1e6}, 2e6, math::kInfinity);
    check_near(solution_of(p), {1, 1});
  }
  SUBCASE("the same equation twice, and its negative") {
    OwnedProblem p = identity({0, 4});
    p.row({1, 1}, 2, 2);
    p.row({1, 1}, 2, 2);
    p.row({-3, -3}, -6, -6);
    check_near(solution_of(p), {-1, 3});
  }
  SUBCASE("an equation and the half-space it lies on the edge of") {
    OwnedProblem p = identity({0, 0});
    p.row({1, 1}, 2, 2);
    p.row({-1, -1}, -2, math::kInfinity);
    check_near(solution_of(p), {1, 1});
  }
  SUBCASE("a ten-thousandth of a radian apart: the corner they meet in") {
    OwnedProblem p = identity({0, -1});
    p.row({1e-4, 1}, 0, math::kInfinity);
    p.row({-1e-4, 1}, 0, math::kInfinity);
    check_near(solution_of(p), {0, 0}, 1e-9);
    p.gradient = {-1e3, 1};  // (1000, -1) is wanted: on the second row, far along it
    check_near(solution_of(p), brute_force(p).value(), 1e-8);
  }
}

TEST_CASE("units that differ by twelve powers of ten change nothing") {
  // The problem (2, 2) nearest under x1 + x2 <= 2, x1 >= 1.5, in metres and in micrometres and megametres.
  for (const double a : {1e-6, 1.0, 1e6}) {
    for (const double b : {1e6, 1.0, 1e-6}) {
      for (const double cost : {1e-9, 1.0, 1e9}) {
        OwnedProblem p;
        p.hessian = {cost * a * a, 0, 0, cost * b * b};
        p.gradient = {-2 * cost * a, -2 * cost * b};
        p.row({1e4 * a, 1e4 * b}, -math::kInfinity, 2e4);
        p.row({1e-5 * a, 0}, 1.5e-5, math::kInfinity);
        const std::vector<double> x = solution_of(p);
        REQUIRE(x.size() == 2);
        CHECK(std::abs(x[0] * a - 1.5) < 1e-9);
        CHECK(std::abs(x[1] * b - 0.5) < 1e-9);
      }
    }
  }
}

TEST_CASE("the answer depends neither on the order of the rows nor on their sign") {
  OwnedProblem p = identity({4, -3, 2});
  p.row({1, 2, 0}, -1, 1);
  p.row({0, 1, 1}, -math::kInfinity, -1);
  p.row({1, 0, -1}, 0.5, 0.75);
  OwnedProblem q = identity({4, -3, 2});
  q.row({-1, 0, 1}, -0.75, -0.5);
  q.row({-1, -2, 0}, -1, 1);
  q.row({0, -1, -1}, 1, math::kInfinity);
  check_near(solution_of(p), solution_of(q));
  check_near(solution_of(p), brute_force(p).value());
}

TEST_CASE("a matrix that is not positive definite is named, before anything else is tried") {
  OwnedProblem flat = identity({1, 1});
  flat.hessian = {1, 1, 1, 1};
  CHECK(solution_of(flat, Status::kNotConvex).empty());
  flat.hessian = {1, 0, 0, 0};
  CHECK(solution_of(flat, Status::kNotConvex).empty());
  flat.hessian = {1, 2, 2, 1};
  CHECK(solution_of(flat, Status::kNotConvex).empty());
  flat.hessian = {-1, 0, 0, -1};
  CHECK(solution_of(flat, Status::kNotConvex).empty());
}

TEST_CASE("numbers that are none, bounds at the wrong infinity and sizes that do not fit are bad input") {
  OwnedProblem p = identity({1, 1});
  p.row({1, 1}, 0, 1);
  for (std::vector<double>* v : {&p.hessian, &p.gradient, &p.rows, &p.lower, &p.upper}) {
    const double kept = v->front();
    v->front() = kNan;
    CHECK(solution_of(p, Status::kBadInput).empty());
    v->front() = kept;
  }
  p.lower[0] = math::kInfinity;
  CHECK(solution_of(p, Status::kBadInput).empty());
  p.lower[0] = 0.0;
  p.upper[0] = -math::kInfinity;
  CHECK(solution_of(p, Status::kBadInput).empty());
  p.upper = {};
  CHECK(solution_of(p, Status::kBadInput).empty());
  CHECK(solution_of(identity({0, 0, 0, 0, 0, 0, 0, 0, 0}), Status::kBadInput).empty());
  CHECK(solution_of({}, Status::kBadInput).empty());
}

TEST_CASE("the cap on iterations stops it, and says so") {
  OwnedProblem p = identity({9, 9, 9});
  for (std::size_t i = 0; i < 3; ++i) {
    std::vector<double> row(3, 0.0);
    row[i] = 1.0;
    p.row(row, -1, 1);
  }
  DualActiveSet solver(3, 3);
  CHECK(solver.solve(p.view(), {.max_iterations = 2}) == Status::kIterationLimit);
  CHECK(solver.solution().empty());
  CHECK(solver.solve(p.view(), {.max_iterations = 3}) == Status::kSolved);
  CHECK(solver.iterations() == 3);
}

TEST_CASE("an infeasible problem, a bad one and one without rows leave nothing behind for the next") {
  OwnedProblem good = identity({3, -4});
  good.row({1, 1}, 0.5, 2);
  good.row({1, 0}, -1, 1);
  OwnedProblem impossible = identity({3, -4});
  impossible.row({1, 1}, 2, math::kInfinity);
  impossible.row({1, 1}, -math::kInfinity, 1);
  OwnedProblem bad = good;
  bad.gradient[0] = kNan;
  DualActiveSet solver(3, 4);
  REQUIRE(solver.solve(good.view()) == Status::kSolved);
  const std::vector<double> first(solver.solution().begin(), solver.solution().end());
  for (int k = 0; k < 3; ++k) {
    CHECK(solver.solve(impossible.view()) == Status::kInfeasible);
    CHECK(solver.solution().empty());
    CHECK(solver.solve(identity({1, 2, 3}).view()) == Status::kSolved);
    CHECK(solver.solve(bad.view()) == Status::kBadInput);
    CHECK(solver.multipliers().empty());
    REQUIRE(solver.solve(good.view()) == Status::kSolved);
    CHECK(std::vector<double>(solver.solution().begin(), solver.solution().end()) == first);
  }
}

TEST_CASE("solving allocates nothing") {
  OwnedProblem p = identity({3, -4, 0.5});
  p.row({1, 0, 0}, -1, 1);
  p.row({0, 1, 1}, -1, 1);
  DualActiveSet solver(3, 2);
  const AllocationGuard guard;
  const Status status = solver.solve(p.view());
  const std::size_t count = guard.count();
  CHECK(status == Status::kSolved);
  CHECK(count == 0);
}

}  // namespace pitwall::controllers::qp
