// SPDX-License-Identifier: Apache-2.0
#include "scenarios/turning_circle.hpp"

#include <algorithm>
#include <cmath>

#include "core/math.hpp"
#include "core/text.hpp"

namespace pitwall::scenarios {
namespace {

/// Kept to each wall by whoever drives.
constexpr double kMargin_m = 0.05;
/// Curvature is that of pieces this long.
constexpr double kPiece_m = 0.4;

/// A stretch that turns one way.
struct Corner {
  double from_m = 0.0;
  double length_m = 0.0;
  double turned_rad = 0.0;
  double half_width_m = 1e9;
};

std::optional<std::string> judge(const Corner& corner, double least_radius_m, double half_car_m) {
  const double turned = std::abs(corner.turned_rad);
  if (turned < 0.1) return std::nullopt;
  const double radius = corner.length_m / turned;
  const double free = corner.half_width_m - half_car_m - kMargin_m;
  const double c = math::cos(0.5 * std::min(turned, math::kPi));
  const double widest = radius + std::max(0.0, free) * (1.0 + c) / (1.0 - c);
  if (free > 0.0 && widest >= least_radius_m) return std::nullopt;
  return "the corner at s = " + format_number(corner.from_m, 4) + " m (radius " + format_number(radius, 3) + " m, " +
         format_number(turned * 180.0 / math::kPi, 3) + " degrees, corridor " + format_number(2.0 * corner.half_width_m, 3) +
         " m) leaves an arc of " + format_number(widest, 3) + " m; the car turns within " + format_number(least_radius_m, 4) + " m";
}

/// Half a turn from the place s on, straights between its corners included, if the line makes one without turning back.
std::optional<std::string> judge_half_turn(const tracks::Line& centre, double s, double least_radius_m, double half_car_m) {
  constexpr double kBack_rad = 0.2;
  const tracks::Path& path = centre.path;
  const double heading = path.heading_at(s);
  double turned = 0.0;
  double farthest = 0.0;
  double half_width = 1e9;
  double before = heading;
  for (double way = kPiece_m; way < path.length_m(); way += kPiece_m) {
    const double at = path.wrap_s(s + way);
    const double now = path.heading_at(at);
    turned += wrap_angle(now - before);
    before = now;
    const std::size_t i = path.segment_at(at);
    if (i < centre.width_left_m.size() && i < centre.width_right_m.size())
      half_width = std::min(half_width, 0.5 * (centre.width_left_m[i] + centre.width_right_m[i]));
    farthest = std::max(farthest, std::abs(turned));
    if (std::abs(turned) < farthest - kBack_rad) return std::nullopt;
    if (std::abs(turned) < math::kPi) continue;
    const double apart = std::abs(cross(unit_vector(heading), path.point_at(at) - path.point_at(s)));
    const double widest = 0.5 * apart + std::max(0.0, half_width - half_car_m - kMargin_m);
    if (widest >= least_radius_m) return std::nullopt;
    return "the half turn at s = " + format_number(s, 4) + " m, between ways " + format_number(apart, 3) + " m apart, leaves an arc of " +
           format_number(widest, 3) + " m; the car turns within " + format_number(least_radius_m, 4) + " m";
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> turning_circle_refusal(const tracks::Line& centre, const CarParameters& car) {
  const tracks::Path& path = centre.path;
  const double lock = std::min(car.steering_max_left_rad, -car.steering_max_right_rad);
  const double least_radius = car.wheelbase_m / math::tan(lock);
  const double half_car = 0.5 * car.width_m;
  // Gentler than half of what the car can do is no corner.
  const double corner_from = 0.5 / least_radius;
  Corner corner;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const double s = path.s_of(i);
    const double step = (i + 1 < path.size() ? path.s_of(i + 1) : path.length_m()) - s;
    const double turned = wrap_angle(path.heading_at(path.wrap_s(s + 0.5 * kPiece_m)) - path.heading_at(path.wrap_s(s - 0.5 * kPiece_m)));
    const double kappa = turned / kPiece_m;
    const bool turns = std::abs(kappa) > corner_from;
    if (corner.length_m > 0.0 && (!turns || kappa * corner.turned_rad < 0.0)) {
      if (auto refusal = judge(corner, least_radius, half_car)) return refusal;
      corner = {};
    }
    if (!turns) continue;
    if (corner.length_m == 0.0) corner.from_m = s;
    corner.length_m += step;
    corner.turned_rad += kappa * step;
    if (i < centre.width_left_m.size() && i < centre.width_right_m.size())
      corner.half_width_m = std::min(corner.half_width_m, 0.5 * (centre.width_left_m[i] + centre.width_right_m[i]));
  }
  if (corner.length_m > 0.0) {
    if (auto refusal = judge(corner, least_radius, half_car)) return refusal;
  }
  for (double s = 0.0; path.closed() && s < path.length_m(); s += kPiece_m) {
    if (auto refusal = judge_half_turn(centre, s, least_radius, half_car)) return refusal;
  }
  return std::nullopt;
}

}  // namespace pitwall::scenarios
