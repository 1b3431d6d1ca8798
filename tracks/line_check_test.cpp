// SPDX-License-Identifier: Apache-2.0
#include "tracks/line_check.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "core/text.hpp"

namespace pitwall::tracks {
namespace {

std::vector<Vec2> ring(double radius, int n = 200, Vec2 centre = {0.0, 0.0}) {
  std::vector<Vec2> points;
  for (int i = 0; i < n; ++i) points.push_back(centre + radius * unit_vector(2.0 * math::kPi * i / n));
  return points;
}

std::string refused(const std::vector<Vec2>& points, bool closed = true) {
  const Status status = check_line(points, closed);
  return status.ok() ? std::string() : status.error().message;
}

TEST_CASE("a good line passes, closed and open, however it is sampled") {
  CHECK(refused(ring(5.0)).empty());
  CHECK(refused(ring(5.0, 12)).empty());
  CHECK(refused(ring(5.0), false).empty());
  CHECK(refused({{0, 0}, {1, 0}, {2, 0.5}}, false).empty());
}

TEST_CASE("duplicate points are named with both numbers") {
  std::vector<Vec2> points = ring(5.0);
  points.insert(points.begin() + 40, points[39]);
  CHECK(contains(refused(points), "point 40 of 201"));
  CHECK(contains(refused(points), "point 41 of 201"));
  points = ring(5.0);
  points.push_back(points.front());
  CHECK(contains(refused(points), "point 201 of 201"));
}

TEST_CASE("a gap is named; an open end is suggested where it is the seam") {
  std::vector<Vec2> points = ring(5.0);
  points.erase(points.begin() + 50, points.begin() + 70);
  CHECK(contains(refused(points), "a gap of"));
  CHECK(contains(refused(points), "after point 50 of 180"));
  points = ring(5.0);
  points.resize(150);
  CHECK(contains(refused(points), "open one"));
  CHECK(refused(points, false).empty());
}

TEST_CASE("a line that crosses itself is refused, at the seam as well") {
  std::vector<Vec2> eight;
  for (int i = 0; i < 200; ++i) {
    const double a = 2.0 * math::kPi * (i + 0.5) / 200;
    eight.push_back({8.0 * math::sin(a), 4.0 * math::sin(2.0 * a)});
  }
  CHECK(contains(refused(eight), "crosses itself"));
  std::rotate(eight.begin(), eight.begin() + 100, eight.end());
  CHECK(contains(refused(eight), "crosses itself"));
}

TEST_CASE("values that are no numbers, and too few points") {
  std::vector<Vec2> points = ring(5.0);
  points[7].y = std::numeric_limits<double>::quiet_NaN();
  CHECK(contains(refused(points), "point 8 of 200 is not finite"));
  points[7].y = std::numeric_limits<double>::infinity();
  CHECK(contains(refused(points), "point 8 of 200 is not finite"));
  CHECK(contains(refused({{0, 0}, {1, 0}}), "2 points"));
  CHECK(contains(refused({}), "0 points"));
}

TEST_CASE("a reversed line is told from one in the centre line's direction") {
  const Path centre = Path::make(ring(5.0), true).value();
  std::vector<Vec2> points = ring(4.6, 90);
  CHECK_FALSE(check_direction(Path::make(points, true).value(), centre));
  std::reverse(points.begin(), points.end());
  const auto against = check_direction(Path::make(points, true).value(), centre);
  REQUIRE(against);
  CHECK(contains(*against, "against"));
}

TEST_CASE("a line nearer to a wall than half the car, or off the map, is named with the place") {
  // A room of 20 m x 20 m with walls of one cell.
  std::vector<std::int8_t> cells(200 * 200, 0);
  for (std::size_t i = 0; i < 200; ++i) cells[i] = cells[199 * 200 + i] = cells[200 * i] = cells[200 * i + 199] = 100;
  const OccupancyMap map = OccupancyMap::make(200, 200, 0.1, {-10.0, -10.0, 0.0}, std::move(cells)).value();
  const DistanceField field(map);
  CHECK_FALSE(check_walls(Path::make(ring(9.0), true).value(), map, field, 0.155));
  const auto near = check_walls(Path::make(ring(9.8), true).value(), map, field, 0.155);
  REQUIRE(near);
  CHECK(contains(*near, "half the car is 0.155 m"));
  CHECK_FALSE(check_walls(Path::make(ring(9.8), true).value(), map, field, 0.09));
  const auto beyond = check_walls(Path::make(ring(5.0, 200, {12.0, 0.0}), true).value(), map, field, 0.155);
  REQUIRE(beyond);
  CHECK(contains(*beyond, "leaves the map"));
}

}  // namespace
}  // namespace pitwall::tracks
