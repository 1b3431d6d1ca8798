// SPDX-License-Identifier: Apache-2.0
// Pieces of a recording in which nothing changes: the car stands, or its motor keeps one speed. What an IMU says there is the IMU's own.
#pragma once

#include <vector>

#include "analysis/run_data.hpp"

namespace pitwall::analysis {

struct Stretch {
  double begin_s = 0.0;
  double end_s = 0.0;
  double value = 0.0;  ///< mean amount of what is steady
  [[nodiscard]] double seconds() const { return end_s - begin_s; }
};

/// Where the car stands for 2 s or longer, by the estimator's standstill detector; `wheel_mps` at the stamps of the IMU, NaN where unknown.
std::vector<Stretch> standing(const ImuSeries& imu, const std::vector<double>& wheel_mps);

/// Where a speed of motor or wheels, `least` or faster either way, stays within 5 % for 2 s or longer without holes of more than 0.25 s.
std::vector<Stretch> steady(const std::vector<double>& t_s, const std::vector<double>& value, double least);

}  // namespace pitwall::analysis
