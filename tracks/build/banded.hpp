// SPDX-License-Identifier: Apache-2.0
// Symmetric systems along a line: each block of unknowns is coupled to its neighbours only, on a closed line also across the
// seam. The seam is taken out by folding the line (0, n-1, 1, n-2, ...), which makes a cyclic band an ordinary one of twice the
// width; factored as L D L^T without fill beyond the band, in time proportional to the length of the line.
#pragma once

#include <cstddef>
#include <vector>

namespace pitwall::tracks::build {

/// A symmetric matrix of `blocks` blocks of `block_size` unknowns, zero beyond `reach` blocks from the diagonal. Unknown k of
/// block i has index i * block_size + k.
class BandedMatrix {
 public:
  BandedMatrix(std::size_t blocks, std::size_t block_size, std::size_t reach, bool cyclic);

  [[nodiscard]] std::size_t size() const { return blocks_ * block_size_; }
  void set_zero();
  /// Adds to the entries (row, column) and (column, row); once on the diagonal. Their blocks are within reach of each other.
  void add(std::size_t row, std::size_t column, double value);
  /// The product with x.
  [[nodiscard]] std::vector<double> times(const std::vector<double>& x) const;
  /// Factors the matrix plus `diagonal`; false where it is not positive definite.
  [[nodiscard]] bool factor(const std::vector<double>& diagonal);
  /// The solution for the right-hand side, after factor().
  [[nodiscard]] std::vector<double> solve(const std::vector<double>& right) const;

 private:
  [[nodiscard]] std::size_t place(std::size_t unknown) const;
  [[nodiscard]] double& entry(std::vector<double>& of, std::size_t row, std::size_t column) const {
    return of[row * (band_ + 1) + (row - column)];
  }
  [[nodiscard]] double entry(const std::vector<double>& of, std::size_t row, std::size_t column) const {
    return of[row * (band_ + 1) + (row - column)];
  }

  std::size_t blocks_;
  std::size_t block_size_;
  bool cyclic_;
  std::size_t band_;                // below the diagonal, in the folded order
  std::vector<std::size_t> place_;  // of each unknown in the folded order
  std::vector<double> lower_;       // row by row: diagonal first, then to the left
  std::vector<double> factor_;
};

}  // namespace pitwall::tracks::build
