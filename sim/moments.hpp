// SPDX-License-Identifier: Apache-2.0
// For tests only: mean and deviation of draws, and a comparison that is really relative.
#pragma once

#include <doctest/doctest.h>

#include <cmath>

namespace pitwall::sim::testing {

/// Equal within that share of the larger one; doctest's own epsilon is absolute for numbers below 1.
inline doctest::Approx within(double expected, double share) { return doctest::Approx(expected).epsilon(share).scale(0.0); }

// Moments of n draws of a sensor's error.
struct Moments {
  double sum = 0.0;
  double squares = 0.0;
  int n = 0;
  void add(double x) {
    sum += x;
    squares += x * x;
    ++n;
  }
  [[nodiscard]] double mean() const { return sum / n; }
  [[nodiscard]] double deviation() const { return std::sqrt(squares / n - mean() * mean()); }
};

}  // namespace pitwall::sim::testing
