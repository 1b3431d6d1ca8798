// SPDX-License-Identifier: Apache-2.0
// The suite `measured_car`: whether the simulated car answers its commands as the real one was measured to. A scripted drive with
// straights, gentle turns and turns beyond the grip is evaluated as a test day is (run_analysis: joint lag and gain, grip by
// bins of commanded v^2 curvature, odometry scale by curvature), and compared with what was measured of that car: rb2 on the reference run
// 20261019, f1tenth_ini and frictionmaps in their public logs.
#pragma once

#include <string>
#include <vector>

#include "core/car.hpp"
#include "core/result.hpp"

namespace pitwall::scenarios {

inline constexpr std::string_view kMeasuredCar = "measured_car";

/// One figure beside the measured one; it passes within 10 % of it, and what it differed from run to run.
struct Likeness {
  std::string car;
  std::string name;
  std::string unit;
  double simulated = 0.0;
  double measured = 0.0;
  double spread = 0.0;  ///< half of the range over the runs
  std::int64_t samples = 0;
  [[nodiscard]] bool passed() const;
};

/// Whether there are measured figures of the car of that profile.
bool was_measured(std::string_view car);

/// Drives the car on that floor and sets what it did beside what was measured of the car `measured_car`.
Result<std::vector<Likeness>> measure_likeness(const CarParameters& car, double friction, std::string_view measured_car);

std::string human_line(const Likeness& likeness);
std::string json_line(const Likeness& likeness);

}  // namespace pitwall::scenarios
