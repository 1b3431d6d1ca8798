// SPDX-License-Identifier: Apache-2.0
// A commanded signal behind a first-order lag, exactly.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "core/math.hpp"
#include "core/signal.hpp"

namespace pitwall::signals::detail {

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
  /// What is left of a transient after dt. One that nobody could measure is not worth an exponential.
  [[nodiscard]] double left_of(double transient, double dt) const {
    constexpr double kNothing = 1e-10;
    return std::abs(transient) < kNothing ? 0.0 : transient * math::exp(-dt / tau_);
  }
  // dt after sample k, which is the last one before: u + s dt behind the lag.
  [[nodiscard]] double value(std::size_t k, double dt) const {
    const double u = command_.value[k];
    const double s = slope(k);
    if (!(tau_ > 0.0)) return u + s * dt;
    return u + s * (dt - tau_) + left_of(y_[k] - u + s * tau_, dt);
  }
  [[nodiscard]] double integral(std::size_t k, double dt) const {
    const double u = command_.value[k];
    const double s = slope(k);
    if (!(tau_ > 0.0)) return integral_[k] + (u + 0.5 * s * dt) * dt;
    const double transient = y_[k] - u + s * tau_;
    return integral_[k] + (u + s * (0.5 * dt - tau_)) * dt + tau_ * (transient - left_of(transient, dt));
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

}  // namespace pitwall::signals::detail
