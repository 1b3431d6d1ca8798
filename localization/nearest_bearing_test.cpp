// SPDX-License-Identifier: Apache-2.0
#include "localization/nearest_bearing.hpp"

#include <doctest/doctest.h>

#include "localization/test_scenes.hpp"

using namespace pitwall;
using namespace pitwall::localization;

namespace {

std::uint32_t by_brute_force(const PointList& points, Vec2 query) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (distance(points.at[i], query) < distance(points.at[best], query)) best = i;
  }
  return static_cast<std::uint32_t>(best);
}

}  // namespace

TEST_CASE("the nearest point is that of brute force, wherever the search begins and whichever way the beams turn") {
  const scenes::Scene hall = scenes::hall();
  LaserScan scan = scenes::scan(hall, {.beams = 270}, hall.line[17], {}, {}, 0);
  for (const bool clockwise : {false, true}) {
    if (clockwise) {
      std::reverse(scan.ranges.begin(), scan.ranges.end());
      scan.angle_min = -scan.angle_min;
      scan.angle_increment = -scan.angle_increment;
    }
    ScanPoints points;
    points.read(scan, {}, {});
    const PointList& list = points.points();
    const BearingSearch search(list, points.increment_rad());
    const Rng draw(2, "queries");
    for (std::uint64_t n = 0; n < 400; ++n) {
      const auto of = static_cast<std::size_t>(draw.uniform(n, 0) * static_cast<double>(list.size()));
      const Vec2 query = list.at[of] + Vec2{0.2 * draw.normal(n, 1), 0.2 * draw.normal(n, 2)};
      const std::uint32_t wanted = by_brute_force(list, query);
      const double away = distance(list.at[wanted], query);
      // Within a right angle of the query, as a start from the beam that points there or from the last round is.
      for (const std::ptrdiff_t shift : {-60, -7, 0, 7, 60}) {
        const auto start =
            std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(of) + shift, 0, static_cast<std::ptrdiff_t>(list.size()) - 1);
        if (dot(list.bearing[static_cast<std::size_t>(start)], query) <= 0.0) continue;
        const NearestPoint found = search.nearest(query, static_cast<std::uint32_t>(start), 4.0);
        REQUIRE(found.any);
        CHECK(found.index == wanted);
        CHECK(found.distance2 == doctest::Approx(away * away));
      }
    }
  }
}

TEST_CASE("far from all points there is no pair") {
  ScanPoints points;
  points.read(scenes::scan(scenes::corridor(), {.beams = 100}, {}, {}, {}, 0), {}, {});
  const BearingSearch search(points.points(), points.increment_rad());
  CHECK_FALSE(search.nearest({50.0, 50.0}, 20, 0.25).any);
  CHECK_FALSE(search.nearest({0.0, 0.0}, 20, 0.25).any);
  PointList none;
  CHECK_FALSE(BearingSearch(none, 0.01).nearest({1.0, 0.0}, 0, 0.25).any);
}
