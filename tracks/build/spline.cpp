// SPDX-License-Identifier: Apache-2.0
#include "tracks/build/spline.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "tracks/build/banded.hpp"

namespace pitwall::tracks::build {
namespace {

constexpr std::size_t kPieces = 8;  // of a segment, for its length

}  // namespace

Spline::Spline(std::vector<Vec2> points, bool closed) : points_(std::move(points)), closed_(closed) {
  const std::size_t n = points_.size();
  PITWALL_CHECK(n >= (closed ? 5U : 3U), n);
  const std::size_t count = closed ? n : n - 1;
  for (std::size_t i = 0; i < count; ++i) {
    chord_.push_back(distance(points_[i], points_[next(i)]));
    PITWALL_CHECK(chord_.back() > 0.0, i);
  }
  // The slopes on both sides of each point agree: h_- m_- + 2 (h_- + h_+) m + h_+ m_+ = 6 (step_+ / h_+ - step_- / h_-).
  BandedMatrix matrix(n, 1, 1, closed);
  std::vector<double> right_x(n, 0.0), right_y(n, 0.0), none(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    if (!closed && (i == 0 || i + 1 == n)) {
      matrix.add(i, i, 1.0);
      continue;
    }
    const std::size_t before = i == 0 ? n - 1 : i - 1;
    matrix.add(i, i, 2.0 * (chord_[before] + chord_[i]));
    const bool next_is_free = closed || i + 2 < n;
    if (next_is_free) matrix.add(i, next(i), chord_[i]);
    const Vec2 turn = (6.0 / chord_[i]) * (points_[next(i)] - points_[i]) - (6.0 / chord_[before]) * (points_[i] - points_[before]);
    right_x[i] = turn.x;
    right_y[i] = turn.y;
  }
  const bool factored = matrix.factor(none);
  PITWALL_CHECK(factored);
  const std::vector<double> x = matrix.solve(right_x);
  const std::vector<double> y = matrix.solve(right_y);
  for (std::size_t i = 0; i < n; ++i) bend_.push_back({x[i], y[i]});
  along_.push_back(0.0);
  Vec2 last = points_[0];
  for (std::size_t i = 0; i < segments(); ++i) {
    for (std::size_t k = 1; k <= kPieces; ++k) {
      const Vec2 p = at({i, static_cast<double>(k) / kPieces});
      length_m_ += distance(last, p);
      along_.push_back(length_m_);
      last = p;
    }
  }
}

Vec2 Spline::at(const Place& place) const {
  const std::size_t i = place.segment;
  const double b = place.part;
  const double a = 1.0 - b;
  const double h = chord_[i];
  return a * points_[i] + b * points_[next(i)] + (h * h / 6.0) * ((a * a * a - a) * bend_[i] + (b * b * b - b) * bend_[next(i)]);
}

std::vector<Spline::Place> Spline::places(std::size_t count) const {
  std::vector<Place> places;
  const double pieces = static_cast<double>(closed_ ? count : count - 1);
  std::size_t k = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double s = std::min(length_m_, length_m_ * static_cast<double>(i) / pieces);
    while (k + 2 < along_.size() && along_[k + 1] <= s) ++k;
    const double part = std::clamp((s - along_[k]) / (along_[k + 1] - along_[k]), 0.0, 1.0);
    places.push_back({k / kPieces, (static_cast<double>(k % kPieces) + part) / kPieces});
  }
  return places;
}

std::vector<Vec2> Spline::evenly(std::size_t count) const {
  std::vector<Vec2> points;
  for (const Place& place : places(count)) points.push_back(at(place));
  return points;
}

std::vector<double> Spline::curvatures(std::size_t count) const {
  std::vector<double> curvatures;
  for (const Place& place : places(count)) {
    const std::size_t i = place.segment;
    const double b = place.part;
    const double a = 1.0 - b;
    const double h = chord_[i];
    const Vec2 slope =
        (1.0 / h) * (points_[next(i)] - points_[i]) + (h / 6.0) * ((1.0 - 3.0 * a * a) * bend_[i] + (3.0 * b * b - 1.0) * bend_[next(i)]);
    const Vec2 bend = a * bend_[i] + b * bend_[next(i)];
    const double speed = norm(slope);
    curvatures.push_back(cross(slope, bend) / (speed * speed * speed));
  }
  return curvatures;
}

}  // namespace pitwall::tracks::build
