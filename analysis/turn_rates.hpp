// SPDX-License-Identifier: Apache-2.0
// Turn rates of one drive, whatever measured them, and how one reads beside another.
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "analysis/document.hpp"
#include "analysis/imu_run.hpp"
#include "core/signal.hpp"

namespace pitwall::analysis {

/// A turn rate that something measured: sample i is the mean over [begin_s[i], end_s[i]].
struct RateSource {
  enum class Kind { kGyro, kOdometry, kScans, kTruth, kCommand };
  Kind kind = Kind::kGyro;
  std::string name;  ///< "gyro /imu", "odometry /odom", "scans", "truth"
  std::vector<double> begin_s, end_s, rate_radps, weight;
  [[nodiscard]] std::size_t size() const { return begin_s.size(); }
  [[nodiscard]] double middle_s(std::size_t i) const { return 0.5 * (begin_s[i] + end_s[i]); }
};
/// All of them: gyros, odometries, scans where the walls tell the turn, the truth of a simulated run.
std::vector<RateSource> rate_sources(const ImuRun& run);

/// What was commanded: the turn rate itself, or the measured (else commanded) speed times tan(steering) / wheelbase.
RateSource commanded_rate(const ImuRun& run);

/// How source b reads beside source a: b(t) = scale a(t - delay) + bias.
struct RatePair {
  std::string a, b;
  RateSource::Kind kind_a = RateSource::Kind::kGyro;
  RateSource::Kind kind_b = RateSource::Kind::kGyro;
  signals::Estimate delay_s, scale, bias_radps;
  double rms_radps = NAN;
  double correlation = NAN;
};
RatePair compare_rates(const RateSource& a, const RateSource& b);
/// One row for each pair, with intervals.
Table table_of_pairs(const std::vector<RatePair>& pairs);

}  // namespace pitwall::analysis
