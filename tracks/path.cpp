// SPDX-License-Identifier: Apache-2.0
#include "tracks/path.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace pitwall::tracks {
namespace {

constexpr double kMinSpacing = 1e-6;

std::string describe(const std::vector<Vec2>& points, std::size_t i) {
  return "point " + std::to_string(i + 1) + " of " + std::to_string(points.size()) + " (" + std::to_string(points[i].x) + ", " +
         std::to_string(points[i].y) + ")";
}

// Menger's curvature 4 A / (a b c) with the sign of the turn. It is 0 again for a path that doubles back on itself, so that
// from a right angle on the turn per length takes over.
double signed_curvature(Vec2 before, Vec2 at, Vec2 after) {
  const Vec2 in = at - before;
  const Vec2 out = after - at;
  const double lengths = norm(in) + norm(out);
  if (dot(in, out) <= 0.0) return 2.0 * math::atan2(cross(in, out), dot(in, out)) / lengths;
  return 2.0 * cross(in, out) / (norm(in) * norm(out) * norm(after - before));
}

// The root of c0 + c1 t + c2 t^2 that goes to -c0 / c1 as c2 goes to 0.
double root_near_linear(double c0, double c1, double c2) {
  const double discriminant = c1 * c1 - 4.0 * c0 * c2;
  const double q = std::fabs(c1) + std::sqrt(std::max(0.0, discriminant));
  if (q == 0.0) return 0.0;
  return (c1 >= 0.0 ? -2.0 : 2.0) * c0 / q;
}

}  // namespace

Result<Path> Path::make(std::vector<Vec2> points, bool closed) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!std::isfinite(points[i].x) || !std::isfinite(points[i].y)) return Error{describe(points, i) + " is not finite"};
  }
  if (closed && points.size() > 1 && distance(points.front(), points.back()) < kMinSpacing) points.pop_back();
  const std::size_t least = closed ? 3 : 2;
  if (points.size() < least) {
    return Error{"a " + std::string(closed ? "closed" : "open") + " path needs at least " + std::to_string(least) + " points, has " +
                 std::to_string(points.size())};
  }
  Path path;
  path.closed_ = closed;
  path.points_ = std::move(points);
  const std::size_t n = path.points_.size();
  double s = 0.0;
  for (std::size_t i = 0; i < path.segments(); ++i) {
    const Vec2 along = path.points_[path.next(i)] - path.points_[i];
    const double length = norm(along);
    if (length < kMinSpacing) {
      return Error{describe(path.points_, i) + " and the next are " + std::to_string(1e6 * length) + " um apart, at least 1 um is needed"};
    }
    path.s_.push_back(s);
    path.tangent_.push_back((1.0 / length) * along);
    path.segment_length_.push_back(length);
    path.segment_heading_.push_back(math::atan2(along.y, along.x));
    s += length;
  }
  if (!closed) path.s_.push_back(s);
  path.length_m_ = s;
  if (!std::isfinite(s)) return Error{"the length of the path is not finite"};
  path.curvature_.assign(n, 0.0);
  path.heading_.assign(n, path.segment_heading_.back());
  if (!closed) path.heading_[0] = path.segment_heading_[0];
  for (std::size_t i = closed ? 0 : 1; i < path.segments(); ++i) {
    const std::size_t before = i == 0 ? n - 1 : i - 1;
    path.curvature_[i] = signed_curvature(path.points_[before], path.points_[i], path.points_[path.next(i)]);
    path.heading_[i] =
        wrap_angle(path.segment_heading_[before] + 0.5 * wrap_angle(path.segment_heading_[i] - path.segment_heading_[before]));
  }
  return path;
}

double Path::wrap_s(double s_m) const {
  if (!closed_) return std::clamp(s_m, 0.0, length_m_);
  double s = std::fmod(s_m, length_m_);
  if (s < 0.0) s += length_m_;
  return s < length_m_ ? s : 0.0;
}

double Path::s_difference(double to_m, double from_m) const {
  if (!closed_) return to_m - from_m;
  const double way = std::remainder(to_m - from_m, length_m_);
  return way <= -0.5 * length_m_ ? way + length_m_ : way;
}

std::size_t Path::segment_at(double s_m) const {
  const double s = wrap_s(s_m);
  const auto after = std::upper_bound(s_.begin(), s_.end(), s);
  const auto index = static_cast<std::size_t>(after - s_.begin());
  return std::min(index == 0 ? 0 : index - 1, segments() - 1);
}

Vec2 Path::point_at(double s_m) const {
  const double s = wrap_s(s_m);
  const std::size_t i = segment_at(s);
  const double t = (s - s_[i]) / segment_length_[i];
  return points_[i] + t * (points_[next(i)] - points_[i]);
}

double Path::heading_at(double s_m) const {
  const double s = wrap_s(s_m);
  const std::size_t i = segment_at(s);
  const double t = (s - s_[i]) / segment_length_[i];
  return wrap_angle(heading_[i] + t * wrap_angle(heading_[next(i)] - heading_[i]));
}

double Path::curvature_at(double s_m) const {
  const double s = wrap_s(s_m);
  const std::size_t i = segment_at(s);
  const double t = (s - s_[i]) / segment_length_[i];
  return curvature_[i] + t * (curvature_[next(i)] - curvature_[i]);
}

