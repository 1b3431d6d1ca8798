// SPDX-License-Identifier: Apache-2.0
// What an IMU says while the car stands and while its motor runs steadily: bias, white noise and bias instability of every axis (Allan
// deviation, IEEE Std 952 annex C), and the lines in its spectrum (Welch 1967: Hann windows of 2 s, half overlapping) beside the orders of
// motor and wheels, aliased ones where they belong. And how turning answers steering by frequency.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analysis/imu_run.hpp"

namespace pitwall::analysis {

/// One-sided power spectral density; frequency k is k / window.
struct Spectrum {
  double step_hz = 0.0;
  std::vector<double> density;  ///< unit^2 / Hz; empty where the stretch is shorter than a window
};
/// Of samples at `rate_hz`, mean taken off in each window of `window_s`.
Spectrum welch(const std::vector<double>& samples, double rate_hz, double window_s = 2.0);

/// A line that stands out of its surroundings by 6 dB or more.
struct SpectrumPeak {
  double frequency_hz = 0.0;
  double level_db = 0.0;  ///< over the median
};
std::vector<SpectrumPeak> peaks_of(const Spectrum& spectrum);

/// Where a line of `frequency_hz` appears when sampled at `rate_hz`.
double aliased(double frequency_hz, double rate_hz);

/// Overlapping Allan deviation at an averaging time of `m` samples; NaN where there are fewer than 2 m + 1.
double allan_deviation(const std::vector<double>& samples, std::size_t m);

struct ImuSpectrumOptions {
  ImuRunOptions run;
  double pole_pairs = 2.0;
  double wheel_radius_m = 0.05;
  std::optional<double> max_gyro_noise;  ///< deg/s per square root of Hz, any axis, parked
};

/// Errors: as load_imu_run.
Result<ReportResult> imu_spectrum(const ImuSpectrumOptions& options);

}  // namespace pitwall::analysis
