// SPDX-License-Identifier: Apache-2.0
// The function that a fit minimises, in the coordinates of the solver (parameters.hpp: 0 at the prior, 1 a spread above), with its
// Jacobian by central differences.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "calibration/fit/problem.hpp"

namespace pitwall::fit {

/// Where the loss turns from quadratic to linear, in noise sigmas.
inline constexpr double kLoss = 2.0;

/// Rows (robust, in noise sigmas) of the pieces that take part, then one for the prior of each free parameter.
class Objective {
 public:
  static constexpr double kStep = 0.02;  ///< of the differences, in spreads

  /// `values`: of all parameters; those at `free` are looked for. `thin` takes every n-th piece that is not held out.
  Objective(const Problem& problem, const std::vector<Parameter>& parameters, std::vector<double> values, std::vector<std::size_t> free,
            std::vector<double> sigma, std::size_t thin, unsigned jobs);

  [[nodiscard]] std::size_t rows() const { return data_rows_ + free_.size(); }
  [[nodiscard]] std::size_t data_rows() const { return data_rows_; }
  [[nodiscard]] std::size_t columns() const { return free_.size(); }
  [[nodiscard]] double low(std::size_t column) const;
  [[nodiscard]] double high(std::size_t column) const;
  [[nodiscard]] std::size_t simulations() const { return simulations_; }
  /// Values of all parameters at z.
  [[nodiscard]] std::vector<double> values_at(const double* z) const;
  /// z of the current values.
  [[nodiscard]] std::vector<double> start() const;
  /// For each data row its block and its channel.
  [[nodiscard]] const std::vector<std::size_t>& blocks() const { return blocks_; }
  [[nodiscard]] const std::vector<std::size_t>& row_channels() const { return channels_; }

  /// Rows at z into `f`; with `jacobian` (rows x columns, row-major) the derivatives too, by steps of `step` spreads. False where the
  /// plant refuses the car.
  /// `one_sided`: half as many simulations; its error, of half a step's curvature, moves an optimum by a hundredth of its uncertainty.
  bool evaluate(const double* z, double* f, double* jacobian, double step = kStep, bool one_sided = false);
  /// Simulated less measured in units, robust weight aside.
  bool raw_residuals(const double* z, std::vector<double>& into);

 private:
  void subjects_around(const double* z, bool around, double step, bool one_sided, std::vector<Subject>& into,
                       std::vector<double>& width) const;
  bool piece_rows(std::size_t piece, const std::vector<Subject>& subjects, Played& scratch, std::vector<double>& into) const;

  const Problem& problem_;
  const std::vector<Parameter>& parameters_;
  std::vector<double> values_;
  std::vector<std::size_t> free_;
  std::vector<double> sigma_;
  unsigned jobs_;
  std::vector<std::size_t> pieces_;
  std::vector<std::size_t> offsets_;
  std::vector<std::size_t> blocks_;
  std::vector<std::size_t> channels_;
  std::size_t data_rows_ = 0;
  std::size_t simulations_ = 0;
};

struct Minimised {
  std::vector<double> z;
  double cost = 0.0;  ///< half the sum of squares
  int iterations = 0;
  bool usable = false;
  bool interrupted = false;
};

/// Ceres on the objective, from z, within the bounds. `go_on` is asked after each iteration.
Minimised minimise(Objective& objective, std::vector<double> z, int iterations, const std::function<bool()>& go_on);

}  // namespace pitwall::fit
