// SPDX-License-Identifier: Apache-2.0
#include "tracks/build/regions.hpp"

#include <algorithm>
#include <array>

namespace pitwall::tracks::build {
namespace {

/// Gives `label` to all that hangs together with the cell `start`.
void fill(const std::vector<std::uint8_t>& open, int height, std::size_t start, RegionTree& tree, std::vector<std::size_t>& todo) {
  const int width = tree.width;
  const auto name = static_cast<int>(tree.regions.size()) - 1;
  Region& region = tree.regions.back();
  constexpr std::array<std::array<int, 2>, 8> kAround{{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {1, -1}, {-1, 1}, {-1, -1}}};
  const std::size_t neighbours = region.open ? 4 : 8;
  todo.assign(1, start);
  tree.label[start] = name;
  while (!todo.empty()) {
    const std::size_t cell = todo.back();
    todo.pop_back();
    const auto i = static_cast<int>(cell % static_cast<std::size_t>(width));
    const auto j = static_cast<int>(cell / static_cast<std::size_t>(width));
    ++region.cells;
    region.i_low = std::min(region.i_low, i);
    region.i_high = std::max(region.i_high, i);
    region.j_high = std::max(region.j_high, j);
    for (std::size_t k = 0; k < neighbours; ++k) {
      const int x = i + kAround[k][0];
      const int y = j + kAround[k][1];
      if (x < 0 || y < 0 || x >= width || y >= height) continue;
      const std::size_t next = static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
      if (tree.label[next] >= 0 || (open[next] != 0) != region.open) continue;
      tree.label[next] = name;
      todo.push_back(next);
    }
  }
}

}  // namespace

int Region::extent() const { return 1 + std::max(i_high - i_low, j_high - first_j); }

int RegionTree::child_towards(int ancestor, int region) const {
  while (region >= 0) {
    const int parent = regions[static_cast<std::size_t>(region)].parent;
    if (parent == ancestor) return region;
    region = parent;
  }
  return -1;
}

RegionTree region_tree(const std::vector<std::uint8_t>& open, int width, int height) {
  RegionTree tree;
  tree.width = width;
  tree.label.assign(open.size(), -1);
  std::vector<std::size_t> todo;
  for (std::size_t cell = 0; cell < open.size(); ++cell) {
    if (tree.label[cell] >= 0) continue;
    const auto i = static_cast<int>(cell % static_cast<std::size_t>(width));
    const auto j = static_cast<int>(cell / static_cast<std::size_t>(width));
    // What lies to the left of a region's first cell is of the other kind, and outside of it.
    tree.regions.push_back({open[cell] != 0, cell == 0 ? -1 : tree.label[cell - 1], 0, i, j, i, i, j});
    fill(open, height, cell, tree, todo);
  }
  return tree;
}

}  // namespace pitwall::tracks::build