// `along_m` is measured from the start of the segment and lies within it.
Projection Path::finish(Vec2 p, std::size_t segment, double along_m) const {
  const double length = segment_length_[segment];
  Vec2 direction = tangent_[segment];
  Projection result;
  if (along_m >= length && (closed_ || segment + 1 < segments())) {
    segment = next(segment);
    along_m = 0.0;
  }
  if (along_m <= 0.0) {
    result.foot = points_[segment];
    direction = unit_vector(heading_[segment]);
  } else if (along_m >= length) {
    result.foot = points_[next(segment)];
  } else {
    result.foot = points_[segment] + along_m * tangent_[segment];
  }
  result.segment = segment;
  result.s_m = closed_ ? wrap_s(s_[segment] + along_m) : std::min(s_[segment] + along_m, length_m_);
  result.heading_rad = segment_heading_[segment];
  const Vec2 across = p - result.foot;
  const double d = norm(across);
  result.lateral_m = cross(direction, across) < 0.0 ? -d : d;
  return result;
}

Projection Path::project(Vec2 p) const {
  std::size_t best = 0;
  double best_along = 0.0;
  double best_squared = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < segments(); ++i) {
    const Vec2 from_start = p - points_[i];
    const double along = std::clamp(dot(from_start, tangent_[i]), 0.0, segment_length_[i]);
    const Vec2 across = from_start - along * tangent_[i];
    const double squared = dot(across, across);
    if (squared < best_squared) {
      best = i;
      best_along = along;
      best_squared = squared;
    }
  }
  return finish(p, best, best_along);
}

Projection Path::project_near(Vec2 p, double s_hint_m, double back_m, double ahead_m) const {
  if (closed_ && back_m + ahead_m >= length_m_) return project(p);
  const double hint = wrap_s(s_hint_m);
  const double start = wrap_s(hint - back_m);
  double left = closed_ ? back_m + ahead_m : std::min(hint + ahead_m, length_m_) - start;
  std::size_t i = segment_at(start);
  double low = start - s_[i];  // the window begins and ends inside a segment
  std::size_t best = i;
  double best_along = low;
  double best_squared = std::numeric_limits<double>::infinity();
  for (std::size_t visited = 0; visited <= segments(); ++visited) {
    const double high = std::min(segment_length_[i], low + left);
    const Vec2 from_start = p - points_[i];
    const double along = std::max(low, std::min(dot(from_start, tangent_[i]), high));
    const Vec2 across = from_start - along * tangent_[i];
    const double squared = dot(across, across);
    if (squared < best_squared) {
      best = i;
      best_along = along;
      best_squared = squared;
    }
    left -= high - low;
    if (!(left > 0.0) || (!closed_ && i + 1 == segments())) break;
    i = closed_ ? next(i) : i + 1;
    low = 0.0;
  }
  return finish(p, best, best_along);
}

Vec2 Path::vertex_normal(std::size_t i) const { return perpendicular(unit_vector(heading_[i])); }

Vec2 Path::from_frenet(Frenet at) const {
  const double s = wrap_s(at.s_m);
  const std::size_t i = segment_at(s);
  const double t = (s - s_[i]) / segment_length_[i];
  const Vec2 a = vertex_normal(i);
  const Vec2 normal = a + t * (vertex_normal(next(i)) - a);
  const double length = norm(normal);
  const Vec2 unit = length > 1e-9 ? (1.0 / length) * normal : perpendicular(tangent_[i]);
  return points_[i] + t * (points_[next(i)] - points_[i]) + at.d_m * unit;
}

// On the segment from a to b with vertex normals n_a, n_b: find t with (p - a - t (b - a)) parallel to n_a + t (n_b - n_a).
Frenet Path::to_frenet(Vec2 p, const Projection& near) const {
  constexpr int kMostNeighbours = 16;  // a point projects at most a few segments away from its coordinate
  std::size_t i = near.segment;
  double t = 0.0;
  Vec2 edge;
  Vec2 a_normal;
  Vec2 turn;
  for (int step = 0; step < kMostNeighbours; ++step) {
    edge = points_[next(i)] - points_[i];
    a_normal = vertex_normal(i);
    turn = vertex_normal(next(i)) - a_normal;
    const Vec2 from_a = p - points_[i];
    t = root_near_linear(cross(from_a, a_normal), cross(from_a, turn) - cross(edge, a_normal), -cross(edge, turn));
    if (t < 0.0 && (closed_ || i > 0)) {
      i = i == 0 ? segments() - 1 : i - 1;
    } else if (t > 1.0 && (closed_ || i + 1 < segments())) {
      i = closed_ ? next(i) : i + 1;
    } else {
      break;
    }
  }
  t = std::clamp(t, 0.0, 1.0);
  const Vec2 normal = a_normal + t * turn;
  const double length = norm(normal);
  const Vec2 unit = length > 1e-9 ? (1.0 / length) * normal : perpendicular(tangent_[i]);
  return {wrap_s(s_[i] + t * segment_length_[i]), dot(p - points_[i] - t * edge, unit)};
}

}  // namespace pitwall::tracks
