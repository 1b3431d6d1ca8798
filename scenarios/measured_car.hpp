// SPDX-License-Identifier: Apache-2.0
// The suite `measured_car`: whether the simulated car answers its commands as the real one was measured to. A scripted drive with
// straights, gentle turns and turns beyond the grip is evaluated as a test day is (run_analysis: joint lag and gain, grip by
// bins of commanded v^2 curvature, odometry scale by curvature), and compared with what the reference run 20261019 gave.
#pragma once

#include <string>
#include <vector>

#include "core/car.hpp"
#include "core/result.hpp"

namespace pitwall::scenarios {

inline constexpr std::string_view kMeasuredCar = "measured_car";

/// One figure beside the measured one; it passes within 10 %.
struct Likeness {
  std::string name;
  std::string unit;
  double simulated = 0.0;
  double measured = 0.0;
  std::int64_t samples = 0;
  [[nodiscard]] bool passed() const;
};

/// Drives the car of profile `car` on that floor.
Result<std::vector<Likeness>> measure_likeness(const CarParameters& car, double friction);

std::string human_line(const Likeness& likeness);
std::string json_line(const Likeness& likeness);

}  // namespace pitwall::scenarios
