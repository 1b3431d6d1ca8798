// SPDX-License-Identifier: Apache-2.0
// A cubic spline through points, over the length of their chords: closed (periodic) or open (no bending at its ends). What a
// line is resampled with: linear interpolation would leave corners, and curvature is what the optimisers work on.
#pragma once

#include <vector>

#include "core/geometry.hpp"

namespace pitwall::tracks::build {

class Spline {
 public:
  /// At least 3 points (closed: 5), no two neighbours the same.
  Spline(std::vector<Vec2> points, bool closed);

  [[nodiscard]] double length_m() const { return length_m_; }
  /// `count` points at equal distances along the curve, from the first point on; on an open one the last point is the end.
  [[nodiscard]] std::vector<Vec2> evenly(std::size_t count) const;
  /// Signed curvature in 1/m at those points, left positive.
  [[nodiscard]] std::vector<double> curvatures(std::size_t count) const;

 private:
  struct Place {
    std::size_t segment;
    double part;  // 0 .. 1
  };
  [[nodiscard]] std::vector<Place> places(std::size_t count) const;
  [[nodiscard]] std::size_t segments() const { return chord_.size(); }
  [[nodiscard]] std::size_t next(std::size_t i) const { return i + 1 == points_.size() ? 0 : i + 1; }
  [[nodiscard]] Vec2 at(const Place& place) const;

  std::vector<Vec2> points_;
  std::vector<Vec2> bend_;     // second derivative at the points
  std::vector<double> chord_;  // lengths of the segments
  std::vector<double> along_;  // arc length at pieces of the segments
  double length_m_ = 0.0;
  bool closed_;
};

}  // namespace pitwall::tracks::build
