// SPDX-License-Identifier: Apache-2.0
// Do wheels and scans tell the same drive, and does the speed bound of the odometry gate lie where it should: above all that the vehicle
// does, below every jump of the scan matcher? (After mote's odom_health, with the room on both sides of the bound, and as a gate.)
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "analysis/gated_report.hpp"
#include "analysis/odometry_tracks.hpp"
#include "localization/odometry_gate.hpp"

namespace pitwall::analysis {

/// Median, 99th percentile and maximum; NaN of no values.
struct Spread {
  std::size_t samples = 0;
  double p50 = NAN;
  double p99 = NAN;
  double max = NAN;
};
Spread spread_of(const std::vector<double>& values);

/// Of the speeds by scans, against a bound.
struct BoundMargins {
  double bound_mps = 0.0;
  double ordinary_mps = NAN;                                                          ///< fastest that keeps to the bound
  double excursion_mps = NAN;                                                         ///< slowest above it; NaN where none is
  [[nodiscard]] double over_ordinary() const { return bound_mps / ordinary_mps; }     ///< "x1.02": below that, driving trips the gate
  [[nodiscard]] double under_excursion() const { return excursion_mps / bound_mps; }  ///< "x1.09": above that, jumps get through
  std::array<std::size_t, 20> histogram{};  ///< bins of a tenth of the bound; the last holds all above
};
BoundMargins margins_of(const std::vector<double>& speeds_mps, double bound_mps);

struct OdomHealth {
  double duration_s = 0.0;
  std::size_t intervals = 0;
  std::size_t without_wheels = 0;
  double scan_way_m = 0.0, wheel_way_m = 0.0, scan_turned_rad = 0.0, wheel_turned_rad = 0.0;
  Spread residual_mps, residual_radps;  ///< amounts, where the wheels do more than 0.02 m/s
  Spread scan_mps, wheel_mps;
  std::size_t scan_excursions = 0, wheel_excursions = 0;  ///< intervals above the speed bound
  std::size_t scan_turns = 0;                             ///< above the bound of the turn rate
  std::size_t longest_run = 0, runs = 0, isolated = 0;    ///< of excursions by scans one after the other; isolated: alone
  BoundMargins margins;
  [[nodiscard]] double wheels_longer_percent() const { return 100.0 * (wheel_way_m - scan_way_m) / scan_way_m; }
};
OdomHealth health_of(const OdometryTracks& tracks, const localization::MotionEnvelope& envelope, double tolerance);

struct OdomHealthOptions {
  TrackOptions tracks;
  localization::MotionEnvelope envelope;
  double tolerance = 1.15;
  std::optional<double> max_excursions;               ///< by scans, in each recording
  std::optional<double> max_path_difference_percent;  ///< of the two ways
  std::optional<double> max_residual_mps;             ///< 99th percentile
};

/// One section for each recording that can be judged.
GatedReport odom_health(const std::vector<std::filesystem::path>& recordings, const OdomHealthOptions& options);

}  // namespace pitwall::analysis
