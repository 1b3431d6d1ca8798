// SPDX-License-Identifier: Apache-2.0
// What becomes of the jumps of a scan matcher: is a step above the bound kept in the pose for ever, or taken back by those after it?
// (After mote's icp_excursions; ways over a window are sums of steps seen from the vehicle, so that a loop does not shorten them.)
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "analysis/gated_report.hpp"
#include "analysis/odom_health.hpp"
#include "analysis/odometry_tracks.hpp"
#include "localization/odometry_gate.hpp"

namespace pitwall::analysis {

/// A gap is the way by scans less that by wheels, over some intervals.
struct Excursion {
  double t_s = 0.0;  ///< its beginning
  double dt_s = 0.0;
  double scan_mps = 0.0, wheel_mps = 0.0;
  double forward_m = 0.0, left_m = 0.0;  ///< the step by scans
  double yaw_rate_radps = 0.0;           ///< likewise
  double jump_m = 0.0;                   ///< the gap of its own interval
  double before_m = NAN, after_m = NAN;  ///< the gaps of the windows on both sides; NaN where the tracks do not cover them
  [[nodiscard]] double retained_m() const { return jump_m + after_m; }
  /// Whether less than half of the jump is left after the window.
  [[nodiscard]] bool taken_back() const { return retained_m() < 0.5 * jump_m; }
};

struct Excursions {
  std::size_t intervals = 0;
  std::size_t window = 1;  ///< intervals
  double window_s = 0.0;   ///< that many of median length
  std::vector<Excursion> found;
  Spread ordinary_gap_m;  ///< amounts, of the intervals that are no excursion
  Spread jump_m;
  double jumps_m = 0.0;     ///< sum
  double retained_m = 0.0;  ///< sum, where the window is covered
  std::size_t taken_back = 0;
  Spread turn_radps, turn_at_radps;    ///< amounts of the turn rate by scans: all intervals, excursions
  Spread wheel_mps, wheel_at_mps;      ///< speed by wheels, likewise
  std::optional<Spread> faster_wheel;  ///< |v| + separation / 2 |w| of the wheels, m/s; of a vehicle that has a separation
  std::size_t wheel_over_joint = 0;    ///< of those above the bound: what a joint bound per wheel would reject of the wheels themselves
};
Excursions excursions_of(const OdometryTracks& tracks, double bound_mps, double window_s,
                         std::optional<double> separation_m = std::nullopt);

struct ExcursionOptions {
  TrackOptions tracks;
  localization::MotionEnvelope envelope;
  double tolerance = 1.15;
  double window_s = 2.0;
  std::optional<double> separation_m;
  std::optional<double> max_excursions;
  std::optional<double> max_retained_m;  ///< sum of what is kept
};

/// One section for each recording that can be judged. No excursion is a result.
GatedReport icp_excursions(const std::vector<std::filesystem::path>& recordings, const ExcursionOptions& options);

}  // namespace pitwall::analysis
