// SPDX-License-Identifier: Apache-2.0
#include "calibration/fit/fit.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "calibration/fit/intervals.hpp"
#include "calibration/fit/objective.hpp"
#include "core/rng.hpp"

namespace pitwall::fit {
namespace {

constexpr int kFirstLook = 6;        // iterations from each start
constexpr double kLeastNoise = 0.2;  // of the first guess
constexpr double kMedianToSigma = 1.4826;
constexpr double kAtBound = 1e-3;        // spreads
constexpr double kInsignificant = 1.92;  // of half a sum of squares: 95 % of one degree of freedom
constexpr double kShareOfCurvature = 0.1;
constexpr int kOthersFollow = 4;        // iterations
constexpr double kShareOfRise = 0.25;   // of what the curvature foretells
constexpr double kStartSpread = 0.7;    // of the starts, in spreads of the prior
constexpr double kStartDelay_s = 0.25;  // delays are begun with up to this

class Fitter {
 public:
  Fitter(const Problem& problem, const std::vector<Parameter>& parameters, const FitOptions& options)
      : problem_(problem), parameters_(parameters), options_(options) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      values_.push_back(parameters[i].prior);
      if (parameters[i].free) free_.push_back(i);
    }
    for (const Channel& channel : problem.channels) sigma_.push_back(channel.sigma);
  }

  Result<FitResult> run() {
    if (const Status usable = check_input(); !usable) return usable.error();
    result_.before = subject_of(problem_.base, parameters_, values_);
    result_.free = free_;
    if (!look_around()) return stopped();
    for (const int iterations : {10, options_.iterations}) {
      find_noise(free_);
      if (!solve(free_, iterations)) return stopped();
      if (!told(0.5 + 0.2 * (iterations == 10 ? 0.5 : 1.0))) return stopped();
    }
    find_noise(free_);
    measure_uncertainty();
    if (look_beyond()) {
      if (!solve(free_, options_.iterations)) return stopped();
      find_noise(free_);
      measure_uncertainty();
      look_beyond();
    }
    if (!settle()) return stopped();
    conclude();
    told(1.0);
    return std::move(result_);
  }

 private:
  [[nodiscard]] static Error stopped() { return Error{"interrupted"}; }
  bool told(double share) {
    share_ = share;
    return !options_.progress || options_.progress(share);
  }
  [[nodiscard]] bool go_on() const { return !options_.progress || options_.progress(share_); }

  Status check_input() const {
    if (free_.empty()) return Error{"no parameter is free"};
    for (const Parameter& p : parameters_) {
      if (const Status status = check(p); !status && p.free) return status;
    }
    if (problem_.rows(false) < 4 * free_.size()) return Error{"too few measurements for " + std::to_string(free_.size()) + " parameters"};
    Played scratch;
    std::vector<double> rows;
    for (const Piece& piece : problem_.pieces) {
      rows.resize(piece.rows.size());
      const Status played = residuals_of(problem_, piece, subject_of(problem_.base, parameters_, values_), scratch, rows.data());
      if (!played) return played;
    }
    return {};
  }

  Objective objective(const std::vector<std::size_t>& free, std::size_t thin) const {
    return {problem_, parameters_, values_, free, sigma_, thin, options_.jobs};
  }

  [[nodiscard]] std::vector<double> start_at(std::size_t number, const Objective& on) const {
    std::vector<double> z = on.start();
    const Rng draw(options_.seed, "fit/starts");
    for (std::size_t i = 0; i < free_.size() && number > 0; ++i) {
      const Parameter& p = parameters_[free_[i]];
      // A limit that nothing reaches has no slope: every other start puts the limits where they act.
      if (number % 2 == 1 && is_limit(p.name)) {
        z[i] = std::clamp(p.to_unit(std::clamp(acting_limit(p), p.low, p.high)), on.low(i), on.high(i));
      }
      if (number == 1 || is_limit(p.name)) continue;
      const double u = draw.uniform(number, static_cast<std::uint32_t>(i));
      if (p.unit == "s") {
        z[i] = p.to_unit(std::clamp(p.low + u * kStartDelay_s, p.low, p.high));
      } else {
        z[i] += kStartSpread * 1.73 * (2.0 * u - 1.0);
      }
      z[i] = std::clamp(z[i], on.low(i), on.high(i));
    }
    return z;
  }

