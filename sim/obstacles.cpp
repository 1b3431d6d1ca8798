// SPDX-License-Identifier: Apache-2.0
#include "sim/obstacles.hpp"

#include <cmath>

#include "core/text.hpp"

namespace pitwall::sim {

Pose2 Obstacle::at(Time t) const {
  if (speed_mps == 0.0 || travel_m <= 0.0) return T_map_centre;
  const double way = std::fmod(phase_m + std::abs(speed_mps) * t.seconds(), 2.0 * travel_m);
  const double off = way <= travel_m ? way : 2.0 * travel_m - way;
  const Vec2 p = T_map_centre.position() + off * unit_vector(T_map_centre.yaw);
  return {p.x, p.y, T_map_centre.yaw};
}

Status check(const Obstacle& obstacle) {
  const auto refuse = [&](const char* key, double value, const char* allowed) {
    return Error{"obstacle '" + obstacle.name + "': " + key + " = " + format_exact(value) + "; allowed: " + allowed};
  };
  const Pose2& p = obstacle.T_map_centre;
  if (!std::isfinite(p.x + p.y + p.yaw)) return Error{"obstacle '" + obstacle.name + "': its place is not finite"};
  if (!(obstacle.length_m >= 0.001 && obstacle.length_m <= 100.0)) return refuse("length_m", obstacle.length_m, "0.001 .. 100");
  if (!(obstacle.width_m >= 0.001 && obstacle.width_m <= 100.0)) return refuse("width_m", obstacle.width_m, "0.001 .. 100");
  if (!(obstacle.speed_mps >= 0.0 && obstacle.speed_mps <= 50.0)) return refuse("speed_mps", obstacle.speed_mps, "0 .. 50");
  if (!(obstacle.travel_m >= 0.0 && obstacle.travel_m <= 1000.0)) return refuse("travel_m", obstacle.travel_m, "0 .. 1000");
  if (!(obstacle.phase_m >= 0.0 && obstacle.phase_m <= 2000.0)) return refuse("phase_m", obstacle.phase_m, "0 .. 2000");
  if (obstacle.speed_mps > 0.0 && obstacle.travel_m <= 0.0) return refuse("travel_m", obstacle.travel_m, "above 0 for one that moves");
  return {};
}

}  // namespace pitwall::sim
