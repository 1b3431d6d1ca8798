// SPDX-License-Identifier: Apache-2.0
// How cars bounce off walls and push each other, by Box2D. Nothing here decides whether there is a contact (contact.hpp
// does); this says only how the rest of the sub-step goes once there is one.
//
// Box2D keeps shapes apart by a skin meant for crates of a metre: a world of 20 units to the metre, its origin at the
// contact, brings that to half a millimetre, and its single precision to a micrometre.
// Box2D calls the C library's sinf and cosf: a run with this policy repeats on one machine, and may differ in last bits
// between machines. The other policies do not come here.
#pragma once

#include <span>

#include "core/car.hpp"
#include "core/geometry.hpp"
#include "core/time.hpp"
#include "tracks/map.hpp"

namespace pitwall::sim {

/// One car in a collision; pose and velocities are those at the touch, and what follows from it on return.
struct CollidingCar {
  BodyRectangle chassis;
  double mass_kg = 1.0;
  double yaw_inertia_kgm2 = 1.0;  ///< about the centre of gravity
  double cog_x_m = 0.0;           ///< centre of gravity ahead of base_link
  bool movable = true;            ///< false: a car that stands for good
  Pose2 T_map_base;
  Vec2 velocity_map_mps;  ///< of base_link
  double yaw_rate_radps = 0.0;
};

/// Carries the cars on for `rest` of the sub-step against each other and the walls.
void collide(std::span<CollidingCar> cars, const tracks::OccupancyMap& map, Duration rest);

}  // namespace pitwall::sim
