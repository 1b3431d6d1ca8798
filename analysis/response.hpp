// SPDX-License-Identifier: Apache-2.0
// How a car answered its commands over a stretch of driving: lags, gains, grip, scale of its odometry (core/signal.hpp says how they are
// fitted). What measured the motion is the caller's choice: scans, a gyro, or the truth of a simulated run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/motion.hpp"
#include "analysis/run_data.hpp"
#include "core/signal.hpp"

namespace pitwall::analysis {

/// The motion of base_link: sample i is the mean over [begin_s[i], end_s[i]]; NaN where it is not known.
struct MeasuredMotion {
  std::string source;  ///< "scans", "odometry", "truth", "nothing"
  std::vector<double> begin_s, end_s, speed_mps, yaw_rate_radps;
  std::vector<double> speed_sigma_mps, yaw_sigma_radps;  ///< standard deviations, what fits are weighted by
  [[nodiscard]] std::size_t size() const { return begin_s.size(); }
};

/// What the scans saw, between two times.
MeasuredMotion by_scans(const MotionSeries& motion, double begin_s, double end_s);
/// What the wheels said; their turn rate is computed from the command and left out.
MeasuredMotion by_odometry(const OdometrySeries& odometry, double begin_s, double end_s);
/// The truth over the very same intervals, known where `like` is known.
MeasuredMotion by_truth(const TruthSeries& truth, const MeasuredMotion& like);

/// A number of the response, its unit and which value of the calibration it would replace.
struct ResponseRow {
  std::string key;   ///< "speed_lag_s"
  std::string name;  ///< "speed: lag"
  std::string unit;
  signals::Estimate estimate;
  double rms = NAN;      ///< of what the fit leaves, in the unit of the response
  std::string replaces;  ///< name in the car's calibration, or empty
};

/// Turning by lateral acceleration as commanded: where the gain falls the tyres slide.
struct GripRow {
  double from_mps2 = 0.0;
  double to_mps2 = INFINITY;
  signals::Estimate gain;
};

struct Response {
  std::string source;
  std::vector<ResponseRow> rows;
  std::vector<GripRow> grip;
  [[nodiscard]] const signals::Estimate* find(std::string_view key) const;
};

/// Fits everything. `wheelbase_m` turns steering angles into curvature.
Response fit_response(const CommandSeries& command, const OdometrySeries& odometry, const MeasuredMotion& measured, double wheelbase_m);

/// Way by the speed over the intervals. Where it is not known the wheels stand in, or else the last speed that was.
struct Way {
  double distance_m = 0.0;
  double mean_mps = NAN;
  double peak_mps = NAN;     ///< of speeds known to 0.05 m/s
  double known_share = 0.0;  ///< of the time the speed was known
};
Way way_of(const MeasuredMotion& measured, const OdometrySeries& odometry = {});

}  // namespace pitwall::analysis
