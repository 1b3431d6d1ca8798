// SPDX-License-Identifier: Apache-2.0
// A dense quadratic program, solved exactly:
//
//   minimise  x' H x / 2 + g' x   subject to  lower <= A x <= upper,   H symmetric and positive definite
//
// by the dual active-set method of D. Goldfarb and A. Idnani, "A numerically stable dual method for solving strictly convex
// quadratic programs", Mathematical Programming 27 (1983), 1-33. It starts at the unconstrained minimum and takes in one
// violated row at a time, so its work is the number of rows that matter, and it finds out by itself that no point obeys all
// rows. With the Cholesky factor H = L L', J = inv(L)' and the active rows N it keeps J' N = [R; 0] by Givens rotations.
//
// Rows are two-sided: an infinite bound is none, equal bounds are an equation. Variables and rows are scaled by powers of
// two, which is exact. Everything is done in one fixed order, in memory taken by the constructor, within a stated number of
// iterations; no clock is asked. The answer is checked before it is called solved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace pitwall::controllers::qp {

/// What became of a problem.
enum class Status : std::uint8_t {
  kSolved,          ///< the unique minimum, checked
  kInfeasible,      ///< no point obeys all rows
  kIterationLimit,  ///< stopped before the end; no solution
  kNotConvex,       ///< H is not positive definite (its condition, after scaling, is beyond 1e12)
  kBadInput,        ///< sizes that do not fit, or a number that is none
  kInaccurate       ///< the end was reached, but the check failed: rows or H are too nearly dependent for double precision
};
/// "solved" and so on, for logs and reports.
std::string_view name(Status status);

/// The numbers of a problem with n variables and m rows; matrices row by row. Only the lower half of H is read.
struct Problem {
  std::span<const double> hessian;   ///< n * n
  std::span<const double> gradient;  ///< n
  std::span<const double> rows;      ///< m * n
  std::span<const double> lower;     ///< m, -inf: none
  std::span<const double> upper;     ///< m, +inf: none
};

struct Settings {
  int max_iterations = 200;  ///< rows taken in or dropped
  double tolerance = 1e-9;   ///< by which a row may be missed, in proportion to its bound and to the largest variable met
};

/// How well the last solution obeys the conditions of Karush, Kuhn and Tucker; all in proportion to the terms they are sums of.
struct Residuals {
  double stationarity = 0.0;  ///< of H x + g - A' multipliers
  double rows = 0.0;          ///< worst violation of a row
  double sign = 0.0;          ///< worst multiplier of the wrong sign; those of rows that are not active are 0
  [[nodiscard]] bool within(double tolerance) const { return stationarity <= tolerance && rows <= tolerance && sign <= tolerance; }
};

/// The solver and its memory. Solves one problem after another; nothing is carried over from one to the next.
class DualActiveSet {
 public:
  /// Room for problems up to that size; the only allocation.
  DualActiveSet(std::size_t variables_max, std::size_t rows_max);

  [[nodiscard]] Status solve(const Problem& problem, const Settings& settings = {});

  /// The minimum, where the last status was kSolved; otherwise empty.
  [[nodiscard]] std::span<const double> solution() const { return {x_.data(), solved_ ? n_ : 0}; }
  /// One per row: H x + g = A' multipliers, positive where the lower bound holds x back, negative where the upper one does.
  [[nodiscard]] std::span<const double> multipliers() const { return {multipliers_.data(), solved_ ? m_ : 0}; }
  /// Iterations of the last solve.
  [[nodiscard]] int iterations() const { return iterations_; }
  /// Rows that held the last solution back.
  [[nodiscard]] std::size_t active() const { return active_; }
  /// The check of the last solve that came to an end.
  [[nodiscard]] const Residuals& residuals() const { return residuals_; }

 private:
  /// A row as an inequality: side * row . x >= side * bound.
  struct Side {
    std::size_t row = 0;
    double sign = 1.0;
    bool equation = false;
  };
  [[nodiscard]] bool take_in(const Problem& problem);
  [[nodiscard]] bool factorise();
  void start();
  [[nodiscard]] Status take_equations(const Settings& settings);
  [[nodiscard]] bool most_violated(double tolerance, Side& worst) const;
  [[nodiscard]] Status add(const Side& side, const Settings& settings);
  void directions(const Side& side);
  void drop(std::size_t place);
  void put_in(const Side& side, double multiplier);
  void polish();
  void check(const Problem& problem);
  [[nodiscard]] double value(std::size_t row) const;
  [[nodiscard]] double bound(const Side& side) const { return side.sign > 0.0 ? lower_[side.row] : upper_[side.row]; }
  [[nodiscard]] double violation(const Side& side) const { return side.sign * (bound(side) - value(side.row)); }
  void measure_x();
  double* j(std::size_t k) { return &j_[k * n_]; }
  double& r(std::size_t i, std::size_t k) { return r_[i * n_ + k]; }

  std::size_t n_max_;
  std::size_t m_max_;
  std::size_t n_ = 0;
  std::size_t m_ = 0;
  std::size_t active_ = 0;
  int iterations_ = 0;
  bool solved_ = false;
  Residuals residuals_;
  // The problem, scaled.
  std::vector<double> scale_;      // of the variables
  std::vector<double> row_scale_;  // of the rows
  std::vector<double> l_;          // H, then its Cholesky factor in the lower half
  std::vector<double> g_;
  std::vector<double> a_;
  std::vector<double> lower_;
  std::vector<double> upper_;
  // The state of the method.
  std::vector<double> x_;
  double x_size_ = 0.0;    // the largest |x| met: what rounding errors are in proportion to
  std::vector<double> j_;  // column k of J is row k here
  std::vector<double> r_;  // upper triangle
  std::vector<Side> set_;
  std::vector<double> u_;  // multipliers of set_
  std::vector<bool> in_set_;
  std::vector<double> d_;
  std::vector<double> z_;
  std::vector<double> back_;
  std::vector<double> multipliers_;
};

}  // namespace pitwall::controllers::qp
