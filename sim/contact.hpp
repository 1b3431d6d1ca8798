// SPDX-License-Identifier: Apache-2.0
// Contact of a moving chassis with walls and with other cars, in double precision and with the time inside the sub-step.
//
// Between two sub-step poses a car moves with its base_link position linear and its yaw linear along the short way. A
// touch is found by conservative advancement (Mirtich, "Impulse-based dynamic simulation", 1996, section 2.3): at the
// fraction u of the step the largest gap over the separating axes of two rectangles is a lower bound of their distance,
// and along that axis the gap cannot close faster than the car's own motion along it plus yaw rate times the radius of
// its farthest corner, so u may grow by gap / rate without looking. Near a wall u grows by at least a micrometre of
// motion, and a touch is declared only at a pose where the two really overlap: nothing is missed that is deeper than a
// micrometre's motion, and nothing is invented.
//
// Walls are the closed blocked cell squares of the OccupancyMap, the same that rays end on.
#pragma once

#include <optional>

#include "core/car.hpp"
#include "core/geometry.hpp"
#include "core/time.hpp"
#include "tracks/distance_field.hpp"
#include "tracks/map.hpp"

namespace pitwall::sim {

/// T_map_base at both ends of one sub-step.
struct Motion {
  Pose2 from;
  Pose2 to;
};

/// T_map_base at the fraction u in [0, 1] of the sub-step; yaw in (-pi, pi].
Pose2 pose_at(const Motion& motion, double u);

/// The first touch within a sub-step.
struct Touch {
  double u = 0.0;                  ///< fraction of the sub-step, in [0, 1]; 0 where the two overlap from the start
  Vec2 point;                      ///< m, map frame: middle of what overlaps at u
  Vec2 normal;                     ///< unit vector, map frame, from the obstacle to the car; of least depth where they overlap deeply
  double closing_speed_mps = 0.0;  ///< of the chassis at `point` against the normal (relative to the other car); negative when receding
};

/// First touch of the chassis with a blocked cell square, or nothing. `distance` must belong to `map`.
std::optional<Touch> first_wall_touch(const BodyRectangle& chassis, const Motion& motion, Duration step, const tracks::OccupancyMap& map,
                                      const tracks::DistanceField& distance);
/// First touch of two chassis that move at the same time; the normal points from `other` to `chassis`.
std::optional<Touch> first_car_touch(const BodyRectangle& chassis, const Motion& motion, const BodyRectangle& other,
                                     const Motion& other_motion, Duration step);
/// Where the first corner of the chassis leaves the rectangle of the map (the normal points back inside); u is 0 if one is
/// outside from the start.
std::optional<Touch> first_exit(const BodyRectangle& chassis, const Motion& motion, Duration step, const tracks::OccupancyMap& map);

/// Whether a standing chassis overlaps or touches a blocked cell square.
bool overlaps(const BodyRectangle& chassis, const Pose2& T_map_base, const tracks::OccupancyMap& map);
/// Whether two standing chassis overlap or touch.
bool overlaps(const BodyRectangle& chassis, const Pose2& T_map_base, const BodyRectangle& other, const Pose2& T_map_other);
/// Whether no corner of the chassis lies outside the rectangle of the map.
bool inside(const BodyRectangle& chassis, const Pose2& T_map_base, const tracks::OccupancyMap& map);

}  // namespace pitwall::sim
