// SPDX-License-Identifier: Apache-2.0
// How well an optimum is known: block bootstrap of the linearised problem (fit.hpp says why).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pitwall::fit {

struct Uncertainty {
  std::vector<double> half_width;  ///< of the 95 % intervals, in the solver's coordinates
  std::vector<std::vector<double>> correlation;
};

/// `f` and `jacobian` (row-major, one row for each of `block`) without the rows of the priors; `z` the optimum.
Uncertainty bootstrap(const std::vector<double>& f, const std::vector<double>& jacobian, const std::vector<std::size_t>& block,
                      const std::vector<double>& z, int replicates, std::uint64_t seed);

/// Half-widths from the curvature alone, for rows whose noise is independent: what a forecast has.
std::vector<double> expected_half_widths(const std::vector<double>& jacobian, std::size_t columns);

}  // namespace pitwall::fit