  static bool is_limit(std::string_view name) {
    return name == "speed_max_mps" || name == "acceleration_max_mps2" || name == "braking_max_mps2";
  }

  /// Where a limit would be felt: the fastest that the car was, and a pull that every car is capable of.
  [[nodiscard]] double acting_limit(const Parameter& p) const {
    constexpr double kGentle_mps2 = 2.0;
    return p.name == "speed_max_mps" ? fastest_ : kGentle_mps2;
  }

  /// A few iterations from each start, on every other stretch; the best one is where the rest begins.
  bool look_around() {
    const std::size_t thin = problem_.pieces.size() >= 12 ? 2 : 1;
    fastest_ = fastest_mps(problem_);
    double best = INFINITY;
    std::vector<double> found = values_;
    for (int number = 0; number < std::max(1, options_.starts); ++number) {
      Objective on = objective(free_, thin);
      const std::vector<double> start = start_at(static_cast<std::size_t>(number), on);
      std::vector<double> left;
      if (!on.raw_residuals(start.data(), left)) continue;  // a car that the plant refuses
      const Minimised out = minimise(on, start, kFirstLook, [this] { return go_on(); });
      note(on, out);
      if (out.interrupted) return false;
      if (out.usable && out.cost < best) {
        best = out.cost;
        found = on.values_at(out.z.data());
      }
      if (!told(0.5 * (number + 1) / std::max(1, options_.starts))) return false;
    }
    values_ = std::move(found);
    return true;
  }

  bool solve(const std::vector<std::size_t>& free, int iterations) {
    if (free.empty()) return true;
    Objective on = objective(free, 1);
    const Minimised out = minimise(on, on.start(), iterations, [this] { return go_on(); });
    note(on, out);
    if (out.usable) values_ = on.values_at(out.z.data());
    result_.cost_after = out.cost;
    return !out.interrupted;
  }

  void note(const Objective& on, const Minimised& out) {
    result_.iterations += out.iterations;
    result_.simulations += on.simulations();
  }

  /// The noise of each channel, from the median of what the fit leaves.
  void find_noise(const std::vector<std::size_t>& free) {
    Objective on = objective(free, 1);
    std::vector<double> left;
    if (!on.raw_residuals(on.start().data(), left)) return;
    std::vector<std::vector<double>> by_channel(problem_.channels.size());
    for (std::size_t i = 0; i < left.size(); ++i) by_channel[on.row_channels()[i]].push_back(std::abs(left[i]));
    for (std::size_t c = 0; c < by_channel.size(); ++c) {
      std::vector<double>& all = by_channel[c];
      if (all.empty()) continue;
      const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
      std::nth_element(all.begin(), middle, all.end());
      sigma_[c] = std::max(kMedianToSigma * *middle, kLeastNoise * problem_.channels[c].sigma);
    }
  }

  /// Intervals of all free parameters together, and whether the sensitivities can be believed.
  void measure_uncertainty() {
    half_width_.assign(parameters_.size(), 0.0);
    by_curvature_.assign(parameters_.size(), 0.0);
    at_bound_.clear();
    disagreement_.assign(parameters_.size(), 0.0);
    Objective whole = objective(free_, 1);
    const std::vector<double> at = whole.start();
    std::vector<std::size_t> inside;
    for (std::size_t i = 0; i < free_.size(); ++i) {
      if (at[i] > whole.low(i) + kAtBound && at[i] < whole.high(i) - kAtBound) {
        inside.push_back(free_[i]);
      } else {
        at_bound_.push_back(free_[i]);
      }
    }
    if (inside.empty()) return;
    Objective on = objective(inside, 1);
    const std::vector<double> z = on.start();
    std::vector<double> f(on.rows());
    std::vector<double> jacobian(on.rows() * on.columns());
    std::vector<double> finer(jacobian.size());
    if (!on.evaluate(z.data(), f.data(), jacobian.data()) || !on.evaluate(z.data(), f.data(), finer.data(), 0.5 * Objective::kStep)) return;
    result_.simulations += on.simulations();
    f.resize(on.data_rows());
    jacobian.resize(on.data_rows() * on.columns());
    for (std::size_t j = 0; j < inside.size(); ++j) {
      double apart = 0.0;
      double size = 0.0;
      for (std::size_t i = 0; i < on.data_rows(); ++i) {
        const double a = jacobian[i * inside.size() + j];
        const double b = finer[i * inside.size() + j];
        apart += (a - b) * (a - b);
        size += b * b;
      }
      disagreement_[inside[j]] = size > 0.0 ? std::sqrt(apart / size) : 0.0;
    }
    const Uncertainty known = bootstrap(f, jacobian, on.blocks(), z, options_.replicates, options_.seed);
    const std::vector<double> by_curvature = expected_half_widths(jacobian, inside.size());
    for (std::size_t j = 0; j < inside.size(); ++j) {
      half_width_[inside[j]] = parameters_[inside[j]].half_width(known.half_width[j]);
      by_curvature_[inside[j]] = parameters_[inside[j]].half_width(by_curvature[j]);
    }
    correlate(inside, known);
  }

