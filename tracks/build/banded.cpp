// SPDX-License-Identifier: Apache-2.0
#include "tracks/build/banded.hpp"

#include <algorithm>

#include "core/check.hpp"

namespace pitwall::tracks::build {

BandedMatrix::BandedMatrix(std::size_t blocks, std::size_t block_size, std::size_t reach, bool cyclic)
    : blocks_(blocks), block_size_(block_size), cyclic_(cyclic) {
  PITWALL_CHECK(blocks > 2 * reach && block_size > 0, blocks, reach);
  const std::size_t folded_reach = cyclic ? 2 * reach : reach;
  band_ = std::min(folded_reach * block_size + block_size - 1, size() - 1);
  place_.resize(size());
  for (std::size_t i = 0; i < size(); ++i) place_[i] = place(i);
  set_zero();
}

std::size_t BandedMatrix::place(std::size_t unknown) const {
  const std::size_t block = unknown / block_size_;
  const std::size_t within = unknown % block_size_;
  if (!cyclic_) return unknown;
  const std::size_t half = (blocks_ + 1) / 2;
  const std::size_t folded = block < half ? 2 * block : 2 * (blocks_ - 1 - block) + 1;
  return folded * block_size_ + within;
}

void BandedMatrix::set_zero() { lower_.assign(size() * (band_ + 1), 0.0); }

void BandedMatrix::add(std::size_t row, std::size_t column, double value) {
  const std::size_t i = std::max(place_[row], place_[column]);
  const std::size_t j = std::min(place_[row], place_[column]);
  PITWALL_CHECK(i - j <= band_, row, column);
  entry(lower_, i, j) += value;
}

std::vector<double> BandedMatrix::times(const std::vector<double>& x) const {
  std::vector<double> folded(size());
  for (std::size_t i = 0; i < size(); ++i) folded[place_[i]] = x[i];
  std::vector<double> product(size(), 0.0);
  for (std::size_t i = 0; i < size(); ++i) {
    product[i] += entry(lower_, i, i) * folded[i];
    for (std::size_t j = i - std::min(i, band_); j < i; ++j) {
      product[i] += entry(lower_, i, j) * folded[j];
      product[j] += entry(lower_, i, j) * folded[i];
    }
  }
  std::vector<double> result(size());
  for (std::size_t i = 0; i < size(); ++i) result[i] = product[place_[i]];
  return result;
}

bool BandedMatrix::factor(const std::vector<double>& diagonal) {
  factor_ = lower_;
  for (std::size_t i = 0; i < size(); ++i) entry(factor_, place_[i], place_[i]) += diagonal[i];
  for (std::size_t i = 0; i < size(); ++i) {
    const std::size_t first = i - std::min(i, band_);
    double* const row = &factor_[i * (band_ + 1)];  // row[k] is the entry k to the left of the diagonal
    for (std::size_t j = first; j < i; ++j) {
      const double* const above = &factor_[j * (band_ + 1)];
      // Here row j holds L, row i still L D: entry (i, j) = A_ij - sum of (L D)_ik L_jk.
      double sum = row[i - j];
      for (std::size_t k = std::max(first, j - std::min(j, band_)); k < j; ++k) sum -= row[i - k] * above[j - k];
      row[i - j] = sum;
    }
    double pivot = row[0];
    for (std::size_t j = first; j < i; ++j) {
      const double scaled = row[i - j] / factor_[j * (band_ + 1)];
      pivot -= row[i - j] * scaled;
      row[i - j] = scaled;
    }
    if (!(pivot > 0.0)) return false;
    row[0] = pivot;
  }
  return true;
}

std::vector<double> BandedMatrix::solve(const std::vector<double>& right) const {
  std::vector<double> x(size());
  for (std::size_t i = 0; i < size(); ++i) x[place_[i]] = right[i];
  for (std::size_t i = 0; i < size(); ++i) {
    for (std::size_t j = i - std::min(i, band_); j < i; ++j) x[i] -= entry(factor_, i, j) * x[j];
  }
  for (std::size_t i = size(); i-- > 0;) {
    x[i] /= entry(factor_, i, i);
    for (std::size_t k = i + 1; k <= std::min(size() - 1, i + band_); ++k) {
      // L^T: what row k owes column i; divided already where k was visited.
      x[i] -= entry(factor_, k, i) * x[k];
    }
  }
  std::vector<double> result(size());
  for (std::size_t i = 0; i < size(); ++i) result[i] = x[place_[i]];
  return result;
}

}  // namespace pitwall::tracks::build
