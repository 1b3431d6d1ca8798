// SPDX-License-Identifier: Apache-2.0
#include "localization/slam/map_builder.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <vector>

#include "core/math.hpp"

using namespace pitwall;
using namespace pitwall::slam;

namespace {

// All around in a room |x|, |y| <= half, from where the sensor stands in it.
LaserScan room_scan(Vec2 at, double half_m, std::size_t beams = 720) {
  LaserScan scan;
  scan.range_max = 30.0F;
  scan.angle_min = static_cast<float>(-math::kPi);
  scan.angle_increment = static_cast<float>(2.0 * math::kPi / static_cast<double>(beams));
  for (std::size_t i = 0; i < beams; ++i) {
    const Vec2 d = unit_vector(static_cast<double>(scan.angle_min) + static_cast<double>(i) * static_cast<double>(scan.angle_increment));
    const double to_x = d.x != 0.0 ? (std::copysign(half_m, d.x) - at.x) / d.x : 1e9;
    const double to_y = d.y != 0.0 ? (std::copysign(half_m, d.y) - at.y) / d.y : 1e9;
    scan.ranges.push_back(static_cast<float>(std::min(to_x, to_y)));
  }
  return scan;
}

std::int8_t value_at(const tracks::OccupancyMap& map, Vec2 p) {
  const Vec2 cell = map.to_grid(p);
  const int i = static_cast<int>(std::floor(cell.x));
  const int j = static_cast<int>(std::floor(cell.y));
  return map.inside(i, j) ? map.value(i, j) : tracks::OccupancyMap::kUnknown;
}

LaserScan one_beam(float range) {
  LaserScan scan;
  scan.range_max = 10.0F;
  scan.angle_increment = 0.01F;
  scan.ranges = {range};
  return scan;
}

}  // namespace

TEST_CASE("all four walls of a room that is its own bounding box are occupied, with a border around them") {
  const LaserScan scan = room_scan({}, 2.02);
  const Result<BuiltMap> built = build_map(std::vector<PlacedScan>{{&scan, {}, {}}}, {}, {});
  REQUIRE(built.ok());
  for (const double along : {-1.8, -0.7, 0.0, 0.9, 1.8}) {
    CHECK(value_at(built->map, {2.02, along}) == 100);
    CHECK(value_at(built->map, {-2.02, along}) == 100);
    CHECK(value_at(built->map, {along, 2.02}) == 100);
    CHECK(value_at(built->map, {along, -2.02}) == 100);
    CHECK(value_at(built->map, {0.9 * along, 0.5 * along}) == 0);
  }
  CHECK(value_at(built->map, {2.12, 0.0}) == tracks::OccupancyMap::kUnknown);
  CHECK(built->map.width() >= 2 * 41 + 4);
}

TEST_CASE("a hit is in the cell that holds it: no shift by half a cell") {
  const LaserScan scan = one_beam(1.0F);
  for (const double shift : {0.0, 0.012, 0.026, 0.049}) {
    const Result<BuiltMap> built = build_map(std::vector<PlacedScan>{{&scan, {shift, 0.025, 0.0}, {}}}, {}, {});
    REQUIRE(built.ok());
    CHECK(value_at(built->map, {1.0 + shift, 0.025}) == 100);
    CHECK(value_at(built->map, {0.94 + shift, 0.025}) == 0);
  }
}

TEST_CASE("a beam of +inf clears, where that is on; NaN, 0 and out of range never do") {
  const LaserScan wall = one_beam(1.0F);
  for (const float range : {math::kInfinityF, std::numeric_limits<float>::quiet_NaN(), 0.0F, -1.0F, 12.0F}) {
    const LaserScan scan = one_beam(range);
    for (const bool clear : {true, false}) {
      MapParameters parameters;
      parameters.clear_infinite = clear;
      const std::vector<PlacedScan> scans{{&wall, {0, 5, 0}, {}}, {&scan, {}, {}}};
      const Result<BuiltMap> built = build_map(scans, {}, parameters);
      REQUIRE(built.ok());
      CHECK((value_at(built->map, {5.0, 0.02}) == 0) == (clear && range == math::kInfinityF));
    }
  }
}

TEST_CASE("somebody who stood there in ten of a hundred passes is gone, and counted") {
  std::vector<LaserScan> all;
  for (int k = 0; k < 100; ++k) all.push_back(one_beam(k % 10 == 0 ? 2.02F : 4.02F));
  std::vector<PlacedScan> scans;
  for (const LaserScan& scan : all) scans.push_back({&scan, {0.0, 0.02, 0.0}, {}});
  const Result<BuiltMap> built = build_map(scans, {}, {});
  REQUIRE(built.ok());
  CHECK(value_at(built->map, {2.02, 0.02}) == 0);
  CHECK(value_at(built->map, {4.02, 0.02}) == 100);
  CHECK(built->ghost_cells == 1);
}

TEST_CASE("one scan of a parked car makes the same free area as many") {
  const LaserScan scan = room_scan({0.3, -0.2}, 2.02);
  const Result<BuiltMap> one = build_map(std::vector<PlacedScan>{{&scan, {0.3, -0.2, 0}, {}}}, {}, {});
  const Result<BuiltMap> many = build_map(std::vector<PlacedScan>(10, {&scan, {0.3, -0.2, 0}, {}}), {}, {});
  REQUIRE(one.ok());
  REQUIRE(many.ok());
  CHECK(one->map.content_hash() == many->map.content_hash());
}

TEST_CASE("the map survives saving and loading to the bit, its origin too, unknown cells staying unknown") {
  const LaserScan scan = room_scan({}, 2.0);
  const Result<BuiltMap> built = build_map(std::vector<PlacedScan>{{&scan, {-123.4567, 0.0123, 0.3}, {}}}, {}, {});
  REQUIRE(built.ok());
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "pitwall_map_builder_test.yaml";
  REQUIRE(tracks::save_map(built->map, file).ok());
  const Result<tracks::LoadedMap> loaded = tracks::load_map(file);
  REQUIRE(loaded.ok());
  CHECK(loaded->map.content_hash() == built->map.content_hash());
  CHECK(loaded->warnings.empty());
  std::filesystem::remove(file);
  std::filesystem::remove(std::filesystem::path(file).replace_extension(".pgm"));
}

TEST_CASE("scans that measured nothing make no map") {
  const LaserScan scan = one_beam(0.0F);
  CHECK(!build_map(std::vector<PlacedScan>{{&scan, {}, {}}}, {}, {}).ok());
  CHECK(!build_map({}, {}, {}).ok());
}
