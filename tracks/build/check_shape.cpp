// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/math.hpp"
#include "core/text.hpp"
#include "tracks/build/generator.hpp"

namespace pitwall::tracks::build {
namespace {

constexpr double kStraightRadius = 50.0;

/// Signed curvature of the circle through three points (Menger).
double curvature(Vec2 a, Vec2 b, Vec2 c) { return 2.0 * cross(b - a, c - b) / (distance(a, b) * distance(b, c) * distance(a, c)); }

/// Whether the open segments a-b and c-d cross or touch.
bool segments_meet(Vec2 a, Vec2 b, Vec2 c, Vec2 d) {
  const double side_c = cross(b - a, c - a);
  const double side_d = cross(b - a, d - a);
  const double side_a = cross(d - c, a - c);
  const double side_b = cross(d - c, b - c);
  return side_c * side_d <= 0.0 && side_a * side_b <= 0.0;
}

struct Nearest {
  double wall = std::numeric_limits<double>::infinity();
  std::size_t a = 0;
  std::size_t b = 0;
};

/// The least wall between parts of the track that pass one another. Points nearer along the line than a half circle
/// as wide as the least centre distance belong to one corner: a line that nowhere turns tighter than such a circle is
/// farther apart there by Schur's comparison theorem.
Nearest least_wall(const CentreLine& line, double spacing, double min_wall) {
  Nearest nearest;
  const std::size_t n = line.points.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      const double halves = line.half_width_m[i] + line.half_width_m[j];
      const double along = spacing * static_cast<double>(std::min(j - i, n - (j - i)));
      if (along < 0.5 * math::kPi * (halves + min_wall)) continue;
      const Vec2 apart = line.points[j] - line.points[i];
      const double farthest = nearest.wall + halves;
      if (dot(apart, apart) >= farthest * farthest) continue;
      nearest = {norm(apart) - halves, i, j};
    }
  }
  return nearest;
}

double longest_straight(const std::vector<double>& curvatures, double spacing) {
  std::size_t best = 0;
  std::size_t run = 0;
  // Twice around, since a straight may hold the first point.
  for (std::size_t k = 0; k < 2 * curvatures.size() && run < curvatures.size(); ++k) {
    run = std::abs(curvatures[k % curvatures.size()]) < 1.0 / kStraightRadius ? run + 1 : 0;
    best = std::max(best, run);
  }
  return spacing * static_cast<double>(best);
}

}  // namespace

Result<ShapeReport> check_shape(const TrackPlan& plan, const CentreLine& line) {
  const std::string name = "track '" + plan.name + "': ";
  const std::vector<Vec2>& points = line.points;
  const std::size_t n = points.size();
  ShapeReport report;
  for (std::size_t i = 0; i < n; ++i) report.length_m += distance(points[i], points[(i + 1) % n]);
  const double spacing = report.length_m / static_cast<double>(n);

  // Over a metre of line rather than three neighbours, whose rounding to 1e-6 m would show.
  const auto reach = std::max<std::size_t>(1, static_cast<std::size_t>(0.25 / spacing));
  std::vector<double> curvatures;
  std::size_t tightest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    curvatures.push_back(curvature(points[(i + n - reach) % n], points[i], points[(i + reach) % n]));
    if (std::abs(curvatures[i]) > std::abs(curvatures[tightest])) tightest = i;
  }
  report.min_radius_m = 1.0 / std::abs(curvatures[tightest]);
  report.longest_straight_m = longest_straight(curvatures, spacing);

  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 2; j < n; ++j) {
      if (i == 0 && j == n - 1) continue;
      if (std::abs(points[i].x - points[j].x) > 2.0 * spacing || std::abs(points[i].y - points[j].y) > 2.0 * spacing) continue;
      if (segments_meet(points[i], points[i + 1], points[j], points[(j + 1) % n])) {
        return Error{name + "the centre line crosses itself at " + format_place(points[i].x, points[i].y)};
      }
    }
  }
  const bool hall = plan.shape == Shape::kHall;
  const double least_radius = hall ? plan.min_radius_m : std::max(plan.min_radius_m, line.half_width_m[tightest]);
  if (report.min_radius_m < least_radius) {
    return Error{name + "radius " + format_metres(report.min_radius_m) + " at " + format_place(points[tightest].x, points[tightest].y) +
                 ": must be at least " + format_metres(least_radius) + " (min_radius_m = " + format_metres(plan.min_radius_m) +
                 ", half width " + format_metres(line.half_width_m[tightest]) + ")"};
  }
  if (hall) {
    report.min_wall_m = std::numeric_limits<double>::infinity();
    return report;
  }
  const Nearest nearest = least_wall(line, spacing, plan.min_wall_m);
  report.min_wall_m = nearest.wall;
  if (nearest.wall < plan.min_wall_m) {
    return Error{name + format_metres(nearest.wall) + " of wall between " + format_place(points[nearest.a].x, points[nearest.a].y) +
                 " and " + format_place(points[nearest.b].x, points[nearest.b].y) + ": must be at least " + format_metres(plan.min_wall_m)};
  }
  return report;
}

}  // namespace pitwall::tracks::build
