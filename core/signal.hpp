// SPDX-License-Identifier: Apache-2.0
// How a measured signal answers a commanded one: how late (pure delay and first-order lag, told apart), how strongly, and how sure
// that is.
//
//   measured(t) = gain * factor(t) * y(t - delay) + offset + noise,      time_constant * dy/dt = command - y
//
// Delay, time constant, gain and offset are fitted together by least squares: with the gain held at 1 the lag of a car that
// answers weakly comes out wrong. A command is held until the next one and a measurement may be a mean over an interval (two
// scans, say), and both are integrated exactly: taking a held command for a line between its samples would cost half a period.
//
// Intervals are 95 %, by the jackknife over blocks of time (Efron & Tibshirani, An Introduction to the Bootstrap, section 11; blocks
// since residuals are correlated) with Student's t: what is left out is a piece of the drive, so they hold whatever the
// correlation within a block, and widen where few blocks say anything.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace pitwall::signals {

/// What a signal does between its samples.
enum class Between {
  kHeld,   ///< keeps the last value: a command
  kLinear  ///< goes straight to the next: a measured quantity
};

/// Values of a sampled signal at other times; NaN before the first sample, after the last (a held one: by more than
/// `longest_gap_s`) and in gaps longer than that. `t_s` increases.
std::vector<double> resample(std::span<const double> t_s, std::span<const double> value, std::span<const double> at_s, Between between,
                             double longest_gap_s);

/// A number with its 95 % interval.
struct Estimate {
  double value = NAN;
  double low = NAN;
  double high = NAN;
  std::size_t samples = 0;
  bool identifiable = false;  ///< whether the data can say it; where not, `why` not, and nothing should be built on the value
  std::string why;
};

/// A commanded signal. Times increase; sizes agree.
struct CommandSignal {
  std::span<const double> t_s;
  std::span<const double> value;
  Between between = Between::kHeld;
};

/// A measured signal. Sample i is the mean over [begin_s[i], end_s[i]] (equal: an instant). Times increase.
struct MeasuredSignal {
  std::span<const double> begin_s;
  std::span<const double> end_s;
  std::span<const double> value;
  std::span<const double> factor;  ///< of the command at each sample, such as the speed of a commanded curvature; empty: 1
  std::span<const double> weight;  ///< inverse variance up to a scale; empty: 1
};

struct LagOptions {
  double shortest_s = -0.1;    ///< lags sought
  double longest_s = 0.8;      ///< at an end of the range nothing is identified
  double least_spread = 0.05;  ///< standard deviation of factor times command from which it says something of the lag
  bool offset = false;         ///< fit one too (a gyro's bias, a bent steering)
};

struct LagFit {
  Estimate lag_s;            ///< delay plus time constant: how late a slow change arrives
  Estimate delay_s;          ///< nothing happens for so long
  Estimate time_constant_s;  ///< 63 % of a step after the delay; 0 where the response is a delayed copy
  Estimate gain;
  Estimate offset;           ///< where asked for
  bool first_order = false;  ///< whether a first-order lag is seen besides the delay
  double rms = NAN;          ///< of what the fit leaves
};

/// Fits lag and gain. Samples for which some lag of the range would ask for a command from before the first one are left out.
LagFit fit_lag(const CommandSignal& command, const MeasuredSignal& measured, const LagOptions& options);

/// The command as the fit sees it behind its delay and time constant: mean over each sample's interval, times its factor.
std::vector<double> aligned(const CommandSignal& command, const MeasuredSignal& measured, double delay_s, double time_constant_s);

/// The gain g of y = g x through zero, blocks by time `t_s` (increasing). Not identifiable: fewer than 10 samples, less than 3 s or an
/// `x` whose root mean square is below `least_rms`.
Estimate fit_gain(std::span<const double> t_s, std::span<const double> x, std::span<const double> y, double least_rms,
                  std::span<const double> weight = {});

/// The mean of y with its interval, blocks by time.
Estimate mean_of(std::span<const double> t_s, std::span<const double> y);

/// Two-sided 95 % quantile of Student's t, within 1e-3 for 2 degrees of freedom or more.
double student_t95(std::size_t degrees_of_freedom);

}  // namespace pitwall::signals
