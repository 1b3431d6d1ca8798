// SPDX-License-Identifier: Apache-2.0
// What the front wheels must be turned by for a lateral acceleration at a speed, in a steady turn of one car on one floor:
// made from its tyres by plant, read by the steering law `map`.
#pragma once

#include <vector>

namespace pitwall {

/// One row per speed. In a row the steering angle grows with the lateral acceleration up to the peak that the tyres or the
/// locks allow; it holds for a turn to the left, a turn to the right is its mirror image.
struct SteeringTable {
  std::vector<double> speed_mps;          ///< rising, above 0
  std::vector<double> lateral_mps2;       ///< columns: rising from 0
  std::vector<double> steering_rad;       ///< row by row: [speed][lateral]; constant beyond a row's peak
  std::vector<double> peak_lateral_mps2;  ///< per speed: the most that is reached
};

}  // namespace pitwall
