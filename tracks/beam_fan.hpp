// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "core/geometry.hpp"

namespace pitwall::tracks {

/// The beams of a scanner, as unit vectors in the sensor frame: beam i points at exactly
/// angle_min + i * (fov / (count - 1)), first and last included.
struct BeamFan {
  /// At least 1 beam (a single one points at angle_min), angles finite and angle_max not below angle_min.
  BeamFan(double angle_min_rad, double angle_max_rad, int count);
  double angle_min_rad;
  double angle_increment_rad;
  std::vector<Vec2> directions;
};

}  // namespace pitwall::tracks
