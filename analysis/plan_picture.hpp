// SPDX-License-Identifier: Apache-2.0
// A map from above as SVG, with what was driven on it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/geometry.hpp"
#include "tracks/map.hpp"

namespace pitwall::analysis {

/// A line on the map. All in the map frame, m.
struct PlanLine {
  std::string name;
  std::vector<Vec2> points;
};

/// Places that something joins.
struct PlanLinks {
  std::string name;
  std::vector<std::pair<Vec2, Vec2>> links;
};

struct Plan {
  std::string title;
  const tracks::OccupancyMap* map = nullptr;  ///< null: none
  std::vector<PlanLine> lines;
  std::vector<PlanLinks> links;
};

/// Blocked cells that are known to be (not the unknown ones), lines, and links with dots at their ends; a bar of length for scale.
std::string to_svg(const Plan& plan);

}  // namespace pitwall::analysis
