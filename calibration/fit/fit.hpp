// SPDX-License-Identifier: Apache-2.0
// The car's parameters from recorded drives, by nonlinear least squares: what they are, how well they are known, and what the drives
// cannot tell.
//
//   minimise  sum over rows  rho((simulated - measured) / sigma)  +  sum over free parameters  ((p - prior) / spread)^2
//
// rho is Charbonnier's loss, 2 c^2 (sqrt(1 + r^2 / c^2) - 1) with c = 2: quadratic for noise, linear for what is not noise. The noise
// sigma of each channel is found by the fit itself (median of the residuals). Ceres minimises, from several starts; its Jacobian is by
// central differences of the playback, at one step and, where it ended, at half of it: where the two disagree, it says so.
//
// Intervals. Residuals of half a second are one block: replicates draw blocks with replacement and the priors from their own
// distribution, and solve again, linearised at the optimum (Efron & Tibshirani, An Introduction to the Bootstrap, section 8; tested
// against full refits). So they hold whatever the correlation within a block, and a prior that was leaned on widens them.
//
// What is not identified (half-width of the 95 % interval of more than a tenth, or 10 ms of a delay) goes back to its prior, and the
// others are fitted again beside it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calibration/fit/problem.hpp"

namespace pitwall::fit {

struct FitOptions {
  int starts = 4;
  int iterations = 30;  ///< of the solver, at most
  int replicates = 1000;
  std::uint64_t seed = 1;
  unsigned jobs = 0;  ///< threads; the result does not depend on it
  /// Leave what is not identified where the drives put it, not at its prior: for a car whose priors are another car's.
  bool keep_unidentified = false;
  /// Told how much is done, 0 to 1; false ends the fit with the error "interrupted".
  std::function<bool(double share)> progress;
};

enum class Verdict : std::uint8_t {
  kFixed,         ///< was not free
  kIdentified,    ///< known within what is allowed
  kUnidentified,  ///< the drives do not tell it: at its prior, unless keep_unidentified
  kAtBound        ///< the optimum is at a bound, where it stays
};
inline constexpr std::array<std::string_view, 4> kVerdictNames = {"fixed", "identified", "not identified", "at its bound"};

struct Fitted {
  Parameter parameter;
  Verdict verdict = Verdict::kFixed;
  double value = 0.0;
  double low = 0.0;  ///< 95 % interval; of one that is not identified, around where the drives would have put it
  double high = 0.0;
  double half_width = 0.0;         ///< relative where the parameter is logarithmic
  double step_disagreement = 0.0;  ///< of the sensitivities at the two steps, relative
};

/// How far simulated and measured are apart, as root mean square.
struct ChannelError {
  Quantity quantity = Quantity::kSpeed;
  std::string source;
  std::size_t samples = 0, held_samples = 0;
  double before = 0.0, after = 0.0;            ///< on what was fitted
  double held_before = 0.0, held_after = 0.0;  ///< on what was held out
};

/// Errors of predictions from the measured state, one second ahead, as root mean square.
struct Prediction {
  double speed_mps = 0.0;
  double yaw_rate_radps = 0.0;
  double position_m = 0.0;
  std::size_t samples = 0;        ///< of position
  std::size_t speed_samples = 0;  ///< 0 where no speed was commanded
  std::size_t yaw_rate_samples = 0;
};

/// How late a drive's yaw rate answers the commanded curvature (delay and time constant together, core/signal.hpp), as measured and as
/// simulated by the two cars; NaN where that cannot be told.
struct SteeringLag {
  std::string drive;
  double measured_s = NAN, low_s = NAN, high_s = NAN;  ///< with its 95 % interval
  double before_s = NAN, after_s = NAN;
};

struct FitResult {
  std::vector<Fitted> parameters;  ///< in the order of the problem's list
  Subject before;
  Subject after;
  std::vector<std::size_t> free;                 ///< indices of the free ones
  std::vector<std::vector<double>> correlation;  ///< of the free ones, in that order
  std::vector<ChannelError> errors;              ///< by quantity and source, over all drives
  Prediction predicted_before, predicted_after;  ///< on held-out stretches
  std::vector<SteeringLag> lags;                 ///< of each drive
  std::vector<Channel> channels;                 ///< with the noise that was found
  double cost_before = 0.0, cost_after = 0.0;
  int iterations = 0;
  std::size_t simulations = 0;

  [[nodiscard]] const Fitted* find(std::string_view name) const;
};

/// Marks as free what a car and its drives can be asked for: integrator and ramp where the car has them, odometry's scale where another
/// speed is measured too, inertia and mount where sideslip shows.
void free_usual(const Problem& problem, std::vector<Parameter>& parameters);

/// Errors: nothing is free, bad bounds (named), a car that the plant refuses at the priors, interrupted.
Result<FitResult> fit(const Problem& problem, const std::vector<Parameter>& parameters, const FitOptions& options);

/// How well each free parameter will be known after such a drive, before anyone drives it: half-widths (as in Fitted) at the given
/// values from the sensitivities alone, for independent noise of the channels' sigma. Fixed ones: 0.
Result<std::vector<double>> forecast(const Problem& problem, const std::vector<Parameter>& parameters, const std::vector<double>& values,
                                     unsigned jobs);

/// Errors of every quantity and source with two cars.
std::vector<ChannelError> channel_errors(const Problem& problem, const Subject& before, const Subject& after);

/// Of every drive.
std::vector<SteeringLag> steering_lags(const Problem& problem, const Subject& before, const Subject& after);

/// Predictions from measured states, one second ahead, every half second of the stretches (of the held-out ones alone, if asked).
Prediction predict_one_second(const Problem& problem, const Subject& subject, bool held_out_only, unsigned jobs);

}  // namespace pitwall::fit