  void correlate(const std::vector<std::size_t>& inside, const Uncertainty& known) {
    const std::size_t n = free_.size();
    result_.correlation.assign(n, std::vector<double>(n, 0.0));
    std::vector<std::size_t> place;
    for (const std::size_t i : inside) place.push_back(static_cast<std::size_t>(std::find(free_.begin(), free_.end(), i) - free_.begin()));
    for (std::size_t i = 0; i < n; ++i) result_.correlation[i][i] = 1.0;
    for (std::size_t a = 0; a < place.size(); ++a) {
      for (std::size_t b = 0; b < place.size(); ++b) result_.correlation[place[a]][place[b]] = known.correlation[a][b];
    }
  }

  /// Whether the curvature at the optimum may end within the interval: what only acts where the car reaches it.
  static bool is_felt_when_reached(std::string_view name) { return is_limit(name) || name == "surface_friction"; }

  /// A limit that the fit has put as high as it may is one that the car never felt: no value of it is better than the prior.
  [[nodiscard]] bool is_out_of_reach(std::size_t i) const {
    const Parameter& p = parameters_[i];
    return is_felt_when_reached(p.name) && p.to_unit(values_[i]) > p.to_unit(p.high) - 2.0 * kAtBound;
  }

  /// Follows what is felt only where it is reached to the ends of its interval, the others fitted beside it: an interval that costs less
  /// than its curvature says grows until it costs that, or until the parameter is not known. True where lower ground came up on the way;
  /// the values are there then.
  bool look_beyond() {
    for (const std::size_t i : free_) {
      const Parameter& p = parameters_[i];
      if (!is_felt_when_reached(p.name) || !(half_width_[i] > 0.0)) continue;
      const double curvature = by_curvature_[i];
      const double here = profile(i, values_[i], 0).cost;
      for (const double side : {-1.0, 1.0}) {
        while (half_width_[i] <= p.allowed) {
          const double moved = p.from_unit(p.to_unit(values_[i]) + side * half_width_[i] / p.spread);
          if (moved <= p.low || moved >= p.high) break;
          const Profiled there = profile(i, moved, kOthersFollow);
          if (there.cost < here - kInsignificant) {
            values_ = there.values;
            return true;
          }
          const double foretold = 0.5 * std::pow(1.96 * half_width_[i] / curvature, 2);
          if (there.cost - here >= kShareOfRise * foretold) break;
          half_width_[i] *= 2.0;
        }
      }
    }
    return false;
  }

  struct Profiled {
    double cost = INFINITY;
    std::vector<double> values;
  };

  /// The least cost with the parameter at that value, and where.
  Profiled profile(std::size_t i, double value, int iterations) {
    Profiled out{INFINITY, values_};
    out.values[i] = value;
    std::vector<std::size_t> others;
    std::copy_if(free_.begin(), free_.end(), std::back_inserter(others), [i](std::size_t k) { return k != i; });
    Objective on(problem_, parameters_, out.values, others, sigma_, 1, options_.jobs);
    const Minimised found = minimise(on, on.start(), iterations, [this] { return go_on(); });
    note(on, found);
    if (!found.usable) return out;
    out.cost = found.cost;
    out.values = on.values_at(found.z.data());
    return out;
  }

  [[nodiscard]] double cost_at(std::vector<double> values) {
    Objective on(problem_, parameters_, std::move(values), {}, sigma_, 1, options_.jobs);
    std::vector<double> f(on.rows());
    const bool played = on.evaluate(nullptr, f.data(), nullptr);
    result_.simulations += on.simulations();
    return played ? half_square(f) : INFINITY;
  }

