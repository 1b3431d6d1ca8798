// SPDX-License-Identifier: Apache-2.0
// What surrounds what on a grid of two kinds of cells. Open cells join over their sides, closed ones over corners too; then the regions
// form a tree, each within the one that surrounds it, and the holes of a region are its children (Rosenfeld, "Adjacency in digital
// pictures", Information and Control 26, 1974).
#pragma once

#include <cstdint>
#include <vector>

namespace pitwall::tracks::build {

/// Cells that hang together.
struct Region {
  bool open = false;
  int parent = -1;  ///< the region around it; -1 for the outermost
  std::size_t cells = 0;
  int first_i = 0;  ///< its first cell in the order of rows: none of its cells lies in a lower row
  int first_j = 0;
  int i_low = 0;  ///< the box that holds it
  int i_high = 0;
  int j_high = 0;
  /// The longer side of its box, in cells.
  [[nodiscard]] int extent() const;
};

/// The regions of a grid; region 0 is the outermost.
struct RegionTree {
  int width = 0;
  std::vector<int> label;  ///< of each cell, row by row
  std::vector<Region> regions;

  [[nodiscard]] int at(int i, int j) const {
    return label[static_cast<std::size_t>(j) * static_cast<std::size_t>(width) + static_cast<std::size_t>(i)];
  }
  /// The child of `ancestor` that `region` is or lies in; -1 where it is neither.
  [[nodiscard]] int child_towards(int ancestor, int region) const;
};

/// `open` is 1 or 0, row by row; the outermost cells are all 0.
RegionTree region_tree(const std::vector<std::uint8_t>& open, int width, int height);

}  // namespace pitwall::tracks::build
