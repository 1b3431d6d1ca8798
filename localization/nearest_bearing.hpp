// SPDX-License-Identifier: Apache-2.0
// The nearest of points that lie in the order of their bearings, as those of a scan do: no tree is built. From a start, usually the answer
// of the round before, both directions are searched until the bearing alone puts every further point farther away than the best: a point
// seen at the angle d from the query is at least |query| sin d away (|query| beyond a right angle).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/geometry.hpp"
#include "localization/scan_points.hpp"

namespace pitwall::localization {

struct NearestPoint {
  std::uint32_t index = 0;
  double distance2 = 0.0;  ///< m^2
  bool any = false;        ///< whether there is one within the cutoff; else `index` is where the search began
};

class BearingSearch {
 public:
  /// `increment_rad` says by its sign which way the beams turn.
  BearingSearch(const PointList& points, double increment_rad) : points_(points), turn_(increment_rad < 0.0 ? -1.0 : 1.0) {}

  /// The nearest point to `query` of those nearer than the square root of `cutoff2`.
  [[nodiscard]] NearestPoint nearest(Vec2 query, std::uint32_t start, double cutoff2) const {
    NearestPoint best{start, cutoff2, false};
    const std::size_t count = points_.size();
    const double away2 = dot(query, query);
    for (std::size_t k = start; k < count && look(query, away2, k, turn_, best); ++k) {
    }
    for (std::size_t k = start; k > 0 && look(query, away2, k - 1, -turn_, best); --k) {
    }
    return best;
  }

 private:
  // Looks at one point; false if neither it nor any after it, on the side `side` of the query, can be the nearest.
  [[nodiscard]] bool look(Vec2 query, double away2, std::size_t k, double side, NearestPoint& best) const {
    const double aside = side * cross(query, points_.bearing[k]);
    const bool ahead = dot(query, points_.bearing[k]) > 0.0;
    const double bound2 = ahead ? aside * aside : away2;
    if (bound2 >= best.distance2 && (aside > 0.0 || !ahead)) return false;
    const Vec2 d = points_.at[k] - query;
    const double distance2 = dot(d, d);
    if (distance2 < best.distance2) best = {static_cast<std::uint32_t>(k), distance2, true};
    return true;
  }

  const PointList& points_;
  double turn_;
};

}  // namespace pitwall::localization
