// SPDX-License-Identifier: Apache-2.0
#include "tracks/line_check.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/text.hpp"

namespace pitwall::tracks {
namespace {

constexpr double kSameVertex_m = 1e-3;
constexpr double kGap_m = 1.0;
constexpr double kGapOfUsual = 10.0;

std::string numbered(const std::vector<Vec2>& points, std::size_t i) {
  return "point " + std::to_string(i + 1) + " of " + std::to_string(points.size()) + " " + format_place(points[i].x, points[i].y);
}

/// Whether two segments have a point in common.
bool cross_each_other(Vec2 a, Vec2 b, Vec2 c, Vec2 d) {
  if (std::max(a.x, b.x) < std::min(c.x, d.x) || std::max(c.x, d.x) < std::min(a.x, b.x)) return false;
  if (std::max(a.y, b.y) < std::min(c.y, d.y) || std::max(c.y, d.y) < std::min(a.y, b.y)) return false;
  const double side_c = cross(b - a, c - a);
  const double side_d = cross(b - a, d - a);
  const double side_a = cross(d - c, a - c);
  const double side_b = cross(d - c, b - c);
  return !(side_c * side_d > 0.0) && !(side_a * side_b > 0.0);
}

Status check_spacing(const std::vector<Vec2>& points, bool closed) {
  const std::size_t segments = closed ? points.size() : points.size() - 1;
  std::vector<double> lengths;
  for (std::size_t i = 0; i < segments; ++i) {
    const std::size_t next = (i + 1) % points.size();
    lengths.push_back(distance(points[i], points[next]));
    if (lengths.back() >= kSameVertex_m) continue;
    return Error{numbered(points, i) + " and " + numbered(points, next) + " are the same: at least 1 mm between neighbours is needed"};
  }
  std::vector<double> sorted = lengths;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
  const double most = std::max(kGap_m, kGapOfUsual * sorted[sorted.size() / 2]);
  for (std::size_t i = 0; i < segments; ++i) {
    if (lengths[i] <= most) continue;
    return Error{"a gap of " + format_number(lengths[i], 4) + " m after " + numbered(points, i) + ": at most " + format_number(most, 3) +
                 " m is allowed" + (closed && i + 1 == segments ? " (is the line an open one?)" : "")};
  }
  return {};
}

Status check_crossings(const std::vector<Vec2>& points, bool closed) {
  const std::size_t n = points.size();
  const std::size_t segments = closed ? n : n - 1;
  for (std::size_t i = 0; i < segments; ++i) {
    for (std::size_t j = i + 2; j < segments; ++j) {
      if (closed && i == 0 && j + 1 == segments) continue;  // neighbours across the seam
      if (!cross_each_other(points[i], points[i + 1], points[j], points[(j + 1) % n])) continue;
      return Error{"the line crosses itself: between points " + std::to_string(i + 1) + " and " + std::to_string(i + 2) + " " +
                   format_place(points[i].x, points[i].y) + " and between " + std::to_string(j + 1) + " and " +
                   std::to_string((j + 1) % n + 1)};
    }
  }
  return {};
}

}  // namespace

Status check_line(const std::vector<Vec2>& points, bool closed) {
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!std::isfinite(points[i].x) || !std::isfinite(points[i].y))
      return Error{"point " + std::to_string(i + 1) + " of " + std::to_string(points.size()) + " is not finite"};
  }
  if (points.size() < 3) return Error{std::to_string(points.size()) + " points: a line needs at least 3"};
  if (const Status spaced = check_spacing(points, closed); !spaced) return spaced;
  return check_crossings(points, closed);
}

std::optional<std::string> check_direction(const Path& line, const Path& centre) {
  double along = 0.0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const Projection on_centre = centre.project(line.points()[i]);
    along += dot(unit_vector(line.heading_at(line.s_of(i))), unit_vector(on_centre.heading_rad));
  }
  if (along >= 0.0) return std::nullopt;
  return "the line runs against the direction of the centre line; turn its points round";
}

std::optional<std::string> check_walls(const Path& line, const OccupancyMap& map, const DistanceField& distance_field,
                                       double half_width_m) {
  for (const Vec2 p : line.points()) {
    const Vec2 cell = map.to_grid(p);
    if (cell.x >= 0.0 && cell.y >= 0.0 && cell.x < map.width() && cell.y < map.height()) continue;
    return "the line leaves the map at " + format_place(p.x, p.y);
  }
  const LineClearance nearest = smallest_clearance(map, distance_field, line);
  if (nearest.clearance_m >= half_width_m) return std::nullopt;
  return "the line comes within " + format_number(nearest.clearance_m, 3) + " m of a wall at s = " + format_number(nearest.s_m, 5) + " m " +
         format_place(nearest.where.x, nearest.where.y) + ": half the car is " + format_number(half_width_m, 3) + " m";
}

}  // namespace pitwall::tracks
