// SPDX-License-Identifier: Apache-2.0
// A recording through the slip monitor that runs on the vehicle: what it would have raised and when, and how wheels and scans differ while
// nothing is wrong, which is what its thresholds have to stay above.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "analysis/gated_report.hpp"
#include "analysis/odometry_tracks.hpp"
#include "localization/slip_monitor.hpp"

namespace pitwall::analysis {

/// A state that was raised, from the first evaluation that reports it to the first that no longer does, or the last of all.
struct SlipVerdict {
  localization::SlipState state = localization::SlipState::kUnknown;
  double begin_s = 0.0;
  double end_s = 0.0;
  double wheel_mps = 0.0, scan_mps = 0.0;  ///< of the window that differs most
  [[nodiscard]] double residual_mps() const { return wheel_mps - scan_mps; }
};

/// 1st, 50th and 99th percentile, largest amount and standard deviation; NaN of no values.
struct SignedSpread {
  std::size_t samples = 0;
  double p1 = NAN, p50 = NAN, p99 = NAN, max_abs = NAN, sd = NAN;
};
SignedSpread signed_spread(const std::vector<double>& values);

struct SlipReplay {
  std::size_t evaluations = 0;
  std::array<std::size_t, 5> states{};   ///< evaluations, by reported SlipState
  std::array<std::size_t, 6> missing{};  ///< evaluations, by NoResidual
  std::vector<SlipVerdict> verdicts;
  SignedSpread residual_mps, relative, yaw_residual_radps;  ///< of windows that move faster than the least speed
};

/// Evaluates at `rate_hz`, from one window after the first pose of either on. Commands count where the recording has them.
SlipReplay replay_slip(const OdometryTracks& tracks, const localization::SlipMonitorParameters& parameters, double rate_hz);

struct SlipOptions {
  TrackOptions tracks;
  localization::SlipMonitorParameters monitor;
  double rate_hz = 10.0;
  bool verdicts_only = false;
  std::optional<double> max_verdicts;
};

/// One section for each recording that can be judged.
GatedReport slip_replay(const std::vector<std::filesystem::path>& recordings, const SlipOptions& options);

}  // namespace pitwall::analysis
