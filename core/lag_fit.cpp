// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/check.hpp"
#include "core/jackknife.hpp"
#include "core/lagged.hpp"
#include "core/math.hpp"
#include "core/signal.hpp"
#include "core/text.hpp"

namespace pitwall::signals {

namespace {

using detail::Blocks;
using detail::estimate;
using detail::Lagged;
using detail::Normal;
using detail::solve;
using detail::Vector;

/// Parameters of the model. In normal equations their order is gain, delay, then time constant and offset where they are fitted.
struct Model {
  double delay_s = 0.0;
  double time_constant_s = 0.0;
  double gain = 0.0;
  double offset = 0.0;
  double squares = math::kInfinity;  ///< weighted, of the residuals
  double undecided_s = 0.0;          ///< the delay may be so much longer or shorter without any sample telling
};

/// The samples that every lag of the range can be judged by, every `stride`th of them.
class Problem {
 public:
  Problem(const CommandSignal& command, const MeasuredSignal& measured, const LagOptions& options, std::size_t stride)
      : command_(command), options_(options) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < measured.value.size(); ++i) {
      if (measured.begin_s[i] - options.longest_s < command.t_s[0] || !std::isfinite(measured.value[i])) continue;
      if (kept++ % stride != 0) continue;
      begin_.push_back(measured.begin_s[i]);
      end_.push_back(measured.end_s[i]);
      value_.push_back(measured.value[i]);
      factor_.push_back(measured.factor.empty() ? 1.0 : measured.factor[i]);
      weight_.push_back(measured.weight.empty() ? 1.0 : measured.weight[i]);
    }
  }
  [[nodiscard]] std::size_t size() const { return value_.size(); }
  [[nodiscard]] double first_s() const { return begin_.front(); }
  [[nodiscard]] double last_s() const { return end_.back(); }
  [[nodiscard]] double begin_s(std::size_t i) const { return begin_[i]; }
  [[nodiscard]] double weight(std::size_t i) const { return weight_[i]; }

  [[nodiscard]] Lagged lagged(double time_constant_s) const { return Lagged(command_, time_constant_s); }
  void evaluate(double delay_s, double time_constant_s, std::vector<double>& f) const {
    Lagged behind = lagged(time_constant_s);
    evaluate(delay_s, behind, f);
  }
  void evaluate(double delay_s, Lagged& lagged, std::vector<double>& f) const {
    f.resize(size());
    for (std::size_t i = 0; i < size(); ++i) {
      const double width = end_[i] - begin_[i];
      const double mean = width > 0.0 ? (lagged.integral_at(end_[i] - delay_s) - lagged.integral_at(begin_[i] - delay_s)) / width
                                      : lagged.value_at(begin_[i] - delay_s);
      f[i] = factor_[i] * mean;
    }
  }

  /// Gain and offset that go best with a delay and a time constant.
  [[nodiscard]] Model project(double delay_s, double time_constant_s, std::vector<double>& f) const {
    Lagged behind = lagged(time_constant_s);
    return project(delay_s, time_constant_s, behind, f);
  }
  /// The same with the command behind that time constant at hand.
  [[nodiscard]] Model project(double delay_s, double time_constant_s, Lagged& behind, std::vector<double>& f) const {
    evaluate(delay_s, behind, f);
    double w = 0.0, wf = 0.0, wm = 0.0, wff = 0.0, wfm = 0.0;
    for (std::size_t i = 0; i < size(); ++i) {
      w += weight_[i];
      wf += weight_[i] * f[i];
      wm += weight_[i] * value_[i];
      wff += weight_[i] * f[i] * f[i];
      wfm += weight_[i] * f[i] * value_[i];
    }
    Model model;
    model.delay_s = delay_s;
    model.time_constant_s = time_constant_s;
    if (options_.offset) {
      const double spread = wff - wf * wf / w;
      model.gain = spread > 0.0 ? (wfm - wf * wm / w) / spread : 0.0;
      model.offset = (wm - model.gain * wf) / w;
    } else {
      model.gain = wff > 0.0 ? wfm / wff : 0.0;
    }
    model.squares = 0.0;
    for (std::size_t i = 0; i < size(); ++i) {
      const double r = residual(model, f, i);
      model.squares += weight_[i] * r * r;
    }
    return model;
  }
  [[nodiscard]] double residual(const Model& model, const std::vector<double>& f, std::size_t i) const {
    return value_[i] - model.gain * f[i] - model.offset;
  }
  /// Whether what a sample says of a pure delay jumps as the delay changes: instants of a held command.
  [[nodiscard]] bool jumps() const { return command_.between == Between::kHeld && !(end_.front() > begin_.front()); }
  /// A change of the delay that is seen by every sample: instants of a held command jump from one value to the next.
  [[nodiscard]] double delay_step_s() const {
    constexpr double kStep_s = 0.002;
    if (!jumps()) return kStep_s;
    return std::max(kStep_s, 0.5 * (command_.t_s.back() - command_.t_s.front()) / static_cast<double>(command_.t_s.size() - 1));
  }
  [[nodiscard]] const LagOptions& options() const { return options_; }

