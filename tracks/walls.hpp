// SPDX-License-Identifier: Apache-2.0
// The walls of a map as rays see them: the outlines of its free components (cells joined over their sides), directed so
// that free space lies to the left, with straight runs of cell edges merged. What lies outside the map counts as wall
// here, so that every outline is closed; whoever casts rays tells the border of the map from a wall by its line.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tracks/map.hpp"

namespace pitwall::tracks {

/// Which cells are blocked, one bit each, along lines of one axis. Lines and cells outside the map read as blocked.
class BitGrid {
 public:
  BitGrid() = default;
  BitGrid(int lines, int length);

  [[nodiscard]] int lines() const { return lines_; }
  [[nodiscard]] int length() const { return length_; }
  [[nodiscard]] bool blocked(int line, int cell) const {
    if (line < 0 || line >= lines_ || cell < 0 || cell >= length_) return true;
    return (words_[static_cast<std::size_t>(line) * row_ + static_cast<std::size_t>(cell >> 6)] >> (cell & 63) & 1) != 0;
  }
  /// First free cell of a line at or after `cell`, which is not negative; length() if there is none.
  [[nodiscard]] int next_free(int line, int cell) const { return next(line, cell, ~std::uint64_t{0}); }
  /// First blocked cell of a line at or after `cell`, which is not negative; length() if there is none.
  [[nodiscard]] int next_blocked(int line, int cell) const { return next(line, cell, 0); }

  [[nodiscard]] std::span<std::uint64_t> words(int line) { return {words_.data() + static_cast<std::size_t>(line) * row_, row_}; }
  [[nodiscard]] std::size_t bytes() const { return 8 * words_.size(); }
  /// The same cells along the other axis.
  [[nodiscard]] BitGrid transposed() const;

 private:
  [[nodiscard]] int next(int line, int cell, std::uint64_t flip) const;

  int lines_ = 0;
  int length_ = 0;
  std::size_t row_ = 0;  // words a line; bits past its end are 1
  std::vector<std::uint64_t> words_;
};

/// Which way a ray travels that a wall edge stops.
enum class Facing : std::uint8_t { kRight, kLeft, kUp, kDown };

class Walls {
 public:
  /// Maps with more cells a side, or more corners, have no outlines (available() is false).
  static constexpr int kMaxSide = 32000;
  static constexpr std::size_t kMaxVertices = 300000;
  static constexpr std::uint32_t kNone = 0xffffffff;

  explicit Walls(const OccupancyMap& map);

  [[nodiscard]] bool available() const { return available_; }
  /// Rows of cells, and columns.
  [[nodiscard]] const BitGrid& rows() const { return rows_; }
  [[nodiscard]] const BitGrid& columns() const { return columns_; }

  /// Corner k is packed as x + (y << 16), both in [0, kMaxSide]. Edge k leads from corner k to corner k + 1: along x for
  /// even k, along y for odd k. The last two corners of an outline repeat its first, so that its edges need no modulus;
  /// the edge that would lead from there to the next outline is none. kPadding more numbers after the last say nothing.
  static constexpr std::size_t kPadding = 64;
  [[nodiscard]] std::span<const std::uint32_t> vertices() const { return vertices_; }
  [[nodiscard]] static int x_of(std::uint32_t vertex) { return static_cast<int>(vertex & 0xffff); }
  [[nodiscard]] static int y_of(std::uint32_t vertex) { return static_cast<int>(vertex >> 16); }
  /// Where the outline that holds edge k ends: the number of its last corner.
  [[nodiscard]] std::uint32_t last_corner(std::uint32_t edge) const;

  /// The free component of a cell, kNone for a blocked one or one outside.
  [[nodiscard]] std::uint32_t component(int i, int j) const;

  /// Edges on one grid line that face rays travelling so, in the order of the line; the ends of an edge along it follow
  /// from its corners.
  [[nodiscard]] std::span<const std::uint32_t> edges_on(Facing facing, int line) const;
  /// Lower and upper end of an edge along its line.
  [[nodiscard]] std::array<int, 2> ends(std::uint32_t edge) const;

  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Run {
    std::int32_t first;  // cell
    std::uint32_t component;
  };
  struct Index {
    std::vector<std::uint32_t> first;  // of each line
    std::vector<std::uint32_t> edges;
  };

  void find_components();
  bool trace();
  void trace_outline(int i, int j, std::vector<std::uint64_t>& seen);
  void index_edges();

  bool available_ = false;
  int width_ = 0;
  int height_ = 0;
  BitGrid rows_;
  BitGrid columns_;
  std::vector<std::uint32_t> row_runs_;  // where the runs of a row start in runs_
  std::vector<Run> runs_;
  std::vector<std::uint32_t> vertices_;
  std::vector<std::uint32_t> outline_ends_;  // last corner of each outline, rising
  std::array<Index, 4> index_;               // by Facing
};

}  // namespace pitwall::tracks
