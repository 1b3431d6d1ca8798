// SPDX-License-Identifier: Apache-2.0
// By how much the front wheels must be turned beyond the kinematic angle in a steady turn of one car on one floor, because its
// tyres slip: made from the tyres by plant, read by the steering law `map`.
#pragma once

#include <vector>

namespace pitwall {

/// The angle of a turn to the left with lateral acceleration a at speed v is atan(L a / v^2) + slip(v, a); a turn to the right is
/// its mirror image. Bilinear between the nodes.
struct SteeringTable {
  std::vector<double> speed_mps;     ///< of the rows: rising, above 0
  std::vector<double> lateral_mps2;  ///< of the columns: rising from 0
  std::vector<double> slip_rad;      ///< row by row; constant beyond the row's peak
  std::vector<double> peak_mps2;     ///< of each row: the most lateral acceleration that the tyres give
};

}  // namespace pitwall
