// SPDX-License-Identifier: Apache-2.0
#include "core/signal.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/check.hpp"
#include "core/math.hpp"
#include "core/text.hpp"

namespace pitwall::signals {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostParameters = 4;
using Vector = std::array<double, kMostParameters>;
using Matrix = std::array<Vector, kMostParameters>;

/// Solves the leading n x n part of a symmetric positive definite system (Cholesky); false where it is singular.
bool solve(Matrix a, Vector b, std::size_t n, Vector& x) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= a[i][k] * a[j][k];
      if (i == j) {
        if (!(sum > 1e-14 * std::abs(a[i][i]))) return false;
        a[i][i] = std::sqrt(sum);
      } else {
        a[i][j] = sum / a[j][j];
      }
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  x = b;
  return true;
}

/// Normal equations of one block of time, or of all.
struct Normal {
  Matrix a{};
  Vector s{};
  void add(const Vector& row, double residual, double weight, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) a[i][j] += weight * row[i] * row[j];
      s[i] += weight * row[i] * residual;
    }
  }
  void add(const Normal& other, double sign) {
    for (std::size_t i = 0; i < kMostParameters; ++i) {
      for (std::size_t j = 0; j < kMostParameters; ++j) a[i][j] += sign * other.a[i][j];
      s[i] += sign * other.s[i];
    }
  }
};

/// Blocks of equal length in time, at least a second each, at most twenty.
class Blocks {
 public:
  static constexpr double kShortest_s = 1.0;
  static constexpr std::size_t kFewest = 4;
  static constexpr double kMost = 20.0;

  Blocks(double first_s, double last_s) : first_s_(first_s), length_s_(std::max(kShortest_s, (last_s - first_s) / kMost)) {}
  Normal& of(double t_s) {
    const auto index = static_cast<std::size_t>(std::max(0.0, (t_s - first_s_) / length_s_));
    if (index >= blocks_.size()) {
      blocks_.resize(index + 1);
      used_.resize(index + 1, false);
    }
    used_[index] = true;
    return blocks_[index];
  }
  /// Half widths of the 95 % intervals, n of them; +inf where the blocks are too few or do not say anything.
  [[nodiscard]] Vector half_widths(std::size_t n) const {
    Vector result;
    result.fill(kInf);
    Normal all;
    for (const Normal& block : blocks_) all.add(block, 1.0);
    std::vector<Vector> left_out;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (!used_[b]) continue;
      Normal rest = all;
      rest.add(blocks_[b], -1.0);
      Vector step{};
      if (!solve(rest.a, rest.s, n, step)) return result;
      left_out.push_back(step);
    }
    if (left_out.size() < kFewest) return result;
    const auto count = static_cast<double>(left_out.size());
    for (std::size_t i = 0; i < n; ++i) {
      double mean = 0.0;
      double variance = 0.0;
      for (const Vector& each : left_out) mean += each[i] / count;
      for (const Vector& each : left_out) variance += (each[i] - mean) * (each[i] - mean);
      result[i] = student_t95(left_out.size() - 1) * std::sqrt((count - 1.0) / count * variance);
    }
    return result;
  }

 private:
  double first_s_;
  double length_s_;
  std::vector<Normal> blocks_;
  std::vector<bool> used_;
};

Estimate estimate(double value, double half_width, std::size_t samples) {
  Estimate result;
  result.value = value;
  result.low = value - half_width;
  result.high = value + half_width;
  result.samples = samples;
  result.identifiable = std::isfinite(half_width);
  if (!result.identifiable) result.why = "too short: less than 4 blocks of a second";
  return result;
}

/// A commanded signal behind a first-order lag: its value and its integral at any time, exactly. Before the first sample it has
/// always been there.
class Lagged {
 public:
  Lagged(const CommandSignal& command, double time_constant_s) : command_(command), tau_(time_constant_s) {
    const std::size_t n = command.t_s.size();
    y_.resize(n);
    integral_.resize(n);
    y_[0] = command.value[0];
    for (std::size_t k = 0; k + 1 < n; ++k) {
      const double dt = command.t_s[k + 1] - command.t_s[k];
      y_[k + 1] = tau_ > 0.0 ? value(k, dt) : command.value[k + 1];
      integral_[k + 1] = integral(k, dt);
    }
  }
  [[nodiscard]] double value_at(double t_s) {
    if (t_s < command_.t_s[0]) return y_[0];
    const std::size_t k = piece(t_s);
    return value(k, t_s - command_.t_s[k]);
  }
  [[nodiscard]] double integral_at(double t_s) {
    if (t_s < command_.t_s[0]) return y_[0] * (t_s - command_.t_s[0]);
    const std::size_t k = piece(t_s);
    return integral(k, t_s - command_.t_s[k]);
  }

