// SPDX-License-Identifier: Apache-2.0
#include "tracks/walls.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "core/rng.hpp"

using namespace pitwall;
using namespace pitwall::tracks;

namespace {

OccupancyMap noise_map(int width, int height, double density) {
  const Rng rng(31, "map");
  std::vector<std::int8_t> values;
  for (int k = 0; k < width * height; ++k) values.push_back(rng.uniform(static_cast<std::uint64_t>(k)) < density ? 100 : 0);
  Result<OccupancyMap> map = OccupancyMap::make(width, height, 1.0, {}, std::move(values));
  REQUIRE(map.ok());
  return std::move(map).value();
}

bool free_cell(const OccupancyMap& map, int i, int j) { return map.inside(i, j) && !map.blocked(i, j); }

// Flood fill: the lowest index of a component's cells is its name.
std::vector<int> filled(const OccupancyMap& map) {
  const int w = map.width();
  std::vector<int> label(static_cast<std::size_t>(w * map.height()), -1);
  for (int start = 0; start < w * map.height(); ++start) {
    if (!free_cell(map, start % w, start / w) || label[static_cast<std::size_t>(start)] >= 0) continue;
    std::vector<int> open{start};
    label[static_cast<std::size_t>(start)] = start;
    while (!open.empty()) {
      const int at = open.back();
      open.pop_back();
      const auto visit = [&](int i, int j) {
        if (!free_cell(map, i, j) || label[static_cast<std::size_t>(j * w + i)] >= 0) return;
        label[static_cast<std::size_t>(j * w + i)] = start;
        open.push_back(j * w + i);
      };
      visit(at % w + 1, at / w);
      visit(at % w - 1, at / w);
      visit(at % w, at / w + 1);
      visit(at % w, at / w - 1);
    }
  }
  return label;
}

}  // namespace

TEST_CASE("components are those of a flood fill") {
  for (const double density : {0.0, 0.2, 0.45, 1.0}) {
    const OccupancyMap map = noise_map(131, 77, density);
    const Walls walls(map);
    REQUIRE(walls.available());
    const std::vector<int> label = filled(map);
    std::map<int, std::uint32_t> name;
    std::map<std::uint32_t, int> back;
    std::size_t wrong = 0;
    for (int k = 0; k < 131 * 77; ++k) {
      const std::uint32_t component = walls.component(k % 131, k / 131);
      const int truth = label[static_cast<std::size_t>(k)];
      if (truth < 0) {
        wrong += component != Walls::kNone ? 1 : 0;
        continue;
      }
      wrong += name.emplace(truth, component).first->second != component ? 1 : 0;
      wrong += back.emplace(component, truth).first->second != truth ? 1 : 0;
    }
    CHECK(wrong == 0);
    CHECK(walls.component(-1, 0) == Walls::kNone);
    CHECK(walls.component(0, 77) == Walls::kNone);
  }
}

TEST_CASE("outlines hold every side of a free cell towards a wall or the border once, with free space to the left") {
  for (const double density : {0.0, 0.05, 0.5}) {
    const OccupancyMap map = noise_map(70, 65, density);
    const Walls walls(map);
    std::map<std::pair<int, int>, int> sides;  // free cell and the one beyond, as indices
    const auto index = [](int i, int j) { return (j + 1) * 100 + i + 1; };
    std::size_t edges = 0;
    std::size_t wrong = 0;
    for (const Facing facing : {Facing::kRight, Facing::kLeft, Facing::kUp, Facing::kDown}) {
      const bool vertical = facing == Facing::kRight || facing == Facing::kLeft;
      for (int line = 0; line <= (vertical ? 70 : 65); ++line) {
        int last = -1;
        for (const std::uint32_t edge : walls.edges_on(facing, line)) {
          ++edges;
          const auto [low, high] = walls.ends(edge);
          wrong += low < last || low >= high || ((edge & 1) != 0) != vertical ? 1 : 0;
          last = high;
          wrong += walls.last_corner(edge) <= edge ? 1 : 0;
          for (int at = low; at < high; ++at) {
            const int before = facing == Facing::kRight || facing == Facing::kUp ? line - 1 : line;
            const int beyond = facing == Facing::kRight || facing == Facing::kUp ? line : line - 1;
            const int i = vertical ? before : at;
            const int j = vertical ? at : before;
            wrong += !free_cell(map, i, j) ? 1 : 0;
            ++sides[{index(i, j), vertical ? index(beyond, at) : index(at, beyond)}];
          }
        }
      }
    }
    CHECK(wrong == 0);
    std::size_t expected = 0;
    for (int j = 0; j < 65; ++j) {
      for (int i = 0; i < 70; ++i) {
        if (!free_cell(map, i, j)) continue;
        for (const auto& [a, b] : {std::pair{i + 1, j}, std::pair{i - 1, j}, std::pair{i, j + 1}, std::pair{i, j - 1}}) {
          if (free_cell(map, a, b)) continue;
          ++expected;
          wrong += sides[{index(i, j), index(a, b)}] != 1 ? 1 : 0;
        }
      }
    }
    CHECK(wrong == 0);
    CHECK(sides.size() == expected);
    if (density == 0.0) CHECK(edges == 4);
  }
}

TEST_CASE("a straight wall is one edge, and its two ends are corners") {
  std::vector<std::int8_t> values(200 * 10, 0);
  for (std::size_t i = 20; i < 180; ++i) values[5 * 200 + i] = 100;
  Result<OccupancyMap> map = OccupancyMap::make(200, 10, 1.0, {}, std::move(values));
  REQUIRE(map.ok());
  const Walls walls(*map);
  REQUIRE(walls.edges_on(Facing::kUp, 5).size() == 1);
  CHECK(walls.ends(walls.edges_on(Facing::kUp, 5)[0]) == std::array<int, 2>{20, 180});
  REQUIRE(walls.edges_on(Facing::kDown, 6).size() == 1);
  CHECK(walls.ends(walls.edges_on(Facing::kDown, 6)[0]) == std::array<int, 2>{20, 180});
  CHECK(walls.vertices().size() == 2 * (4 + 2) + Walls::kPadding);
}

TEST_CASE("a bit grid turned over holds the same cells") {
  const OccupancyMap map = noise_map(201, 130, 0.4);
  const Walls walls(map);
  std::size_t wrong = 0;
  for (int j = -1; j <= 130; ++j) {
    for (int i = -1; i <= 201; ++i) {
      const bool blocked = !free_cell(map, i, j);
      wrong += walls.rows().blocked(j, i) != blocked || walls.columns().blocked(i, j) != blocked ? 1 : 0;
    }
  }
  CHECK(wrong == 0);
  for (int i = 0; i < 201; ++i) {
    for (int j = 0; j < 130; ++j) {
      int free = j;
      while (free < 130 && map.blocked(i, free)) ++free;
      int blocked = j;
      while (blocked < 130 && !map.blocked(i, blocked)) ++blocked;
      wrong += walls.columns().next_free(i, j) != free || walls.columns().next_blocked(i, j) != blocked ? 1 : 0;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("maps with too many corners or too long have no outlines") {
  CHECK_FALSE(Walls(noise_map(600, 600, 0.5)).available());
  CHECK_FALSE(Walls(noise_map(Walls::kMaxSide + 1, 1, 0.0)).available());
  CHECK(Walls(noise_map(Walls::kMaxSide, 1, 0.0)).available());
}
