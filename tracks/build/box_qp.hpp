// SPDX-License-Identifier: Apache-2.0
// Quadratic programs with bounds along a line: min 1/2 x^T H x + g^T x, low <= x <= high, H banded. Primal-dual interior point
// (S. Wright, "Primal-dual interior-point methods", SIAM 1997): some twenty factorisations whatever the number of active bounds.
#pragma once

#include <vector>

#include "tracks/build/banded.hpp"

namespace pitwall::tracks::build {

struct BoxSolution {
  std::vector<double> x;  ///< strictly inside the bounds
  bool converged = false;
  int iterations = 0;
};

/// H is positive semidefinite and low < high everywhere.
BoxSolution solve_box_qp(BandedMatrix& hessian, const std::vector<double>& gradient, const std::vector<double>& low,
                         const std::vector<double>& high);

}  // namespace pitwall::tracks::build
