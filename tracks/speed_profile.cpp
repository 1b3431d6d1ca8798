// SPDX-License-Identifier: Apache-2.0
#include "tracks/speed_profile.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"

namespace pitwall::tracks {
namespace {

// Share of the longitudinal limit that remains at `use` of the lateral one.
double share_left(double use, const SpeedLimits& limits) {
  if (!limits.friction_ellipse) return 1.0;
  return limits.grip_shape == GripShape::kCircle ? std::sqrt(std::max(0.0, 1.0 - use * use)) : std::max(0.0, 1.0 - std::fabs(use));
}

// Greatest w = v^2 with w <= start + change * share_left(w k): what the end of a piece allows itself. `start` where its cornering
// leaves nothing (its own ceiling is then the bound).
double allowed_at_end(double start, double change, double k, const SpeedLimits& limits) {
  if (!limits.friction_ellipse) return start + change;
  if (start * k >= 1.0) return start;
  if (limits.grip_shape == GripShape::kDiamond) return (start + change) / (1.0 + change * k);
  const double stretch = 1.0 + change * change * k * k;
  return (start + std::sqrt(std::max(0.0, start * start - stretch * (start * start - change * change)))) / stretch;
}

// One direction of travel along a piece of the line: what the motor (or the brake) and the grip give.
struct Push {
  double most_mps2;
  bool is_motor;
};

// Speed at most reachable over `ds` from a neighbour that runs at `v` through curvature `kappa` to one with `kappa_to`.
double reachable(double v, double kappa, double kappa_to, Push push, double ds, const SpeedLimits& limits) {
  const double share = share_left(v * v * kappa / limits.lateral_mps2, limits);
  const bool separate = limits.longitudinal_grip_mps2 > 0.0;
  const double grip = separate ? limits.longitudinal_grip_mps2 : push.most_mps2;
  double most = push.most_mps2;
  if (push.is_motor && v > limits.full_drive_to_mps) most *= limits.full_drive_to_mps / v;
  const double a = separate ? std::min(most, grip * share) : most * share;
  const double square = v * v + 2.0 * a * ds;
  if (!limits.grip_at_both_ends) return std::sqrt(square);
  return std::sqrt(std::min(square, allowed_at_end(v * v, 2.0 * (separate ? grip : most) * ds, kappa_to / limits.lateral_mps2, limits)));
}

// Curvature without its sign, and without what is narrower than the window.
std::vector<double> smooth(const Path& path, const std::vector<double>& given, std::int64_t window) {
  const auto n = static_cast<std::int64_t>(path.size());
  std::vector<double> kappa(path.size());
  for (std::int64_t i = 0; i < n; ++i) {
    double sum = 0.0;
    double count = 0.0;
    for (std::int64_t k = i - window; k <= i + window; ++k) {
      if (!path.closed() && (k < 0 || k >= n)) continue;
      sum += given[static_cast<std::size_t>(((k % n) + n) % n)];
      count += 1.0;
    }
    kappa[static_cast<std::size_t>(i)] = std::fabs(sum / count);
  }
  return kappa;
}

struct Profile {
  const Path& path;
  const SpeedLimits& limits;
  const std::vector<double>& kappa;
  std::vector<double> speed;
  std::size_t start;  // where the passes begin: the slowest ceiling of a closed path, which no neighbour can lower

