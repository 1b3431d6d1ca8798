// SPDX-License-Identifier: Apache-2.0
// What a line follower is given besides its parameters: a line with speeds, and what is known of the map around it.
#pragma once

#include <memory>
#include <vector>

#include "core/steering_table.hpp"

namespace pitwall::tracks {
class DistanceField;
class Path;
class RayCaster;
}  // namespace pitwall::tracks

namespace pitwall::controllers {

/// Lengths in m, speeds in m/s; every vector is empty or has one value per point of the path.
struct LineToFollow {
  std::shared_ptr<const tracks::Path> path;
  std::vector<double> speed_mps;                          ///< one per point of the path
  std::shared_ptr<const tracks::RayCaster> rays;          ///< null: no map subtraction
  std::shared_ptr<const tracks::DistanceField> distance;  ///< may be null
  std::vector<double> free_right_m;                       ///< from the line to the wall, per point; may be empty
  std::vector<double> free_left_m;                        ///< may be empty
  std::shared_ptr<const SteeringTable> steering_table;    ///< of the car's tyres on this floor, for the law `map`; may be null
};

}  // namespace pitwall::controllers
