// SPDX-License-Identifier: Apache-2.0
// Boxes and posts on the floor, standing or moving to and fro, as the map does not show them: seen by rays and felt by contact
// exactly like another car's chassis. A post is a small square box.
#pragma once

#include <string>

#include "core/car.hpp"
#include "core/geometry.hpp"
#include "core/result.hpp"
#include "core/time.hpp"

namespace pitwall::sim {

struct Obstacle {
  std::string name;
  Pose2 T_map_centre;     ///< where it stands, or one end of its way
  double length_m = 0.3;  ///< along its own x
  double width_m = 0.3;
  double speed_mps = 0.0;  ///< along its own x, to the end of its way and back, for ever; 0: it stands
  double travel_m = 0.0;   ///< length of its way
  double phase_m = 0.0;    ///< how far along there and back (2 travel) it is at t = 0

  /// About its centre.
  [[nodiscard]] BodyRectangle body() const { return {-0.5 * length_m, 0.5 * length_m, 0.5 * width_m}; }
  /// Where it is at an instant.
  [[nodiscard]] Pose2 at(Time t) const;
};

/// Refuses, by name, sizes outside 1 mm .. 100 m, numbers that are not finite, a speed without a way.
Status check(const Obstacle& obstacle);

}  // namespace pitwall::sim
