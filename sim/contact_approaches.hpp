// SPDX-License-Identifier: Apache-2.0
// For tests only: contact by brute force, and the random approaches that the swept test is held against. Nothing here
// shares a formula with contact.cpp: two convex polygons overlap when a vertex of one lies in the other or two
// edges cross, and a motion is looked at in 64 or 4096 still pictures.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/contact.hpp"

namespace pitwall::sim::reference {

using Quad = std::array<Vec2, 4>;

/// The chassis as a counter-clockwise polygon, grown by `margin_m` on every side (negative: shrunk).
Quad chassis_polygon(const BodyRectangle& chassis, const Pose2& T_map_base, double margin_m);
/// A cell square in the map frame.
Quad cell_polygon(const tracks::OccupancyMap& map, int i, int j);
bool polygons_overlap(const Quad& a, const Quad& b);

/// First of `parts` + 1 still pictures of a sub-step in which the chassis, grown by `margin_m`, overlaps one of `cells`.
std::optional<int> first_overlap(const BodyRectangle& chassis, const Motion& motion, const std::vector<Quad>& cells, int parts,
                                 double margin_m);

struct Tally {
  int approaches = 0;
  int touches = 0;
  int passes = 0;
  int disagreements_at_64 = 0;
  int missed = 0;
  int invented = 0;
  int wrong_time = 0;
};

/// Random approaches to walls and posts of 2-20 cm at 0.2-10 m/s on maps of 1-5 cm cells, swept and by brute force.
Tally run_approaches(int count, std::uint64_t seed);

}  // namespace pitwall::sim::reference
