// SPDX-License-Identifier: Apache-2.0
#include "tracks/visibility.hpp"

#include <doctest/doctest.h>

#include <thread>

#include "bench/reference/cell_walk.hpp"
#include "core/rng.hpp"

using namespace pitwall;
using namespace pitwall::tracks;

namespace {

OccupancyMap noise(int width, int height, double density) {
  const Rng rng(41, "map");
  std::vector<std::int8_t> values;
  for (int k = 0; k < width * height; ++k) values.push_back(rng.uniform(static_cast<std::uint64_t>(k)) < density ? 100 : 0);
  Result<OccupancyMap> map = OccupancyMap::make(width, height, 1.0, {}, std::move(values));
  REQUIRE(map.ok());
  return std::move(map).value();
}

bool holds(std::span<const EdgeRange> ranges, std::uint32_t edge) {
  for (const EdgeRange& range : ranges) {
    if (edge >= range.first && edge < range.first + range.count) return true;
  }
  return false;
}

bool same(std::span<const EdgeRange> a, std::span<const EdgeRange> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](EdgeRange x, EdgeRange y) { return x.first == y.first && x.count == y.count; });
}

}  // namespace

TEST_CASE("whatever edge a ray hits, its tile sees") {
  const Rng rng(42, "rays");
  std::uint64_t k = 0;
  for (const double density : {0.003, 0.03, 0.2}) {
    const OccupancyMap map = noise(90, 76, density);
    const Walls walls(map);
    const Visibility visibility(walls);
    std::size_t missing = 0;
    for (int n = 0; n < 4000; ++n, ++k) {
      const Vec2 o{90.0 * rng.uniform(k, 0), 76.0 * rng.uniform(k, 1)};
      const Vec2 d = unit_vector(6.2832 * rng.uniform(k, 2));
      const double t = bench::cell_walk(map, o, d);
      if (t == 0.0 || t > 1e9) continue;
      const Vec2 hit = o + t * d;
      const double off_x = std::fabs(hit.x - std::round(hit.x));
      const double off_y = std::fabs(hit.y - std::round(hit.y));
      if (std::max(off_x, off_y) < 1e-6) continue;  // a corner has two edges
      const bool vertical = off_x < off_y;
      const Facing facing = vertical ? (d.x > 0.0 ? Facing::kRight : Facing::kLeft) : (d.y > 0.0 ? Facing::kUp : Facing::kDown);
      const double along = vertical ? hit.y : hit.x;
      std::uint32_t found = Walls::kNone;
      for (const std::uint32_t edge : walls.edges_on(facing, static_cast<int>(std::round(vertical ? hit.x : hit.y)))) {
        if (walls.ends(edge)[0] <= along && along <= walls.ends(edge)[1]) found = edge;
      }
      REQUIRE(found != Walls::kNone);
      const int i = static_cast<int>(o.x);
      const int j = static_cast<int>(o.y);
      missing += holds(visibility.from(i, j, walls.component(i, j)), found) ? 0 : 1;
    }
    CHECK(missing == 0);
  }
}

TEST_CASE("a tile in a room sees the room, not what is behind its walls") {
  std::vector<std::int8_t> values(100 * 100, 0);
  for (std::size_t k = 20; k < 81; ++k) values[20 * 100 + k] = values[80 * 100 + k] = values[k * 100 + 20] = values[k * 100 + 80] = 100;
  values[50 * 100 + 50] = 100;
  Result<OccupancyMap> map = OccupancyMap::make(100, 100, 1.0, {}, std::move(values));
  REQUIRE(map.ok());
  const Walls walls(*map);
  const Visibility visibility(walls);
  std::size_t inside = 0;
  for (const EdgeRange& range : visibility.from(30, 30, walls.component(30, 30))) inside += range.count;
  CHECK(inside == 6);  // four walls, and the near sides of the post
  std::size_t outside = 0;
  for (const EdgeRange& range : visibility.from(5, 50, walls.component(5, 50))) outside += range.count;
  CHECK(outside >= 5);
  CHECK(outside <= 8);
  CHECK(visibility.tiles_built() == 2);
}

TEST_CASE("what a tile sees does not depend on which was asked for first, nor on threads") {
  const OccupancyMap map = noise(96, 96, 0.02);
  const Walls walls(map);
  const Visibility forth(walls);
  const Visibility back(walls);
  const Visibility shared(walls);
  const auto all = [&](const Visibility& visibility, bool reversed) {
    int sets = 0;
    for (int n = 0; n < 36; ++n) {
      const int tile = reversed ? 35 - n : n;
      const int i = tile % 6 * 16 + 3;
      const int j = tile / 6 * 16 + 5;
      sets += visibility.from(i, j, walls.component(i, j)).empty() ? 0 : 1;
    }
    return sets;
  };
  CHECK(all(forth, false) == all(back, true));
  int others = 0;
  std::thread other([&] { others = all(shared, true); });
  const int ours = all(shared, false);
  other.join();
  CHECK(ours == others);
  std::size_t differing = 0;
  for (int tile = 0; tile < 36; ++tile) {
    const int i = tile % 6 * 16 + 3;
    const int j = tile / 6 * 16 + 5;
    const std::uint32_t component = walls.component(i, j);
    const auto truth = forth.from(i, j, component);
    differing += same(truth, back.from(i, j, component)) && same(truth, shared.from(i, j, component)) ? 0 : 1;
  }
  CHECK(differing == 0);
}
