// SPDX-License-Identifier: Apache-2.0
#include "tracks/build/import.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tracks/path.hpp"

namespace pitwall::tracks::build {
namespace {

constexpr double kCell = 0.05;
constexpr int kWidth = 440;
constexpr int kHeight = 320;

/// A map of 22 x 16 m about the origin, free where the predicate holds at the middle of a cell.
OccupancyMap drawn(const std::function<bool(Vec2)>& is_free, double yaw = 0.0, std::int8_t wall = 100) {
  std::vector<std::int8_t> values;
  for (int j = 0; j < kHeight; ++j) {
    for (int i = 0; i < kWidth; ++i)
      values.push_back(is_free({(i + 0.5 - 0.5 * kWidth) * kCell, (j + 0.5 - 0.5 * kHeight) * kCell}) ? std::int8_t{0} : wall);
  }
  const Vec2 corner = rotate(yaw, {-0.5 * kWidth * kCell, -0.5 * kHeight * kCell});
  return *OccupancyMap::make(kWidth, kHeight, kCell, {corner.x, corner.y, yaw}, std::move(values));
}

// A stadium about the origin: straights of 8 m at y = -4 and 4, half circles of radius 4 at the ends.
constexpr double kStraight = 8.0;
constexpr double kRadius = 4.0;
constexpr double kHalfWidth = 1.1;
const double kLap = 2.0 * kStraight + 2.0 * math::kPi * kRadius;

/// Distance outwards from its centre line.
double beyond(Vec2 p) {
  const double x = std::max(0.0, std::fabs(p.x) - 0.5 * kStraight);
  return norm({x, p.y}) - kRadius;
}
bool on_stadium(Vec2 p) { return std::fabs(beyond(p)) < kHalfWidth; }
/// Walls of 0.15 m on both sides, free beyond and within, as many published maps are drawn.
bool between_lines(Vec2 p) { return std::fabs(std::fabs(beyond(p)) - kHalfWidth - 0.075) > 0.075; }
bool in_box(Vec2 p, Vec2 centre, double size_x, double size_y) {
  return std::fabs(p.x - centre.x) < 0.5 * size_x && std::fabs(p.y - centre.y) < 0.5 * size_y;
}

ImportedTrack imported(const OccupancyMap& map, const ImportSettings& settings = {}) {
  Result<ImportedTrack> track = import_track(map, settings);
  REQUIRE_MESSAGE(track.ok(), (track.ok() ? "" : track.error().message));
  return *std::move(track);
}

std::string refusal(const OccupancyMap& map, const ImportSettings& settings = {}) {
  const Result<ImportedTrack> track = import_track(map, settings);
  REQUIRE_FALSE(track.ok());
  return track.error().message;
}

TEST_CASE("the centre line of a stadium is the stadium, in the middle to a quarter of a cell") {
  const ImportedTrack track = imported(drawn(on_stadium));
  CHECK(track.length_m == doctest::Approx(kLap).epsilon(0.002));
  CHECK(track.largest_offset_m < 0.25 * kCell);
  CHECK(track.min_width_m == doctest::Approx(2.0 * kHalfWidth).epsilon(0.03));
  for (const Vec2 p : track.centre.points) CHECK(std::fabs(beyond(p)) < 0.5 * kCell);
  CHECK(track.closed_area_m2 == 0.0);
  CHECK(track.warnings.empty());
}

TEST_CASE("it is driven counter-clockwise from the middle of a straight, and clockwise from there if reversed") {
  ImportSettings settings;
  settings.straight_m = kStraight;
  const ImportedTrack track = imported(drawn(on_stadium), settings);
  const Vec2 start = track.centre.points[0];
  CHECK(std::fabs(std::fabs(start.y) - kRadius) < kCell);
  CHECK(std::fabs(start.x) < 1.5);
  const Vec2 way = track.centre.points[1] - start;
  CHECK(way.x * start.y < 0.0);
  settings.reverse = true;
  const ImportedTrack back = imported(drawn(on_stadium), settings);
  CHECK(back.centre.points[0] == start);
  CHECK(back.centre.points[1] == track.centre.points.back());
  CHECK(back.length_m == doctest::Approx(track.length_m).epsilon(1e-12));
}

TEST_CASE("walls that are lines, with gaps, a room and a pillar, give the same lap") {
  // A gap of 0.3 and one of 0.6 m in the inner wall, one of 1 m into a room without, one of 1 m into the free infield.
  const auto course = [](Vec2 p) {
    if (in_box(p, {-2.0, -2.9}, 0.3, 0.6) || in_box(p, {2.0, -2.9}, 0.6, 0.6) || in_box(p, {0.0, 2.9}, 1.0, 0.6)) return true;
    if (in_box(p, {0.0, 5.3}, 1.0, 0.6)) return true;
    if (in_box(p, {2.0, 4.28}, 0.3, 0.3)) return false;
    if (in_box(p, {0.0, 7.0}, 4.0, 0.15) || in_box(p, {2.0, 6.1}, 0.15, 1.8) || in_box(p, {-2.0, 6.1}, 0.15, 1.8)) return false;
    return between_lines(p);
  };
  const OccupancyMap map = drawn(course);
  const ImportedTrack track = imported(map);
  CHECK(track.length_m == doctest::Approx(kLap).epsilon(0.01));
  REQUIRE(track.islands.size() == 1);
  CHECK(distance(track.islands[0].where, {2.0, 4.28}) < 0.1);
  // The room and the infield are closed, the pillar stands.
  const auto blocked = [&](Vec2 p) {
    const Vec2 cell = track.map.to_grid(p);
    return track.map.blocked(static_cast<int>(cell.x), static_cast<int>(cell.y));
  };
  CHECK(blocked({0.0, 6.5}));
  CHECK(blocked({0.0, 0.0}));
  CHECK(blocked({2.0, 4.28}));
  CHECK_FALSE(blocked({0.0, 4.0}));
  CHECK(track.closed_area_m2 > 10.0);
  // The line passes the pillar where there is more room, which is on its inner side.
  for (const Vec2 p : track.centre.points) {
    if (std::fabs(p.x - 2.0) < 0.1 && p.y > 0.0) CHECK(p.y < 3.8);
  }
}

TEST_CASE("the map may be turned: the line turns with it") {
  constexpr double kYaw = 0.3;
  const ImportedTrack track = imported(drawn(on_stadium, kYaw));
  CHECK(track.map.origin().yaw == kYaw);
  CHECK(track.length_m == doctest::Approx(kLap).epsilon(0.002));
  for (const Vec2 p : track.centre.points) CHECK(std::fabs(beyond(rotate(-kYaw, p))) < 0.5 * kCell);
}

TEST_CASE("unexplored space is wall, a speck is floor unless it borders on the unknown") {
  const auto speckled = [](Vec2 p) { return on_stadium(p) && !in_box(p, {0.0, -4.0}, 0.09, 0.09); };
  const ImportedTrack track = imported(drawn(speckled));
  CHECK(track.specks == 1);
  CHECK(track.largest_offset_m < 0.25 * kCell);
  const ImportedTrack unknown = imported(drawn(speckled, 0.0, OccupancyMap::kUnknown));
  CHECK(unknown.specks == 0);
  CHECK(unknown.islands.size() == 1);
}

TEST_CASE("of several loops the one is taken that goes around the points that are named") {
  // An eight: two rings that share their middle.
  const auto eight = [](Vec2 p) {
    const bool inside = in_box(p, {0.0, 0.0}, 20.0, 10.0);
    return inside && !in_box(p, {-5.0, 0.0}, 6.0, 6.0) && !in_box(p, {4.0, 0.0}, 8.0, 6.0);
  };
  const OccupancyMap map = drawn(eight);
  const std::string message = refusal(map);
  CHECK(message.find("3 loops") != std::string::npos);
  CHECK(message.find("--around -5") != std::string::npos);
  ImportSettings settings;
  settings.around = {{-5.0, 0.0}};
  const double left = imported(map, settings).length_m;
  settings.around = {{4.0, 0.5}};
  const double right = imported(map, settings).length_m;
  CHECK(right - left == doctest::Approx(4.0).epsilon(0.05));
  settings.around.push_back({-5.0, 0.0});
  CHECK(imported(map, settings).length_m > right + 8.0);
  settings.around = {{0.0, 4.0}};
  CHECK(refusal(map, settings).find("no closed course around") != std::string::npos);
}

TEST_CASE("a course that is open, too narrow or without walls is refused with the reason") {
  const auto open = [](Vec2 p) { return on_stadium(p) && !in_box(p, {0.0, 4.0}, 1.0, 4.0); };
  CHECK(refusal(drawn(open)).find("open: the free space does not close") != std::string::npos);
  const auto narrow = [](Vec2 p) { return on_stadium(p) && !(std::fabs(p.x) < 0.5 && beyond(p) > -0.7 && p.y > 0.0); };
  const std::string message = refusal(drawn(narrow));
  CHECK(message.find("too narrow") != std::string::npos);
  CHECK(message.find("0.4 m wide") != std::string::npos);
  ImportSettings smaller;
  smaller.needs.min_width_m = 0.35;
  CHECK(imported(drawn(narrow), smaller).min_width_m == doctest::Approx(0.4).epsilon(0.15));
  const auto block = [](Vec2 p) { return !in_box(p, {0.0, 0.0}, 8.0, 6.0); };
  CHECK(refusal(drawn(block)).find("along the edge of the picture") != std::string::npos);
  const OccupancyMap millimetres = *OccupancyMap::make(2, 2, 50.0, {}, {0, 0, 0, 0});
  CHECK(refusal(millimetres).find("resolution = 50") != std::string::npos);
}

TEST_CASE("regions form a tree of what surrounds what; closed cells join over corners, open ones over sides") {
  const std::vector<std::string> rows{"..........",  //
                                      "..........",  //
                                      "..####....",  //
                                      "..#  #....",  //
                                      "..# .#....",  //
                                      "..####....",  //
                                      "......#...",  //
                                      "..........",  //
                                      ".........."};
  std::vector<std::uint8_t> open;
  // Blanks and dots below the first row are open; the frame is closed.
  for (std::size_t j = 0; j < rows.size(); ++j) {
    for (std::size_t i = 0; i < 10; ++i)
      open.push_back(j > 0 && j + 1 < rows.size() && i > 0 && i < 9 && rows[j][i] != '#' && !(i == 3 && j == 3) ? 1 : 0);
  }
  const RegionTree tree = region_tree(open, 10, 9);
  const int outside = tree.at(1, 1);
  const int wall = tree.at(2, 2);
  const int room = tree.at(4, 4);
  CHECK(tree.at(6, 6) == wall);
  CHECK(tree.at(3, 3) == wall);
  CHECK(tree.regions[static_cast<std::size_t>(room)].parent == wall);
  CHECK(tree.regions[static_cast<std::size_t>(wall)].parent == outside);
  CHECK(tree.regions[static_cast<std::size_t>(outside)].parent == 0);
  CHECK(tree.child_towards(outside, room) == wall);
  CHECK(tree.child_towards(room, outside) == -1);
  CHECK(tree.regions[static_cast<std::size_t>(room)].cells == 3);
  CHECK(tree.regions[static_cast<std::size_t>(wall)].extent() == 5);
}

}  // namespace
}  // namespace pitwall::tracks::build