  /// Whether the drives are as content with the parameter at its prior, far outside the interval. A limit that nothing reaches is found
  /// where it begins to act, with a slope on one side: the curvature there says nothing.
  [[nodiscard]] bool prior_does_as_well(std::size_t i, double cost) {
    const double half_widths = std::abs(parameters_[i].to_unit(values_[i])) * parameters_[i].spread / half_width_[i];
    if (!(half_widths > 1.0)) return false;
    const double by_curvature = 0.5 * 1.96 * 1.96 * half_widths * half_widths;
    std::vector<double> there = values_;
    there[i] = parameters_[i].prior;
    return cost_at(std::move(there)) - cost < std::min(kInsignificant, kShareOfCurvature * by_curvature);
  }

  static double half_square(const std::vector<double>& f) {
    double sum = 0.0;
    for (const double each : f) sum += 0.5 * each * each;
    return sum;
  }

  /// What is not identified goes back to its prior; the rest is fitted again beside it.
  bool settle() {
    verdict_.assign(parameters_.size(), Verdict::kFixed);
    const double cost = cost_at(values_);
    joint_ = values_;
    std::vector<std::size_t> kept;
    bool back = false;
    for (const std::size_t i : free_) {
      const bool unreached = is_out_of_reach(i);
      const bool bound = !unreached && std::find(at_bound_.begin(), at_bound_.end(), i) != at_bound_.end();
      if (unreached) half_width_[i] = INFINITY;
      const bool known = half_width_[i] <= parameters_[i].allowed;
      verdict_[i] = bound ? Verdict::kAtBound : known ? Verdict::kIdentified : Verdict::kUnidentified;
      if (verdict_[i] == Verdict::kIdentified && prior_does_as_well(i, cost)) verdict_[i] = Verdict::kUnidentified;
      if (unreached || (verdict_[i] == Verdict::kUnidentified && !options_.keep_unidentified)) {
        values_[i] = parameters_[i].prior;
        back = true;
      } else if (!bound) {
        kept.push_back(i);
      }
    }
    return !back || (told(0.8) && solve(kept, options_.iterations) && told(0.95));
  }

  void conclude() {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const Parameter& p = parameters_[i];
      Fitted fitted;
      fitted.parameter = p;
      fitted.verdict = verdict_[i];
      fitted.value = values_[i];
      fitted.half_width = half_width_[i];
      fitted.step_disagreement = disagreement_[i];
      const double centre = verdict_[i] == Verdict::kUnidentified ? joint_[i] : values_[i];
      fitted.low = p.logarithmic ? centre * std::exp(-half_width_[i]) : centre - half_width_[i];
      fitted.high = p.logarithmic ? centre * std::exp(half_width_[i]) : centre + half_width_[i];
      result_.parameters.push_back(std::move(fitted));
    }
    result_.after = subject_of(problem_.base, parameters_, values_);
    result_.channels = problem_.channels;
    for (std::size_t c = 0; c < sigma_.size(); ++c) result_.channels[c].sigma = sigma_[c];
    result_.errors = channel_errors(problem_, result_.before, result_.after);
    result_.lags = steering_lags(problem_, result_.before, result_.after);
    result_.predicted_before = predict_one_second(problem_, result_.before, true, options_.jobs);
    result_.predicted_after = predict_one_second(problem_, result_.after, true, options_.jobs);
  }

  const Problem& problem_;
  const std::vector<Parameter>& parameters_;
  const FitOptions& options_;
  std::vector<double> values_;
  std::vector<std::size_t> free_;
  std::vector<double> sigma_;
  std::vector<double> half_width_;
  std::vector<double> by_curvature_;  ///< half-widths that the curvature alone gives
  std::vector<double> disagreement_;
  std::vector<std::size_t> at_bound_;
  std::vector<double> joint_;
  std::vector<Verdict> verdict_;
  double share_ = 0.0;
  double fastest_ = 0.0;
  FitResult result_;
};

}  // namespace

const Fitted* FitResult::find(std::string_view name) const {
  const auto found = std::find_if(parameters.begin(), parameters.end(), [&](const Fitted& f) { return f.parameter.name == name; });
  return found == parameters.end() ? nullptr : &*found;
}

Result<FitResult> fit(const Problem& problem, const std::vector<Parameter>& parameters, const FitOptions& options) {
  return Fitter(problem, parameters, options).run();
}

}  // namespace pitwall::fit
