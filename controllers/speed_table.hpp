// SPDX-License-Identifier: Apache-2.0
// Rows of numbers by speed, 0.25 m/s apart: what a law has worked out beforehand, linear between two speeds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "controllers/lateral_model.hpp"

namespace pitwall::controllers {

class SpeedTable {
 public:
  /// Number of rows of a table from kSlowest_mps up to a speed, at least 2.
  static std::size_t rows_up_to(double max_speed_mps) {
    return 2 + static_cast<std::size_t>(std::ceil(std::max(0.0, max_speed_mps - kSlowest_mps) / kStep_mps));
  }
  /// Speed of row i.
  static double speed_of(std::size_t i) { return kSlowest_mps + kStep_mps * static_cast<double>(i); }

  /// Appends a row; all have one length.
  void add(std::span<const double> row) {
    width_ = row.size();
    values_.insert(values_.end(), row.begin(), row.end());
  }

  /// The row at a speed; below the first and above the last speed that of the first and the last.
  struct Row {
    const double* low;
    const double* high;
    double share;
    double operator[](std::size_t i) const { return low[i] + share * (high[i] - low[i]); }
  };
  /// At least two rows must have been added.
  [[nodiscard]] Row at(double speed_mps) const {
    const std::size_t rows = values_.size() / width_;
    const double place = std::clamp((speed_mps - kSlowest_mps) / kStep_mps, 0.0, static_cast<double>(rows - 1));
    const std::size_t low = std::min(static_cast<std::size_t>(place), rows - 2);
    return {values_.data() + low * width_, values_.data() + (low + 1) * width_, place - static_cast<double>(low)};
  }

 private:
  static constexpr double kStep_mps = 0.25;
  std::size_t width_ = 1;
  std::vector<double> values_;
};

}  // namespace pitwall::controllers
