// SPDX-License-Identifier: Apache-2.0
#include "controllers/line_following.hpp"

#include <algorithm>
#include <cmath>

#include "core/car.hpp"

namespace pitwall::controllers {

namespace {

// Beyond it the car looks against the line: a pursuit would turn round on the track.
constexpr double kMaxHeadingError_rad = 100.0 * math::kPi / 180.0;

// Of all segments that run with the car, the nearest. The nearest of all may be the other leg of a hairpin.
std::optional<double> search_whole_line(const tracks::Path& path, const Pose2& T_map_base, double within_m) {
  const Vec2 p = T_map_base.position();
  const Vec2 forward = unit_vector(T_map_base.yaw);
  const std::vector<Vec2>& points = path.points();
  double best = within_m * within_m;
  std::optional<double> found;
  for (std::size_t i = 0; i < path.segments(); ++i) {
    const Vec2 a = points[i];
    const Vec2 ab = points[i + 1 < points.size() ? i + 1 : 0] - a;
    if (dot(ab, forward) <= 0.0) continue;
    const double t = std::clamp(dot(p - a, ab) / dot(ab, ab), 0.0, 1.0);
    const Vec2 away = p - (a + t * ab);
    if (const double d2 = dot(away, away); d2 < best) {
      best = d2;
      found = path.s_of(i) + t * norm(ab);
    }
  }
  return found;
}

}  // namespace

std::optional<LineFix> LineTracker::locate(const tracks::Path& path, const Pose2& T_map_base, double travelled_m, double shift_m,
                                           std::optional<double> within_m) {
  const double farthest = within_m.value_or(settings_.max_cross_track_m);
  // As far as the car can have come, and half a metre for a corrected pose: a wide window would reach round a hairpin.
  constexpr double kSlack_m = 0.5;
  const Vec2 p = T_map_base.position();
  const auto fix_at = [&](const tracks::Projection& q) { return LineFix{q, wrap_angle(T_map_base.yaw - q.heading_rad)}; };
  if (anchor_s_m_) {
    const double reach = std::min(settings_.window_m, kSlack_m + 2.0 * std::abs(travelled_m));
    const LineFix fix = fix_at(path.project_near(p, *anchor_s_m_, std::min(settings_.window_m, kSlack_m), reach));
    if (std::abs(fix.on_line.lateral_m - shift_m) <= farthest && std::abs(fix.heading_error_rad) <= kMaxHeadingError_rad) {
      anchor_s_m_ = fix.on_line.s_m;
      return fix;
    }
  }
  anchor_s_m_.reset();
  const std::optional<double> s = search_whole_line(path, T_map_base, farthest + std::abs(shift_m));
  if (!s) return std::nullopt;
  const LineFix fix = fix_at(path.project_near(p, *s, 0.1, 0.1));
  if (std::abs(fix.heading_error_rad) > kMaxHeadingError_rad) return std::nullopt;
  if (std::abs(fix.on_line.lateral_m - shift_m) > farthest) return std::nullopt;
  anchor_s_m_ = fix.on_line.s_m;
  return fix;
}

double Lookahead::distance_m(double speed_mps, double lateral_m) const {
  const double v = std::abs(speed_mps);
  const double wanted = std::clamp(gain_s * v + min_m, min_m, max_m);
  return std::max({wanted, v * delay_s / kStability, std::sqrt(2.0) * std::abs(lateral_m)});
}

double steering_delay_s(const CarParameters& car, double control_period_s) {
  const double lag = car.steering_servo_gain_per_s > 0.0 ? 1.0 / car.steering_servo_gain_per_s : 0.0;
  return car.steering_delay_s + lag + 0.5 * control_period_s;
}

double braking_delay_s(const CarParameters& car, double control_period_s) {
  const double lag = car.speed_loop_brake_gain_per_s > 0.0 ? 1.0 / car.speed_loop_brake_gain_per_s : 0.0;
  return car.speed_delay_s + lag + 0.5 * control_period_s;
}

double understeer_s2_per_m(const CarParameters& car) {
  if (car.cornering_stiffness_front <= 0.0 || car.cornering_stiffness_rear <= 0.0 || car.surface_friction <= 0.0) return 0.0;
  return (1.0 / car.cornering_stiffness_front - 1.0 / car.cornering_stiffness_rear) / (car.surface_friction * kGravity_mps2);
}

double stopping_speed_mps(double distance_m, double decel_mps2, double delay_s) {
  if (!(distance_m > 0.0)) return 0.0;
  if (std::isinf(distance_m)) return distance_m;
  const double lost = decel_mps2 * delay_s;
  const double square = 2.0 * decel_mps2 * distance_m;
  return square / (lost + std::sqrt(lost * lost + square));
}

double pursuit_curvature(const Pose2& T_map_base, Vec2 target_map) {
  const Vec2 p = rotate(-T_map_base.yaw, target_map - T_map_base.position());
  const double d2 = dot(p, p);
  return d2 < 1e-12 ? 0.0 : 2.0 * p.y / d2;
}

double steering_for(double curvature_per_m, double wheelbase_m) { return math::atan(wheelbase_m * curvature_per_m); }

namespace {

double speed_in_segment(const tracks::Path& path, std::span<const double> speed_mps, std::size_t segment, double s_m) {
  const std::size_t next = segment + 1 < path.size() ? segment + 1 : 0;
  const double end = segment + 1 < path.size() ? path.s_of(segment + 1) : path.length_m();
  const double t = std::clamp((s_m - path.s_of(segment)) / (end - path.s_of(segment)), 0.0, 1.0);
  const double a = speed_mps[segment];
  const double b = speed_mps[next];
  return std::sqrt(std::max(0.0, a * a + t * (b * b - a * a)));
}

}  // namespace

double speed_at(const tracks::Path& path, std::span<const double> speed_mps, double s_m) {
  const double s = path.wrap_s(s_m);
  return speed_in_segment(path, speed_mps, path.segment_at(s), s);
}

double speed_ahead(const tracks::Path& path, std::span<const double> speed_mps, double s_m, double ahead_m) {
  double s = path.wrap_s(s_m);
  std::size_t segment = path.segment_at(s);
  double slowest = speed_in_segment(path, speed_mps, segment, s);
  for (double left = std::max(0.0, ahead_m); left > 0.0;) {
    const bool last = segment + 1 == path.segments();
    const double end = segment + 1 < path.size() ? path.s_of(segment + 1) : path.length_m();
    if (end - s >= left) return std::min(slowest, speed_in_segment(path, speed_mps, segment, s + left));
    slowest = std::min(slowest, speed_in_segment(path, speed_mps, segment, end));
    left -= end - s;
    if (last && !path.closed()) return slowest;
    segment = last ? 0 : segment + 1;
    s = last ? 0.0 : end;
  }
  return slowest;
}

namespace detail {

Vec2 shifted_point(const tracks::Path& path, double s_m, double offset_m) {
  const double beyond = path.closed() ? 0.0 : std::max(0.0, s_m - path.length_m());
  const double s = path.wrap_s(s_m);
  if (offset_m == 0.0 && beyond == 0.0) return path.point_at(s);
  const Vec2 forward = unit_vector(path.heading_at(s));
  return path.point_at(s) + beyond * forward + offset_m * Vec2{-forward.y, forward.x};
}

double leave_circle(Vec2 a, Vec2 b, Vec2 c, double r) {
  const Vec2 ab = b - a;
  const Vec2 ca = a - c;
  const double qa = dot(ab, ab);
  if (qa < 1e-18) return 1.0;
  const double qb = dot(ca, ab);
  const double qc = dot(ca, ca) - r * r;
  const double root = std::sqrt(std::max(0.0, qb * qb - qa * qc));
  return std::clamp((root - qb) / qa, 0.0, 1.0);
}

double next_knot(const tracks::Path& path, double s_m, double step_m) {
  // Below it a vertex counts as passed: s and a vertex's s may differ in the last bits.
  constexpr double kHere_m = 1e-9;
  const double s = path.wrap_s(s_m);
  const std::size_t segment = path.segment_at(s);
  if (!path.closed() && s >= path.length_m() - kHere_m) return s_m + step_m;
  double end = segment + 1 < path.size() ? path.s_of(segment + 1) : path.length_m();
  if (end - s < kHere_m) {
    const std::size_t after = segment + 1 < path.segments() ? segment + 1 : 0;
    const double length = (after + 1 < path.size() ? path.s_of(after + 1) : path.length_m()) - path.s_of(after);
    return s_m + std::min(step_m, (end - s) + length);
  }
  return s_m + std::min(step_m, end - s);
}

}  // namespace detail

Target lookahead_target(const tracks::Path& path, Vec2 centre, double from_s_m, double lookahead_m, const LineShift& shift_m) {
  // A shifted line is not made of straight pieces; a piece of 0.25 m is off by less than 3 mm at a radius of 3 m.
  constexpr double kStep_m = 0.25;
  const double longest_m = 1.5 * lookahead_m + norm(detail::shifted_point(path, from_s_m, shift_m(from_s_m)) - centre);
  double s = from_s_m;
  Vec2 a = detail::shifted_point(path, s, shift_m(s));
  while (s < from_s_m + longest_m) {
    const double next = detail::next_knot(path, s, kStep_m);
    const Vec2 b = detail::shifted_point(path, next, shift_m(next));
    if (norm(b - centre) >= lookahead_m) {
      const double t = detail::leave_circle(a, b, centre, lookahead_m);
      return {a + t * (b - a), s + t * (next - s)};
    }
    s = next;
    a = b;
  }
  return {a, s};
}

}  // namespace pitwall::controllers