 private:
  CommandSignal command_;
  LagOptions options_;
  std::vector<double> begin_, end_, value_, factor_, weight_;
};

/// Best delay on a grid, for one time constant.
Model best_on_grid(const Problem& problem, double time_constant_s, double from_s, double to_s, double step_s) {
  Model best;
  std::vector<double> f;
  Lagged behind = problem.lagged(time_constant_s);
  const auto steps = static_cast<int>(std::ceil((to_s - from_s) / step_s - 1e-9));
  for (int k = 0; k <= steps; ++k) {
    const Model model = problem.project(std::min(to_s, from_s + k * step_s), time_constant_s, behind, f);
    if (model.squares < best.squares) best = model;
  }
  return best;
}

/// Where between three equally spaced delays the parabola through their squares has its bottom.
double bottom(double before, double middle, double after) {
  const double bend = before - 2.0 * middle + after;
  return bend > 0.0 ? std::clamp(0.5 * (before - after) / bend, -1.0, 1.0) : 0.0;
}

/// Delays between which instants of a held command cannot choose: all of them meet about the same values. Its middle and half its width.
struct Plateau {
  double middle_s = 0.0;
  double half_width_s = 0.0;
};
Plateau plateau_around(const Problem& problem, const Model& best, double fine_s) {
  // Squares that are as good up to what noise does to them.
  const double as_good = best.squares * (1.0 + 16.0 / static_cast<double>(problem.size()));
  std::vector<double> f;
  double low = best.delay_s;
  double high = best.delay_s;
  const double farthest = 2.0 * problem.delay_step_s();
  while (best.delay_s - low < farthest && problem.project(low - fine_s, 0.0, f).squares <= as_good) low -= fine_s;
  while (high - best.delay_s < farthest && problem.project(high + fine_s, 0.0, f).squares <= as_good) high += fine_s;
  return {0.5 * (low + high), 0.5 * (high - low) + fine_s};
}

/// The pure delay near a first guess: milliseconds around it, then a parabola.
Model refine_delay(const Problem& problem, double guess_s, double around_s) {
  constexpr double kFine_s = 0.001;
  const LagOptions& options = problem.options();
  std::vector<double> f;
  const Model best = best_on_grid(problem, 0.0, std::max(options.shortest_s, guess_s - around_s),
                                  std::min(options.longest_s, guess_s + around_s), kFine_s);
  if (problem.jumps()) {
    const Plateau plateau = plateau_around(problem, best, kFine_s);
    Model model = problem.project(plateau.middle_s, 0.0, f);
    model.undecided_s = plateau.half_width_s;
    return model;
  }
  const double before = problem.project(best.delay_s - kFine_s, 0.0, f).squares;
  const double after = problem.project(best.delay_s + kFine_s, 0.0, f).squares;
  return problem.project(best.delay_s + kFine_s * bottom(before, best.squares, after), 0.0, f);
}

/// Columns of the normal equations at a model: the slopes of what it says by each parameter.
class Slopes {
 public:
  Slopes(const Problem& problem, const Model& model, bool lagged) : problem_(problem), model_(model), lagged_(lagged) {
    problem.evaluate(model.delay_s, model.time_constant_s, f_);
    const double step = problem.delay_step_s();
    slope(model.delay_s - step, model.time_constant_s, model.delay_s + step, model.time_constant_s, 2.0 * step, by_delay_);
    if (!lagged) return;
    constexpr double kStep_s = 0.002;
    const double low = std::max(0.0, model.time_constant_s - kStep_s);
    slope(model.delay_s, low, model.delay_s, model.time_constant_s + kStep_s, model.time_constant_s + kStep_s - low, by_tau_);
  }
  [[nodiscard]] std::size_t count() const { return 2U + (lagged_ ? 1U : 0U) + (problem_.options().offset ? 1U : 0U); }
  [[nodiscard]] Vector row(std::size_t i) const {
    Vector row{f_[i], model_.gain * by_delay_[i]};
    std::size_t n = 2;
    if (lagged_) row[n++] = model_.gain * by_tau_[i];
    if (problem_.options().offset) row[n++] = 1.0;
    return row;
  }
  [[nodiscard]] double residual(std::size_t i) const { return problem_.residual(model_, f_, i); }

