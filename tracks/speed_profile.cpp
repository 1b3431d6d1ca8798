// SPDX-License-Identifier: Apache-2.0
#include "tracks/speed_profile.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"

namespace pitwall::tracks {
namespace {

// Speed at most reachable over `ds` from a neighbour that runs at `v` through curvature `kappa`: what the friction ellipse
// leaves for the longitudinal direction there.
double reachable(double v, double kappa, double longitudinal_mps2, double ds, const SpeedLimits& limits) {
  double share = 1.0;
  if (limits.friction_ellipse) {
    const double lateral = v * v * kappa / limits.lateral_mps2;
    share = std::sqrt(std::max(0.0, 1.0 - lateral * lateral));
  }
  return std::sqrt(v * v + 2.0 * longitudinal_mps2 * share * ds);
}

struct Profile {
  const Path& path;
  const SpeedLimits& limits;
  std::vector<double> speed;
  std::size_t start;  // where the passes begin: the slowest ceiling of a closed path, which no neighbour can lower

  [[nodiscard]] double kappa(std::size_t i) const { return std::fabs(path.vertex_curvature(i)); }
  [[nodiscard]] double length_after(std::size_t i) const {
    return i + 1 < path.size() ? path.s_of(i + 1) - path.s_of(i) : path.length_m() - path.s_of(i);
  }
  // Visits the segments once, along or against the path, as (from, to, length); says whether a speed fell.
  bool pass(bool forward, double longitudinal_mps2) {
    const std::size_t n = path.size();
    bool changed = false;
    for (std::size_t k = 0; k < path.segments(); ++k) {
      const std::size_t segment = forward ? (start + k) % n : (start + path.segments() - 1 - k) % n;
      const std::size_t after = (segment + 1) % n;
      const std::size_t from = forward ? segment : after;
      const std::size_t to = forward ? after : segment;
      const double most = reachable(speed[from], kappa(from), longitudinal_mps2, length_after(segment), limits);
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
}

std::vector<double> speed_profile(const Path& path, const SpeedLimits& limits) {
  const std::size_t n = path.size();
  std::vector<double> ceiling(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double kappa = std::max(std::fabs(path.vertex_curvature(i)), 1e-6);
    ceiling[i] = std::min(limits.v_max_mps, std::sqrt(limits.lateral_mps2 / kappa));
  }
  if (!path.closed()) ceiling[n - 1] = 0.0;
  const auto slowest = std::min_element(ceiling.begin(), ceiling.end()) - ceiling.begin();
  Profile profile{path, limits, ceiling, path.closed() ? static_cast<std::size_t>(slowest) : 0};
  for (std::int64_t k = 0; k < limits.passes; ++k) {
    const bool faster_than_drive = profile.pass(true, limits.accelerate_mps2);
    const bool faster_than_brake = profile.pass(false, limits.brake_mps2);
    if (!faster_than_drive && !faster_than_brake) break;
  }
  // The floor keeps a car that comes out of a slow corner from creeping; it gives no right to corner or brake harder.
  for (std::size_t i = 0; i < n; ++i) profile.speed[i] = std::max(profile.speed[i], std::min(limits.v_min_mps, ceiling[i]));
  profile.pass(false, limits.brake_mps2);
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
