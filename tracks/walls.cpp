// SPDX-License-Identifier: Apache-2.0
#include "tracks/walls.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace pitwall::tracks {
namespace {

// 64 x 64 bits, turned over their diagonal by exchanging ever smaller off-diagonal squares.
void transpose(std::array<std::uint64_t, 64>& block) {
  std::uint64_t mask = 0x00000000ffffffff;
  for (unsigned side = 32; side != 0; side >>= 1, mask ^= mask << side) {
    for (unsigned k = 0; k < 64; k = (k + side + 1) & ~side) {
      const std::uint64_t swap = ((block[k] >> side) ^ block[k + side]) & mask;
      block[k] ^= swap << side;
      block[k + side] ^= swap;
    }
  }
}

// Bytes of 0 and 1 as bits.
std::uint64_t gather_bits(const std::uint8_t* bytes, std::size_t count) {
  std::uint64_t bits = 0;
  for (std::size_t k = 0; k < count; k += 8) {
    std::uint64_t eight = 0;
    if constexpr (std::endian::native == std::endian::little) {
      std::memcpy(&eight, bytes + k, std::min<std::size_t>(8, count - k));
    } else {
      for (std::size_t b = 0; b < std::min<std::size_t>(8, count - k); ++b) eight |= std::uint64_t{bytes[k + b]} << (8 * b);
    }
    // Byte b of the factor's product sums to bit b of the top byte.
    bits |= (eight * 0x0102040810204080U >> 56) << k;
  }
  return bits;
}

std::uint32_t root_of(std::vector<std::uint32_t>& parents, std::uint32_t k) {
  while (parents[k] != k) {
    parents[k] = parents[parents[k]];
    k = parents[k];
  }
  return k;
}

struct Step {
  int x;
  int y;
};
// Right, up, left, down; a turn to the left is the next one.
constexpr std::array<Step, 4> kSteps{{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};
// From the corner that an edge in that direction ends at to the cells ahead of it, to its left and to its right.
constexpr std::array<Step, 4> kAheadLeft{{{0, 0}, {-1, 0}, {-1, -1}, {0, -1}}};
constexpr std::array<Step, 4> kAheadRight{{{0, -1}, {0, 0}, {-1, 0}, {-1, -1}}};

}  // namespace

BitGrid::BitGrid(int lines, int length)
    : lines_(lines), length_(length), row_((static_cast<std::size_t>(length) + 63) / 64), words_(static_cast<std::size_t>(lines) * row_) {}

int BitGrid::next(int line, int cell, std::uint64_t flip) const {
  const std::uint64_t* const row = words_.data() + static_cast<std::size_t>(line) * row_;
  auto at = static_cast<std::size_t>(cell) / 64;
  if (at >= row_) return length_;
  std::uint64_t word = (row[at] ^ flip) & ~std::uint64_t{0} << (cell & 63);
  while (word == 0) {
    if (++at >= row_) return length_;
    word = row[at] ^ flip;
  }
  return std::min(length_, static_cast<int>(64 * at) + std::countr_zero(word));
}

BitGrid BitGrid::transposed() const {
  BitGrid turned(length_, lines_);
  std::array<std::uint64_t, 64> block{};
  for (int line = 0; line < lines_; line += 64) {
    for (int cell = 0; cell < length_; cell += 64) {
      for (int k = 0; k < 64; ++k) {
        const bool there = line + k < lines_;
        block[static_cast<std::size_t>(k)] =
            there ? words_[static_cast<std::size_t>(line + k) * row_ + static_cast<std::size_t>(cell / 64)] : ~std::uint64_t{0};
      }
      transpose(block);
      for (int k = 0; k < 64 && cell + k < length_; ++k) {
        turned.words(cell + k)[static_cast<std::size_t>(line / 64)] = block[static_cast<std::size_t>(k)];
      }
    }
  }
  return turned;
}

Walls::Walls(const OccupancyMap& map) : width_(map.width()), height_(map.height()) {
  if (width_ > kMaxSide || height_ > kMaxSide) return;
  rows_ = BitGrid(height_, width_);
  for (int j = 0; j < height_; ++j) {
    const std::uint8_t* const cells = map.blocked_cells().data() + static_cast<std::size_t>(j) * static_cast<std::size_t>(width_);
    const std::span<std::uint64_t> words = rows_.words(j);
    for (std::size_t w = 0; w < words.size(); ++w) {
      const std::size_t count = std::min<std::size_t>(64, static_cast<std::size_t>(width_) - 64 * w);
      words[w] = gather_bits(cells + 64 * w, count) | (count < 64 ? ~std::uint64_t{0} << count : 0);
    }
  }
  find_components();
  available_ = trace();
  if (!available_) {
    vertices_ = {};
    outline_ends_ = {};
    runs_ = {};
    row_runs_ = {};
    rows_ = {};
    return;
  }
  columns_ = rows_.transposed();
  index_edges();
}

// Runs of free cells, joined with those they touch in the row below.
void Walls::find_components() {
  std::vector<std::uint32_t> parents;
  std::vector<std::int32_t> ends;
  row_runs_.reserve(static_cast<std::size_t>(height_) + 1);
  for (int j = 0; j < height_; ++j) {
    row_runs_.push_back(static_cast<std::uint32_t>(runs_.size()));
    std::size_t below = j > 0 ? row_runs_[static_cast<std::size_t>(j) - 1] : 0;
    const std::size_t below_end = j > 0 ? row_runs_[static_cast<std::size_t>(j)] : 0;
    for (int i = rows_.next_free(j, 0); i < width_;) {
      const int end = rows_.next_blocked(j, i);
      const auto self = static_cast<std::uint32_t>(runs_.size());
      runs_.push_back({i, self});
      ends.push_back(end);
      parents.push_back(self);
      while (below < below_end && ends[below] <= i) ++below;
      for (std::size_t k = below; k < below_end && runs_[k].first < end; ++k) {
        const std::uint32_t a = root_of(parents, self);
        const std::uint32_t b = root_of(parents, static_cast<std::uint32_t>(k));
        parents[std::max(a, b)] = std::min(a, b);
      }
      i = rows_.next_free(j, end);
    }
  }
  row_runs_.push_back(static_cast<std::uint32_t>(runs_.size()));
  for (std::uint32_t k = 0; k < runs_.size(); ++k) runs_[k].component = root_of(parents, k);
  runs_.shrink_to_fit();
}

std::uint32_t Walls::component(int i, int j) const {
  if (rows_.blocked(j, i)) return kNone;
  const auto first = runs_.begin() + row_runs_[static_cast<std::size_t>(j)];
  const auto last = runs_.begin() + row_runs_[static_cast<std::size_t>(j) + 1];
  return std::prev(std::upper_bound(first, last, i, [](int cell, const Run& run) { return cell < run.first; }))->component;
}

// Every outline has a lower edge of a free cell. `seen` marks the cells whose lower edge has been traced; the first
// one left in a row starts a straight run of edges, since the rest of that run would have been traced with it.
bool Walls::trace() {
  const std::size_t row = (static_cast<std::size_t>(width_) + 63) / 64;
  std::vector<std::uint64_t> seen(row * static_cast<std::size_t>(height_));
  for (int j = 0; j < height_; ++j) {
    for (std::size_t w = 0; w < row; ++w) {
      const std::uint64_t below = j > 0 ? rows_.words(j - 1)[w] : ~std::uint64_t{0};
      const std::uint64_t lower = ~rows_.words(j)[w] & below;
      while (const std::uint64_t left = lower & ~seen[static_cast<std::size_t>(j) * row + w]) {
        trace_outline(static_cast<int>(64 * w) + std::countr_zero(left), j, seen);
        if (vertices_.size() > kMaxVertices) return false;
      }
    }
  }
  vertices_.resize(vertices_.size() + kPadding);
  vertices_.shrink_to_fit();
  return true;
}

// Where four cells meet with free ones across a diagonal, the outline turns left: it stays with its own component.
void Walls::trace_outline(int i, int j, std::vector<std::uint64_t>& seen) {
  const std::size_t row = (static_cast<std::size_t>(width_) + 63) / 64;
  const std::size_t first = vertices_.size();
  const auto push = [&](int x, int y) { vertices_.push_back(static_cast<std::uint32_t>(x) | static_cast<std::uint32_t>(y) << 16); };
  int x = i;
  int y = j;
  std::size_t direction = 0;
  push(x, y);
  for (;;) {
    if (direction == 0) seen[static_cast<std::size_t>(y) * row + static_cast<std::size_t>(x >> 6)] |= std::uint64_t{1} << (x & 63);
    x += kSteps[direction].x;
    y += kSteps[direction].y;
    if (rows_.blocked(y + kAheadLeft[direction].y, x + kAheadLeft[direction].x)) {
      direction = (direction + 1) % 4;
    } else if (rows_.blocked(y + kAheadRight[direction].y, x + kAheadRight[direction].x)) {
      continue;
    } else {
      direction = (direction + 3) % 4;
    }
    if (x == i && y == j && direction == 0) break;
    push(x, y);
    if (vertices_.size() > kMaxVertices) return;
  }
  const std::uint32_t start = vertices_[first];
  vertices_.push_back(start);
  vertices_.push_back(start);
  outline_ends_.push_back(static_cast<std::uint32_t>(vertices_.size() - 2));
}

std::uint32_t Walls::last_corner(std::uint32_t edge) const { return *std::upper_bound(outline_ends_.begin(), outline_ends_.end(), edge); }

std::array<int, 2> Walls::ends(std::uint32_t edge) const {
  const bool vertical = (edge & 1) != 0;
  const int a = vertical ? y_of(vertices_[edge]) : x_of(vertices_[edge]);
  const int b = vertical ? y_of(vertices_[edge + 1]) : x_of(vertices_[edge + 1]);
  return {std::min(a, b), std::max(a, b)};
}

std::span<const std::uint32_t> Walls::edges_on(Facing facing, int line) const {
  const Index& index = index_[static_cast<std::size_t>(facing)];
  const std::uint32_t first = index.first[static_cast<std::size_t>(line)];
  return {index.edges.data() + first, index.first[static_cast<std::size_t>(line) + 1] - first};
}

void Walls::index_edges() {
  struct Entry {
    std::uint32_t edge;
    int line;
    int low;
  };
  std::array<std::vector<Entry>, 4> entries;
  std::uint32_t k = 0;
  for (const std::uint32_t end : outline_ends_) {
    for (; k < end; ++k) {
      const bool vertical = (k & 1) != 0;
      const int x = x_of(vertices_[k]);
      const int y = y_of(vertices_[k]);
      // Free space to the left of an edge that leads up is hit by what travels right, and so on.
      const Facing facing = vertical ? (y_of(vertices_[k + 1]) > y ? Facing::kRight : Facing::kLeft)
                                     : (x_of(vertices_[k + 1]) > x ? Facing::kDown : Facing::kUp);
      entries[static_cast<std::size_t>(facing)].push_back({k, vertical ? x : y, ends(k)[0]});
    }
    k = end + 2;
  }
  for (std::size_t f = 0; f < 4; ++f) {
    std::vector<Entry>& all = entries[f];
    const auto lines = static_cast<std::size_t>(f < 2 ? width_ : height_) + 1;
    std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.line != b.line ? a.line < b.line : a.low < b.low; });
    Index& index = index_[f];
    index.first.assign(lines + 1, 0);
    index.edges.reserve(all.size());
    for (const Entry& entry : all) {
      ++index.first[static_cast<std::size_t>(entry.line) + 1];
      index.edges.push_back(entry.edge);
    }
    for (std::size_t line = 0; line < lines; ++line) index.first[line + 1] += index.first[line];
  }
}

std::size_t Walls::bytes() const {
  std::size_t sum = rows_.bytes() + columns_.bytes() + 4 * (row_runs_.capacity() + vertices_.capacity() + outline_ends_.capacity());
  sum += sizeof(Run) * runs_.capacity();
  for (const Index& index : index_) sum += 4 * (index.first.capacity() + index.edges.capacity());
  return sum;
}

}  // namespace pitwall::tracks