 private:
  void slope(double d0, double t0, double d1, double t1, double step, std::vector<double>& out) const {
    std::vector<double> other;
    problem_.evaluate(d0, t0, other);
    problem_.evaluate(d1, t1, out);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = (out[i] - other[i]) / step;
  }
  const Problem& problem_;
  const Model& model_;
  bool lagged_;
  std::vector<double> f_, by_delay_, by_tau_;
};

/// Delay and time constant together, by Gauss-Newton with halved steps from a first guess.
Model refine_lagged(const Problem& problem, Model model) {
  constexpr int kMostRounds = 25;
  constexpr double kSettled_s = 2e-5;
  const LagOptions& options = problem.options();
  std::vector<double> f;
  model = problem.project(model.delay_s, model.time_constant_s, f);
  for (int round = 0; round < kMostRounds; ++round) {
    const Slopes slopes(problem, model, true);
    Normal normal;
    for (std::size_t i = 0; i < problem.size(); ++i) normal.add(slopes.row(i), slopes.residual(i), problem.weight(i), slopes.count());
    Vector step{};
    if (!solve(normal.a, normal.s, slopes.count(), step)) return model;
    double share = 1.0;
    Model next;
    for (; share > 1e-3; share *= 0.5) {
      const double delay = std::clamp(model.delay_s + share * step[1], options.shortest_s, options.longest_s);
      const double tau = std::clamp(model.time_constant_s + share * step[2], 0.0, options.longest_s);
      next = problem.project(delay, tau, f);
      if (next.squares < model.squares) break;
    }
    if (!(next.squares < model.squares)) return model;
    const double moved = std::abs(next.delay_s - model.delay_s) + std::abs(next.time_constant_s - model.time_constant_s);
    model = next;
    if (moved < kSettled_s) return model;
  }
  return model;
}

/// The fitted parameters with their intervals. The lag is the sum of delay and time constant, whose errors go against one another.
LagFit judge(const Problem& problem, const Model& model, bool lagged) {
  const Slopes slopes(problem, model, lagged);
  Blocks blocks(problem.first_s(), problem.last_s());
  double squares = 0.0;
  for (std::size_t i = 0; i < problem.size(); ++i) {
    Vector row = slopes.row(i);
    // In terms of the lag instead of the delay: the time constant then shifts from the one to the other.
    if (lagged) row[2] -= row[1];
    blocks.of(problem.begin_s(i)).add(row, slopes.residual(i), problem.weight(i), slopes.count());
    squares += slopes.residual(i) * slopes.residual(i);
  }
  const Vector half = blocks.half_widths(slopes.count());
  LagFit fit;
  fit.first_order = lagged;
  fit.gain = estimate(model.gain, half[0], problem.size());
  fit.lag_s = estimate(model.delay_s + (lagged ? model.time_constant_s : 0.0), half[1] + model.undecided_s, problem.size());
  fit.delay_s = fit.lag_s;
  fit.time_constant_s = estimate(0.0, 0.0, problem.size());
  fit.rms = std::sqrt(squares / static_cast<double>(problem.size()));
  if (problem.options().offset) fit.offset = estimate(model.offset, half[lagged ? 3 : 2], problem.size());
  if (!lagged) return fit;
  Blocks apart(problem.first_s(), problem.last_s());
  for (std::size_t i = 0; i < problem.size(); ++i) {
    apart.of(problem.begin_s(i)).add(slopes.row(i), slopes.residual(i), problem.weight(i), slopes.count());
  }
  const Vector parts = apart.half_widths(slopes.count());
  fit.delay_s = estimate(model.delay_s, parts[1], problem.size());
  fit.time_constant_s = estimate(model.time_constant_s, parts[2], problem.size());
  return fit;
}

/// Standard deviation of what the model says before its gain.
double spread_of(const Problem& problem, const Model& model) {
  std::vector<double> f;
  problem.evaluate(model.delay_s, model.time_constant_s, f);
  double mean = 0.0;
  double square = 0.0;
  for (const double each : f) mean += each / static_cast<double>(f.size());
  for (const double each : f) square += (each - mean) * (each - mean);
  return std::sqrt(square / static_cast<double>(f.size()));
}

void refuse(LagFit& fit, const std::string& why) {
  for (Estimate* each : {&fit.lag_s, &fit.delay_s, &fit.time_constant_s, &fit.gain, &fit.offset}) {
    each->identifiable = false;
    each->why = why;
  }
}

