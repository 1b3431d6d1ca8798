// SPDX-License-Identifier: Apache-2.0
// Spectra of evenly sampled signals: power (Welch 1967: Hann windows, half overlapping) and its lines, the Allan deviation (IEEE Std 952
// annex C), and how one signal answers another by frequency:
//
//   H(f) = S_xy(f) / S_xx(f),     coherence(f) = |S_xy|^2 / (S_xx S_yy)
//
// (the H1 estimator: noise of the answer averages out, noise of the input would make it small; Bendat & Piersol, Random Data, 4th ed.,
// sections 6.1 and 9.2, from which the standard errors are).
#pragma once

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "core/signal.hpp"

namespace pitwall::analysis {

/// One-sided power spectral density; frequency k is k * step_hz.
struct Spectrum {
  double step_hz = 0.0;
  std::vector<double> density;  ///< unit^2 / Hz; empty where the samples are fewer than a window
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

/// The order of motor or wheels that a line belongs to.
struct Order {
  std::string name = "none";  ///< "motor x2"
  double expected_hz = NAN;   ///< where it is to be seen
  double from_hz = NAN;       ///< its own frequency, where that is above half the sampling rate
};
/// The nearest of the first four orders of both (NaN: not known) within `tolerance_hz` of the line, as sampled at `rate_hz`.
Order order_near(double line_hz, double motor_hz, double wheel_hz, double rate_hz, double tolerance_hz);

/// Overlapping Allan deviation at an averaging time of `m` samples; NaN where there are fewer than 2 m + 1.
double allan_deviation(const std::vector<double>& samples, std::size_t m);

struct TransferPoint {
  double frequency_hz = 0.0;
  double coherence = 0.0;  ///< squared, 0 to 1
  double gain = NAN;
  double phase_rad = NAN;  ///< below 0: later; in (-pi, pi]
  double sigma = NAN;      ///< standard error of the phase, rad, and of the gain, relative
};
struct TransferFunction {
  std::size_t windows = 0;
  std::vector<TransferPoint> points;  ///< from 2 / window on
};
struct TransferOptions {
  double window_s = 4.0;
  double highest_hz = 10.0;
  double least_input = 0.0;  ///< root mean square of the input in a window; one with less is left out, as is one with a NaN
};
/// How `output` answers `input`, both sampled at `rate_hz`.
TransferFunction transfer_function(const std::vector<double>& input, const std::vector<double>& output, double rate_hz,
                                   const TransferOptions& options);

/// What a transfer function says as a whole, from its points with a coherence above 0.6.
struct SteadyResponse {
  signals::Estimate delay_s;  ///< slope of the phase, through 0 at 0 Hz
  signals::Estimate gain;     ///< mean up to 1 Hz
};
/// Not identifiable: fewer than 8 windows (coherence of signals that have nothing in common is 1 / windows), or fewer than 3 points.
SteadyResponse steady_response(const TransferFunction& transfer);

inline constexpr double kCoherent = 0.6;

}  // namespace pitwall::analysis
