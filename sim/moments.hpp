// SPDX-License-Identifier: Apache-2.0
// For tests only: mean and deviation of draws.
#pragma once

#include <cmath>

namespace pitwall::sim::testing {

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
