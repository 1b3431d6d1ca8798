// SPDX-License-Identifier: Apache-2.0
// How far in front of the nearest wall a point is, or how deep in it, as a smooth function of the place: what a scan is laid onto. Exact
// distances between cell centres on both sides of each wall's face, averaged over 3 x 3 cells, so that the steps of the cells turn the
// gradient less, and linear in between.
#pragma once

#include <vector>

#include "core/geometry.hpp"
#include "tracks/map.hpp"

namespace pitwall::localization {

/// A distance and the way in which it grows.
struct SignedDistance {
  double value_m = 0.0;  ///< positive in free space, negative in walls
  Vec2 gradient{};       ///< map frame, per m
};

/// Distances to the faces of walls, cut off at +- reach. Where a map is unknown it says wall, as for cars.
class SignedField {
 public:
  SignedField(const tracks::OccupancyMap& map, double reach_m);

  [[nodiscard]] double reach_m() const { return reach_m_; }
  /// At a point of the map frame; outside the map it is far from walls.
  [[nodiscard]] SignedDistance at(Vec2 p_map) const;

 private:
  int width_;
  int height_;
  double resolution_m_;
  double reach_m_;
  Vec2 origin_;
  Vec2 axis_x_;                  // of the grid frame, in the map frame
  std::vector<float> values_m_;  // at cell centres
};

}  // namespace pitwall::localization