  [[nodiscard]] double length_after(std::size_t i) const {
    return i + 1 < path.size() ? path.s_of(i + 1) - path.s_of(i) : path.length_m() - path.s_of(i);
  }
  // Visits the segments once, along or against the path, as (from, to, length); says whether a speed fell.
  bool pass(bool forward) {
    const std::size_t n = path.size();
    const Push push{forward ? limits.accelerate_mps2 : limits.brake_mps2, forward};
    bool changed = false;
    for (std::size_t k = 0; k < path.segments(); ++k) {
      const std::size_t segment = forward ? (start + k) % n : (start + path.segments() - 1 - k) % n;
      const std::size_t after = (segment + 1) % n;
      const std::size_t from = forward ? segment : after;
      const std::size_t to = forward ? after : segment;
      const double most = reachable(speed[from], kappa[from], kappa[to], push, length_after(segment), limits);
      if (most < speed[to]) {
        speed[to] = most;
        changed = true;
      }
    }
    return changed;
  }
};

}  // namespace

void SpeedLimits::fields(FieldVisitor& f) {
  f.number("v_max_mps", v_max_mps, {"m/s", 0.01, 100.0, "highest speed"});
  f.number("v_min_mps", v_min_mps, {"m/s", 0.0, 100.0, "floor of the profile, below the curvature and braking limits"});
  f.number("lateral_mps2", lateral_mps2, {"m/s^2", 0.01, 100.0, "lateral acceleration"});
  f.number("accelerate_mps2", accelerate_mps2, {"m/s^2", 0.01, 100.0, "acceleration"});
  f.number("brake_mps2", brake_mps2, {"m/s^2", 0.01, 100.0, "deceleration"});
  f.integer("passes", passes, {"", 1.0, 1000.0, "forward and backward passes at most"});
  f.flag("friction_ellipse", friction_ellipse, "braking and acceleration share the grip with cornering");
  f.enumeration("grip_shape", grip_shape, kGripShapes, "how they share it");
  f.number("longitudinal_grip_mps2", longitudinal_grip_mps2,
           {"m/s^2", 0.0, 100.0, "grip along the car, of which motor and brake use what they can; 0: they end the ellipse"});
  f.number("full_drive_to_mps", full_drive_to_mps, {"m/s", 0.1, 100.0, "above it the motor's power is constant"});
  f.integer("curvature_window", curvature_window, {"", 0.0, 1000.0, "half width, in points, of the moving average over the curvature"});
  f.flag("grip_at_both_ends", grip_at_both_ends, "the limit holds at both ends of each piece of the line");
}

std::vector<double> speed_profile(const Path& path, const SpeedLimits& limits) {
  std::vector<double> kappa(path.size());
  for (std::size_t i = 0; i < kappa.size(); ++i) kappa[i] = path.vertex_curvature(i);
  return speed_profile(path, kappa, limits);
}

std::vector<double> speed_profile(const Path& path, const std::vector<double>& curvature_per_m, const SpeedLimits& limits) {
  const std::size_t n = path.size();
  PITWALL_CHECK(curvature_per_m.size() == n, curvature_per_m.size(), n);
  const std::vector<double> kappa = smooth(path, curvature_per_m, limits.curvature_window);
  std::vector<double> ceiling(n);
  for (std::size_t i = 0; i < n; ++i) {
    ceiling[i] = std::min(limits.v_max_mps, std::sqrt(limits.lateral_mps2 / std::max(kappa[i], 1e-6)));
  }
  if (!path.closed()) ceiling[n - 1] = 0.0;
  const auto slowest = std::min_element(ceiling.begin(), ceiling.end()) - ceiling.begin();
  Profile profile{path, limits, kappa, ceiling, path.closed() ? static_cast<std::size_t>(slowest) : 0};
  for (std::int64_t k = 0; k < limits.passes; ++k) {
    const bool faster_than_drive = profile.pass(true);
    const bool faster_than_brake = profile.pass(false);
    if (!faster_than_drive && !faster_than_brake) break;
  }
  // The floor keeps a car that comes out of a slow corner from creeping; it gives no right to corner or brake harder.
  for (std::size_t i = 0; i < n; ++i) profile.speed[i] = std::max(profile.speed[i], std::min(limits.v_min_mps, ceiling[i]));
  profile.pass(false);
  return profile.speed;
}

double lap_time_s(const Path& path, const std::vector<double>& speed_mps) {
  PITWALL_CHECK(speed_mps.size() == path.size(), speed_mps.size(), path.size());
  double time = 0.0;
  for (std::size_t i = 0; i < path.segments(); ++i) {
    const std::size_t next = (i + 1) % path.size();
    const double ds = (i + 1 < path.size() ? path.s_of(i + 1) : path.length_m()) - path.s_of(i);
    time += 2.0 * ds / (speed_mps[i] + speed_mps[next]);
  }
  return time;
}

}  // namespace pitwall::tracks
