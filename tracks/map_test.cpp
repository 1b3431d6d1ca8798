// SPDX-License-Identifier: Apache-2.0
#include "tracks/map.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace pitwall::tracks {
namespace {

OccupancyMap make_or_fail(int width, int height, double resolution, Pose2 origin, std::vector<std::int8_t> values) {
  auto map = OccupancyMap::make(width, height, resolution, origin, std::move(values));
  REQUIRE(map.ok());
  return *std::move(map);
}

TEST_CASE("cell (0, 0) is at the origin, columns grow along x, rows along y") {
  const OccupancyMap map = make_or_fail(3, 2, 0.5, {10.0, 20.0, 0.0}, {0, 0, 0, 0, 0, 100});
  CHECK(map.value(2, 1) == 100);
  CHECK(map.blocked(2, 1));
  CHECK_FALSE(map.blocked(1, 1));
  CHECK(map.to_grid({10.0, 20.0}) == Vec2{0.0, 0.0});
  CHECK(map.to_grid({11.25, 20.75}) == Vec2{2.5, 1.5});
  CHECK(map.to_map({2.5, 1.5}) == Vec2{11.25, 20.75});
}

TEST_CASE("a map with yaw is rotated about its origin") {
  // A quarter turn: grid x points along map y, grid y along map -x.
  const OccupancyMap map = make_or_fail(3, 2, 0.5, {10.0, 20.0, math::kPi / 2}, std::vector<std::int8_t>(6, 0));
  const Vec2 p = map.to_map({2.0, 0.0});
  CHECK(p.x == doctest::Approx(10.0));
  CHECK(p.y == doctest::Approx(21.0));
  const Vec2 q = map.to_map({0.0, 2.0});
  CHECK(q.x == doctest::Approx(9.0));
  CHECK(q.y == doctest::Approx(20.0));
  CHECK(map.to_grid_yaw(math::kPi / 2) == 0.0);
}

TEST_CASE("to_grid undoes to_map for any origin") {
  for (const double yaw : {0.0, 0.3, -2.0, 3.14, 7.0}) {
    const OccupancyMap map = make_or_fail(2, 2, 0.0504, {25.9, 48.5, yaw}, std::vector<std::int8_t>(4, 0));
    for (const Vec2 p : {Vec2{0.0, 0.0}, Vec2{1.5, -3.25}, Vec2{900.0, 40.0}}) {
      const Vec2 back = map.to_grid(map.to_map(p));
      CHECK(distance(back, p) < 1e-9);
      const Pose2 origin = map.origin();
      CHECK(distance(map.to_map(p), origin * (0.0504 * p)) < 1e-9);
    }
  }
}

TEST_CASE("unknown and at least half occupied cells block, outside nothing does") {
  const OccupancyMap map = make_or_fail(5, 1, 1.0, {}, {-1, 0, 49, 50, 100});
  CHECK(map.blocked(0, 0));
  CHECK_FALSE(map.blocked(1, 0));
  CHECK_FALSE(map.blocked(2, 0));
  CHECK(map.blocked(3, 0));
  CHECK(map.blocked(4, 0));
  CHECK_FALSE(map.blocked(-1, 0));
  CHECK_FALSE(map.blocked(5, 0));
  CHECK_FALSE(map.blocked(0, 1));
  CHECK(map.blocked_cells() == std::vector<std::uint8_t>{1, 0, 0, 1, 1});
}

TEST_CASE("a map that cannot be is refused with the value") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<std::int8_t> one{0};
  CHECK_FALSE(OccupancyMap::make(0, 1, 0.05, {}, {}).ok());
  CHECK_FALSE(OccupancyMap::make(1, -1, 0.05, {}, {}).ok());
  CHECK_FALSE(OccupancyMap::make(2, 1, 0.05, {}, one).ok());
  CHECK_FALSE(OccupancyMap::make(1 << 20, 1 << 20, 0.05, {}, one).ok());
  for (const double resolution : {0.0, -0.05, 1e-5, 101.0, nan, inf}) CHECK_FALSE(OccupancyMap::make(1, 1, resolution, {}, one).ok());
  for (const double bad : {nan, inf}) {
    CHECK_FALSE(OccupancyMap::make(1, 1, 0.05, {bad, 0.0, 0.0}, one).ok());
    CHECK_FALSE(OccupancyMap::make(1, 1, 0.05, {0.0, bad, 0.0}, one).ok());
    CHECK_FALSE(OccupancyMap::make(1, 1, 0.05, {0.0, 0.0, bad}, one).ok());
  }
  CHECK_FALSE(OccupancyMap::make(1, 1, 0.05, {}, {101}).ok());
  CHECK_FALSE(OccupancyMap::make(1, 1, 0.05, {}, {-2}).ok());
  CHECK(OccupancyMap::make(1, 1, -0.05, {}, one).error().message.find("-0.05") != std::string::npos);
}

TEST_CASE("the content hash follows every part of a map") {
  const std::vector<std::int8_t> values{0, 100, 0, -1, 0, 0, 0, 0, 0, 100};
  const std::uint64_t hash = make_or_fail(5, 2, 0.05, {1.0, 2.0, 0.0}, values).content_hash();
  CHECK(make_or_fail(5, 2, 0.05, {1.0, 2.0, 0.0}, values).content_hash() == hash);
  CHECK(make_or_fail(2, 5, 0.05, {1.0, 2.0, 0.0}, values).content_hash() != hash);
  CHECK(make_or_fail(5, 2, 0.051, {1.0, 2.0, 0.0}, values).content_hash() != hash);
  CHECK(make_or_fail(5, 2, 0.05, {1.1, 2.0, 0.0}, values).content_hash() != hash);
  CHECK(make_or_fail(5, 2, 0.05, {1.0, 2.1, 0.0}, values).content_hash() != hash);
  CHECK(make_or_fail(5, 2, 0.05, {1.0, 2.0, 0.1}, values).content_hash() != hash);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::vector<std::int8_t> other = values;
    other[i] = 7;
    CHECK(make_or_fail(5, 2, 0.05, {1.0, 2.0, 0.0}, other).content_hash() != hash);
  }
}

}  // namespace
}  // namespace pitwall::tracks
