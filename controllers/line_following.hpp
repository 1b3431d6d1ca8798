// SPDX-License-Identifier: Apache-2.0
// Following a line: where along it the car is, which point of it to aim at, and how fast to go there.
// The law is pure pursuit (R. C. Coulter, "Implementation of the pure pursuit path tracking algorithm", CMU-RI-TR-92-01,
// 1992): the arc from the rear axle through a point of the line one lookahead away, kappa = 2 y / (x^2 + y^2).
// The point is where the lookahead circle crosses the line, found on its segments, so that the steering does not depend
// on how the line is sampled.
#pragma once

#include <optional>
#include <span>

#include "core/car.hpp"
#include "core/geometry.hpp"
#include "tracks/path.hpp"

namespace pitwall::controllers {

/// Where the car is on its line.
struct LineFix {
  tracks::Projection on_line;
  double heading_error_rad = 0.0;  ///< heading of the car against the segment, (-pi, pi]
};

/// Keeps the place on the line from one tick to the next, so that another part of the track that passes nearby (the
/// other leg of a hairpin, the crossing of a figure eight) is never mistaken for this one.
class LineTracker {
 public:
  struct Settings {
    double window_m = 2.0;           ///< how far behind or ahead of the last place to look, at most
    double max_cross_track_m = 1.0;  ///< beyond it the whole line is searched; still beyond: off the line
  };
  LineTracker() = default;
  explicit LineTracker(const Settings& settings) : settings_(settings) {}

  /// Forgets the place: the next locate() searches the whole line.
  void release() { anchor_s_m_.reset(); }
  /// The place of `T_map_base` on the path, having moved about `travelled_m` since the last call; nothing when the whole
  /// line is farther than max_cross_track, or runs against the car (more than 100 degrees). A car that is `shift_m` to
  /// the left of the line on purpose is not blamed for it.
  std::optional<LineFix> locate(const tracks::Path& path, const Pose2& T_map_base, double travelled_m, double shift_m = 0.0);

 private:
  Settings settings_;
  std::optional<double> anchor_s_m_;
};

/// Lookahead distance of pure pursuit: gain_s * |v| + min, within [min, max], and never below what keeps the loop stable.
struct Lookahead {
  double gain_s = 0.15;
  double min_m = 0.6;
  double max_m = 1.5;
  double delay_s = 0.0;  ///< from a pose to the wheels having answered it

  /// The loop of pure pursuit bears a delay of kStability * lookahead / speed.
  static constexpr double kStability = 0.52;

  /// In metres, for a speed and a distance from the line. Pure pursuit with a delay T is stable only while about
  /// 0.52 Ld >= v T, and meets the line at 45 degrees at most while Ld >= sqrt(2) |d|: both override max_m.
  [[nodiscard]] double distance_m(double speed_mps, double lateral_m) const;
};

/// From a steering command to the wheels: transport delay, servo lag, and half a control period of waiting, in s.
double steering_delay_s(const CarParameters& car, double control_period_s);
/// The same for the speed: transport delay, lag of the braking speed loop, and half a control period.
double braking_delay_s(const CarParameters& car, double control_period_s);

/// How much a steady turn of the single-track car falls short of the kinematic one: kappa = tan(delta) / (L + K v^2), K in
/// s^2/m; 0 where the tyres are not known.
double understeer_s2_per_m(const CarParameters& car);

/// The highest speed from which `distance_m` is enough: v delay + v^2 / (2 decel) = distance; 0 for none, +inf for all.
double stopping_speed_mps(double distance_m, double decel_mps2, double delay_s);

/// A point of the (shifted) line to aim at.
struct Target {
  Vec2 point;
  double s_m = 0.0;
};

/// How far left of the line the car is to drive, by arc length; nothing: on it.
class LineShift {
 public:
  LineShift() = default;
  /// `at(context, s_m)` in m. What `context` points to outlives the shift.
  LineShift(double (*at)(const void* context, double s_m), const void* context) : at_(at), context_(context) {}
  double operator()(double s_m) const { return at_ == nullptr ? 0.0 : at_(context_, s_m); }
  [[nodiscard]] bool none() const { return at_ == nullptr; }

 private:
  double (*at_)(const void*, double) = nullptr;
  const void* context_ = nullptr;
};

/// The first point ahead of `from_s_m` where the line, shifted to the left along its normal, leaves the
/// circle of radius `lookahead_m` about `centre`; on an open path the last segment goes on for ever. Where the line
/// never leaves the circle within 1.5 lookaheads of arc (a hairpin inside it), the point at that arc.
Target lookahead_target(const tracks::Path& path, Vec2 centre, double from_s_m, double lookahead_m, const LineShift& shift_m);

/// Signed curvature in 1/m of the arc from the rear axle through a target; 0 for a target on the axle.
double pursuit_curvature(const Pose2& T_map_base, Vec2 target_map);
/// Steering angle in rad of a curvature, for the kinematic single-track car.
double steering_for(double curvature_per_m, double wheelbase_m);

/// Speed at s between the speeds at the vertices, as constant acceleration between them would have it (linear in v^2).
double speed_at(const tracks::Path& path, std::span<const double> speed_mps, double s_m);
/// Smallest speed within [s, s + ahead_m]: what is commanded now to drive the profile there on time.
double speed_ahead(const tracks::Path& path, std::span<const double> speed_mps, double s_m, double ahead_m);

// ---------------------------------------------------------------------------------------------------------------------

namespace detail {
/// The point at arc s of a path, moved left by `offset_m` along the (interpolated) normal; beyond the end of an open path
/// its last segment is prolonged.
Vec2 shifted_point(const tracks::Path& path, double s_m, double offset_m);
/// Share t in [0, 1] of the way from a to b at which the distance from c grows to r; a is within the circle.
double leave_circle(Vec2 a, Vec2 b, Vec2 c, double r);
/// Arc length of the first vertex after s, at most s + step.
double next_knot(const tracks::Path& path, double s_m, double step_m);
}  // namespace detail

}  // namespace pitwall::controllers
