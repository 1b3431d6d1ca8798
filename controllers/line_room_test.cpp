// SPDX-License-Identifier: Apache-2.0
#include "controllers/line_room.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "tests/support/toy_world.hpp"
#include "tracks/map.hpp"
#include "tracks/path.hpp"
#include "tracks/raycast.hpp"

using namespace pitwall;
using namespace pitwall::controllers;

namespace {

/// A corridor along x with walls at y = 0 and y = 2, and a line at height y in it.
LineToFollow line_at(double y, bool with_map = true) {
  constexpr int kWidth = 800;
  constexpr int kHeight = 44;
  std::vector<std::int8_t> cells(kWidth * kHeight, 0);
  for (int i = 0; i < kWidth; ++i) {
    for (const int j : {0, 1, kHeight - 2, kHeight - 1}) cells[static_cast<std::size_t>(j * kWidth + i)] = 100;
  }
  auto map = std::make_shared<const tracks::OccupancyMap>(
      tracks::OccupancyMap::make(kWidth, kHeight, 0.05, {0, -0.1, 0}, std::move(cells)).value());
  std::vector<Vec2> points;
  for (double x = 2.0; x < 38.0; x += 0.2) points.push_back({x, y});
  LineToFollow line;
  line.path = std::make_shared<const tracks::Path>(tracks::Path::make(points, false).value());
  line.speed_mps.assign(line.path->size(), 2.0);
  if (with_map) line.rays = std::make_shared<const tracks::RayCaster>(map);
  return line;
}

}  // namespace

TEST_CASE("the room beside a line is what the rays of the map find") {
  const LineToFollow line = line_at(0.5);
  const Room room = measure_room(line, toy::car().padded_body());
  REQUIRE(room.known());
  CHECK(room.right_m[50] == doctest::Approx(0.5));
  CHECK(room.left_m[50] == doctest::Approx(1.5));
  CHECK_FALSE(measure_room(line_at(0.5, false), toy::car().padded_body()).known());
}

TEST_CASE("a line that passes a wall too near is moved off it, and one with enough room is left alone") {
  const BodyRectangle body = toy::car().padded_body();
  const LineToFollow near_right = keep_clear(line_at(0.2), body, 0.15);
  for (const Vec2 p : near_right.path->points()) CHECK(p.y == doctest::Approx(body.half_width_m + 0.15));
  const LineToFollow near_left = keep_clear(line_at(1.8), body, 0.15);
  for (const Vec2 p : near_left.path->points()) CHECK(p.y == doctest::Approx(2.0 - body.half_width_m - 0.15));
  const LineToFollow enough = line_at(0.6);
  CHECK(keep_clear(enough, body, 0.15).path == enough.path);
  const LineToFollow unknown = line_at(0.2, false);
  CHECK(keep_clear(unknown, body, 0.15).path == unknown.path);
}

TEST_CASE("where there is less room than asked for, the line goes to the middle") {
  const LineToFollow line = keep_clear(line_at(0.3), toy::car().padded_body(), 1.0);
  for (const Vec2 p : line.path->points()) CHECK(p.y == doctest::Approx(1.0));
}

TEST_CASE("widths that come with a line serve where there is no map, and follow the move") {
  LineToFollow line = line_at(0.2, false);
  line.free_right_m.assign(line.path->size(), 0.2);
  line.free_left_m.assign(line.path->size(), 1.8);
  const LineToFollow moved = keep_clear(line, toy::car().padded_body(), 0.15);
  CHECK(moved.path->points()[10].y == doctest::Approx(0.305));
  CHECK(moved.free_right_m[10] == doctest::Approx(0.305));
  CHECK(moved.free_left_m[10] == doctest::Approx(1.695));
}

TEST_CASE("a move is blended in and out gently") {
  LineToFollow line = line_at(0.5, false);
  line.free_right_m.assign(line.path->size(), 1.0);
  line.free_left_m.assign(line.path->size(), 1.0);
  for (std::size_t i = 80; i < 90; ++i) line.free_right_m[i] = 0.2;
  const LineToFollow moved = keep_clear(line, toy::car().padded_body(), 0.15);
  double bend = 0.0;
  for (std::size_t i = 1; i + 1 < moved.path->size(); ++i) bend = std::max(bend, std::abs(moved.path->vertex_curvature(i)));
  CHECK(bend < 0.06);
  for (std::size_t i = 80; i < 90; ++i) CHECK(moved.path->points()[i].y >= 0.5 + 0.105 - 1e-9);
  CHECK(moved.path->points()[20].y == doctest::Approx(0.5));
}
