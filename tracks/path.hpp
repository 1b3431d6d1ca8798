// SPDX-License-Identifier: Apache-2.0
// A polyline with arc length: the one place where a position becomes progress along a line and a signed distance from
// it. Projection is onto segments, never onto vertices. d (lateral) is positive to the left of the line.
#pragma once

#include <cstddef>
#include <vector>

#include "core/geometry.hpp"
#include "core/result.hpp"

namespace pitwall::tracks {

/// Where a point lies relative to a path.
struct Projection {
  double s_m = 0.0;          ///< arc length of the foot point, [0, length)
  double lateral_m = 0.0;    ///< signed distance to the foot point, positive to the left
  double heading_rad = 0.0;  ///< of the segment of the foot point
  Vec2 foot;                 ///< the nearest point on the path
  std::size_t segment = 0;
};

/// Coordinates along and across a path. Unlike a Projection, which sends a whole wedge outside a corner to one vertex, they
/// are continuous and invertible: the normal turns evenly between the bisectors at the vertices of a segment.
struct Frenet {
  double s_m = 0.0;
  double d_m = 0.0;  ///< positive to the left
};

/// A closed or open polyline of at least 3 (closed) or 2 (open) points. On a closed path the last point connects to the
/// first and every s is taken modulo length().
class Path {
 public:
  /// Refused by number: fewer points, non-finite ones, neighbours nearer than 1e-6 m. A repeated first point at the end of
  /// a closed path is dropped.
  static Result<Path> make(std::vector<Vec2> points, bool closed);

  [[nodiscard]] bool closed() const { return closed_; }
  [[nodiscard]] double length_m() const { return length_m_; }
  [[nodiscard]] std::size_t size() const { return points_.size(); }
  [[nodiscard]] const std::vector<Vec2>& points() const { return points_; }
  /// Arc length of point i.
  [[nodiscard]] double s_of(std::size_t i) const { return s_[i]; }
  [[nodiscard]] std::size_t segments() const { return closed_ ? points_.size() : points_.size() - 1; }

  /// s brought into [0, length) on a closed path, clamped to [0, length] on an open one.
  [[nodiscard]] double wrap_s(double s_m) const;
  /// Shortest signed way from `from` to `to` along the path: in (-length/2, length/2] if closed.
  [[nodiscard]] double s_difference(double to_m, double from_m) const;
  /// Segment that holds s (binary search).
  [[nodiscard]] std::size_t segment_at(double s_m) const;
  [[nodiscard]] Vec2 point_at(double s_m) const;
  /// Heading at s, interpolated between the mean headings of the vertices, so that it is continuous.
  [[nodiscard]] double heading_at(double s_m) const;
  /// Signed curvature at s in 1/m (Menger, left positive), interpolated between vertices.
  [[nodiscard]] double curvature_at(double s_m) const;
  /// Signed Menger curvature of vertex i; 0 at the ends of an open path.
  [[nodiscard]] double vertex_curvature(std::size_t i) const { return curvature_[i]; }

  /// Nearest point of the whole path; of equally near ones that of the smallest s.
  [[nodiscard]] Projection project(Vec2 p) const;
  /// Nearest point among those within [s_hint - back, s_hint + ahead]: what progress is tracked with, since it cannot
  /// jump to another part of the track that passes nearby. Of equally near points the first on the way from the back
  /// of the window. Costs the segments of the window only; back and ahead are not negative.
  [[nodiscard]] Projection project_near(Vec2 p, double s_hint_m, double back_m, double ahead_m) const;

  /// The point d to the left of s.
  [[nodiscard]] Vec2 from_frenet(Frenet at) const;
  /// The inverse of from_frenet() in the neighbourhood of `near` (a projection of p), exact to rounding where |d| is less
  /// than the radius of curvature. Beyond the ends of an open path s is clamped and d is the distance across.
  [[nodiscard]] Frenet to_frenet(Vec2 p, const Projection& near) const;

 private:
  Path() = default;
  [[nodiscard]] std::size_t next(std::size_t i) const { return i + 1 == points_.size() ? 0 : i + 1; }
  [[nodiscard]] Vec2 vertex_normal(std::size_t i) const;
  [[nodiscard]] Projection finish(Vec2 p, std::size_t segment, double along_m) const;

  std::vector<Vec2> points_;
  std::vector<double> s_;
  std::vector<Vec2> tangent_;            // of segments, unit
  std::vector<double> segment_length_;   // of segments
  std::vector<double> segment_heading_;  // of segments
  std::vector<double> curvature_;        // of vertices
  std::vector<double> heading_;          // of vertices: half-way between the headings of their segments
  double length_m_ = 0.0;
  bool closed_ = true;
};

}  // namespace pitwall::tracks