 private:
  [[nodiscard]] double slope(std::size_t k) const {
    if (command_.between == Between::kHeld || k + 1 >= command_.t_s.size()) return 0.0;
    return (command_.value[k + 1] - command_.value[k]) / (command_.t_s[k + 1] - command_.t_s[k]);
  }
  // dt after sample k, which is the last one before: u + s dt behind the lag.
  [[nodiscard]] double value(std::size_t k, double dt) const {
    const double u = command_.value[k];
    const double s = slope(k);
    if (!(tau_ > 0.0)) return u + s * dt;
    return u + s * (dt - tau_) + (y_[k] - u + s * tau_) * math::exp(-dt / tau_);
  }
  [[nodiscard]] double integral(std::size_t k, double dt) const {
    const double u = command_.value[k];
    const double s = slope(k);
    if (!(tau_ > 0.0)) return integral_[k] + (u + 0.5 * s * dt) * dt;
    const double transient = (y_[k] - u + s * tau_) * tau_ * (1.0 - math::exp(-dt / tau_));
    return integral_[k] + (u + s * (0.5 * dt - tau_)) * dt + transient;
  }
  // Times asked for mostly go on: the search starts where the last one ended.
  std::size_t piece(double t_s) {
    const auto& t = command_.t_s;
    while (at_ + 1 < t.size() && t[at_ + 1] <= t_s) ++at_;
    while (at_ > 0 && t[at_] > t_s) --at_;
    return at_;
  }

  CommandSignal command_;
  double tau_;
  std::vector<double> y_;
  std::vector<double> integral_;
  std::size_t at_ = 0;
};

/// Parameters of the model. In normal equations their order is gain, delay, then time constant and offset where they are fitted.
struct Model {
  double delay_s = 0.0;
  double time_constant_s = 0.0;
  double gain = 0.0;
  double offset = 0.0;
  double squares = kInf;     ///< weighted, of the residuals
  double undecided_s = 0.0;  ///< the delay may be so much longer or shorter without any sample telling
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

  void evaluate(double delay_s, double time_constant_s, std::vector<double>& f) const {
    Lagged lagged(command_, time_constant_s);
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
    evaluate(delay_s, time_constant_s, f);
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
  const auto steps = static_cast<int>(std::ceil((to_s - from_s) / step_s - 1e-9));
  for (int k = 0; k <= steps; ++k) {
    const Model model = problem.project(std::min(to_s, from_s + k * step_s), time_constant_s, f);
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

std::vector<double> resample(std::span<const double> t_s, std::span<const double> value, std::span<const double> at_s, Between between,
                             double longest_gap_s) {
  PITWALL_CHECK(t_s.size() == value.size(), t_s.size(), value.size());
  std::vector<double> result(at_s.size(), NAN);
  for (std::size_t i = 0; i < at_s.size(); ++i) {
    const auto after = std::upper_bound(t_s.begin(), t_s.end(), at_s[i]);
    if (after == t_s.begin()) continue;
    const auto k = static_cast<std::size_t>(after - t_s.begin()) - 1;
    if (between == Between::kHeld) {
      if (at_s[i] - t_s[k] <= longest_gap_s) result[i] = value[k];
    } else if (at_s[i] == t_s[k]) {
      result[i] = value[k];
    } else if (k + 1 < t_s.size() && t_s[k + 1] - t_s[k] <= longest_gap_s) {
      result[i] = value[k] + (value[k + 1] - value[k]) * (at_s[i] - t_s[k]) / (t_s[k + 1] - t_s[k]);
    }
  }
  return result;
}

double student_t95(std::size_t degrees_of_freedom) {
  constexpr std::array kSmall{kInf, 12.7062, 4.3027, 3.1824};
  if (degrees_of_freedom < kSmall.size()) return kSmall[degrees_of_freedom];
  // Cornish-Fisher expansion (Abramowitz & Stegun 26.7.5) at the normal quantile 1.959964.
  const auto n = static_cast<double>(degrees_of_freedom);
  return 1.959964 + (2.372271 + (2.822500 + (2.555850 + 1.589534 / n) / n) / n) / n;
}

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
  lagged = refine_lagged(problem, lagged);
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

Estimate fit_gain(std::span<const double> t_s, std::span<const double> x, std::span<const double> y, double least_rms) {
  PITWALL_CHECK(t_s.size() == x.size() && x.size() == y.size(), t_s.size(), x.size(), y.size());
  constexpr std::size_t kFewest = 10;
  double xx = 0.0;
  double xy = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += x[i] * x[i];
    xy += x[i] * y[i];
  }
  const double gain = xx > 0.0 ? xy / xx : NAN;
  Estimate result;
  result.value = gain;
  result.samples = x.size();
  if (x.size() < kFewest) {
    result.why = std::to_string(x.size()) + " samples, at least " + std::to_string(kFewest) + " needed";
    return result;
  }
  if (!(std::sqrt(xx / static_cast<double>(x.size())) >= least_rms)) {
    result.why = "too small to compare: root mean square below " + format_number(least_rms, 2);
    return result;
  }
  Blocks blocks(t_s.front(), t_s.back());
  for (std::size_t i = 0; i < x.size(); ++i) blocks.of(t_s[i]).add({x[i]}, y[i] - gain * x[i], 1.0, 1);
  return estimate(gain, blocks.half_widths(1)[0], x.size());
}

Estimate mean_of(std::span<const double> t_s, std::span<const double> y) {
  const std::vector<double> ones(y.size(), 1.0);
  return fit_gain(t_s, ones, y, 0.0);
}

}  // namespace pitwall::signals