/// What the data cannot say, said.
void doubt(LagFit& fit, const Problem& problem, const Model& model) {
  constexpr double kWidest_s = 0.1;
  const LagOptions& options = problem.options();
  const double spread = spread_of(problem, model);
  if (spread < options.least_spread) {
    return refuse(fit, "the command hardly varies: standard deviation " + format_number(spread, 2) + ", needed " +
                           format_number(options.least_spread, 2));
  }
  const double edge = 0.002;
  if (model.delay_s <= options.shortest_s + edge || model.delay_s >= options.longest_s - edge ||
      model.time_constant_s >= options.longest_s - edge) {
    return refuse(fit, "the best lag lies at an end of the range " + format_number(options.shortest_s, 2) + " .. " +
                           format_number(options.longest_s, 2) + " s");
  }
  if (!(fit.gain.low * fit.gain.high > 0.0) && fit.gain.identifiable) {
    return refuse(
        fit, "the response does not follow the command: gain " + format_number(fit.gain.low, 2) + " .. " + format_number(fit.gain.high, 2));
  }
  for (Estimate* each : {&fit.lag_s, &fit.delay_s, &fit.time_constant_s}) {
    if (!each->identifiable || each->high - each->low <= 2.0 * kWidest_s) continue;
    each->identifiable = false;
    each->why = "uncertain by more than " + format_number(kWidest_s, 2) + " s";
  }
}

/// Whether a first-order lag is seen: the time constant clears its interval and is more than a sample's worth.
bool seen(const LagFit& lagged) {
  constexpr double kLeast_s = 0.01;
  return lagged.time_constant_s.identifiable && lagged.time_constant_s.value > kLeast_s && lagged.time_constant_s.low > 0.0;
}

}  // namespace

LagFit fit_lag(const CommandSignal& command, const MeasuredSignal& measured, const LagOptions& options) {
  PITWALL_CHECK(command.t_s.size() == command.value.size(), command.t_s.size());
  PITWALL_CHECK(measured.begin_s.size() == measured.value.size() && measured.end_s.size() == measured.value.size(), measured.value.size());
  constexpr std::size_t kFewestSamples = 30;
  constexpr std::size_t kCoarse = 1500;
  constexpr double kCoarseStep_s = 0.02;
  LagFit none;
  if (command.t_s.size() < 2) {
    refuse(none, "no commands");
    return none;
  }
  const Problem problem(command, measured, options, 1);
  if (problem.size() < kFewestSamples) {
    refuse(none, std::to_string(problem.size()) + " samples, at least " + std::to_string(kFewestSamples) + " needed");
    return none;
  }
  const Problem coarse(command, measured, options, 1 + problem.size() / kCoarse);
  Model delayed;
  Model lagged;
  for (const double tau : {0.0, 0.03, 0.06, 0.12, 0.25, 0.5}) {
    const Model model = best_on_grid(coarse, tau, options.shortest_s, options.longest_s, kCoarseStep_s);
    if (tau == 0.0) {
      delayed = model;
    } else if (model.squares < lagged.squares) {
      lagged = model;
    }
  }
  delayed = refine_delay(problem, delayed.delay_s, kCoarseStep_s);
  // Most of the way on few of the samples, the rest on all.
  lagged = refine_lagged(problem, refine_lagged(coarse, lagged));
  const LagFit with_lag = judge(problem, lagged, true);
  const bool first_order = lagged.squares < delayed.squares && seen(with_lag);
  LagFit fit = first_order ? with_lag : judge(problem, delayed, false);
  doubt(fit, problem, first_order ? lagged : delayed);
  return fit;
}

std::vector<double> aligned(const CommandSignal& command, const MeasuredSignal& measured, double delay_s, double time_constant_s) {
  std::vector<double> f(measured.begin_s.size(), NAN);
  if (command.t_s.empty()) return f;
  Lagged lagged(command, time_constant_s);
  for (std::size_t i = 0; i < f.size(); ++i) {
    if (measured.begin_s[i] - delay_s < command.t_s[0]) continue;
    const double width = measured.end_s[i] - measured.begin_s[i];
    const double mean = width > 0.0
                            ? (lagged.integral_at(measured.end_s[i] - delay_s) - lagged.integral_at(measured.begin_s[i] - delay_s)) / width
                            : lagged.value_at(measured.begin_s[i] - delay_s);
    f[i] = (measured.factor.empty() ? 1.0 : measured.factor[i]) * mean;
  }
  return f;
}

}  // namespace pitwall::signals
