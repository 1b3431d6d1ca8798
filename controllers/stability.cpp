// SPDX-License-Identifier: Apache-2.0
#include "controllers/stability.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "controllers/lateral_model.hpp"
#include "controllers/line_following.hpp"
#include "core/math.hpp"

namespace pitwall::controllers {

namespace {

/// The loop cut open at the command, and the same closed.
struct Loop {
  double period_s = 0.0;
  Discrete car;  ///< with the commands under way as further states
  Matrix gain;   ///< 1 x (states and memory): u = -gain x
};

Matrix row_of(const FeedbackGains& gains, LateralKind kind) {
  Matrix row(1, states(kind));
  row(0, kStateD) = gains.lateral;
  row(0, kStateE) = gains.heading;
  row(0, states(kind) - 1) = gains.wheel;
  if (kind == LateralKind::kDynamic) {
    row(0, kStateVy) = gains.lateral_velocity;
    row(0, kStateR) = gains.yaw_rate;
  }
  return row;
}

/// The kinematic car's yaw rate is that of its wheels, and its sideways speed that of a rolling rear axle.
void fold_yaw_rate(const FeedbackGains& gains, const Continuous& model, const CarParameters& car, Matrix& row) {
  row(0, 2) += (gains.yaw_rate + gains.lateral_velocity * car.lr_m()) * model.a(kStateE, 2);
}

/// Gains on the state now and on the commands of the last periods, of a law that acts on the state `ahead_s` later.
Matrix before_prediction(const Matrix& gain, const Continuous& model, double period_s, double ahead_s, std::size_t memory) {
  const std::size_t n = model.a.rows();
  Matrix row(1, n + memory);
  row.set(0, 0, gain * exponential(ahead_s * model.a));
  Matrix through = gain;
  const Discrete whole = zero_order_hold(model, period_s);
  for (std::size_t i = 0; i < memory; ++i) {
    const double left = ahead_s - static_cast<double>(i) * period_s;
    if (left <= 0.0) break;
    const Matrix effect = left >= period_s ? whole.b : zero_order_hold(model, left).b;
    row(0, n + i) = (through * effect)(0, 0);
    through = through * whole.a;
  }
  return row;
}

/// Value of the open loop at z = e^(i w h).
struct Response {
  double real = 0.0;
  double imaginary = 0.0;
  [[nodiscard]] double square() const { return real * real + imaginary * imaginary; }
};

Response at_frequency(const Loop& loop, double frequency_radps) {
  // (z - A) x = B as twice as many real equations.
  const std::size_t n = loop.car.a.rows();
  const math::SinCos z = math::sincos(frequency_radps * loop.period_s);
  Matrix both(2 * n, 2 * n);
  both.set(0, 0, -1.0 * loop.car.a);
  both.set(n, n, -1.0 * loop.car.a);
  for (std::size_t i = 0; i < n; ++i) {
    both(i, i) += z.cos;
    both(n + i, n + i) += z.cos;
    both(i, n + i) = -z.sin;
    both(n + i, i) = z.sin;
  }
  Matrix right(2 * n, 1);
  right.set(0, 0, loop.car.b);
  const auto x = solve(both, right);
  if (!x) return {std::numeric_limits<double>::infinity(), 0.0};
  Response measured;
  Response remembered{1.0, 0.0};
  for (std::size_t i = 0; i < n; ++i) {
    Response& sum = i == kStateD || i == kStateE ? measured : remembered;
    sum.real += loop.gain(0, i) * (*x)(i, 0);
    sum.imaginary += loop.gain(0, i) * (*x)(n + i, 0);
  }
  // u (1 + S) = -gains x: what the law believes by its own commands is no slower for a slower car.
  const double size = remembered.square();
  return {(measured.real * remembered.real + measured.imaginary * remembered.imaginary) / size,
          (measured.imaginary * remembered.real - measured.real * remembered.imaginary) / size};
}

/// The least further delay with which a closed pole reaches the unit circle; infinite if none ever does.
double further_delay_s(const Loop& loop) {
  constexpr int kFrequencies = 240;
  constexpr double kLowest_radps = 0.02;
  const double highest = math::kPi / loop.period_s;
  const double ratio = math::exp(math::log(highest / kLowest_radps) / (kFrequencies - 1));
  double least = std::numeric_limits<double>::infinity();
  double low = kLowest_radps;
  bool above = at_frequency(loop, low).square() > 1.0;
  for (int k = 1; k < kFrequencies; ++k) {
    const double high = k + 1 == kFrequencies ? highest : low * ratio;
    const bool next = at_frequency(loop, high).square() > 1.0;
    if (next != above) {
      double a = low;
      double b = high;
      for (int i = 0; i < 30; ++i) {
        const double middle = 0.5 * (a + b);
        (at_frequency(loop, middle).square() > 1.0) == above ? a = middle : b = middle;
      }
      const Response l = at_frequency(loop, 0.5 * (a + b));
      const double phase = math::kPi + math::atan2(l.imaginary, l.real);
      least = std::min(least, phase / (0.5 * (a + b)));
    }
    above = next;
    low = high;
  }
  return least;
}

}  // namespace

double delay_margin_s(const FeedbackGains& gains, const CarParameters& car, double speed_mps, double control_period_s, double predicted_s) {
  const LateralKind kind = possible(LateralKind::kDynamic, car);
  const Continuous model = lateral_model(kind, car, speed_mps);
  const std::size_t n = states(kind);
  Matrix row = row_of(gains, kind);
  if (kind == LateralKind::kKinematic) fold_yaw_rate(gains, model, car, row);
  const bool believes = gains.yaw_rate != 0.0 || gains.lateral_velocity != 0.0 || gains.wheel != 0.0;
  const bool remembers = predicted_s > 0.0 || !gains.sent.empty() || believes;
  const double transport = remembers ? car.steering_delay_s : 0.0;
  const auto predicted = static_cast<std::size_t>(std::ceil(predicted_s / control_period_s));
  const std::size_t memory = std::max(predicted, gains.sent.size());
  Loop loop;
  loop.period_s = control_period_s;
  loop.car = delayed_hold(model, control_period_s, transport, memory);
  loop.gain = Matrix(1, loop.car.a.rows());
  loop.gain.set(0, 0, predicted_s > 0.0 ? before_prediction(row, model, control_period_s, predicted_s, memory) : row);
  for (std::size_t i = 0; i < gains.sent.size(); ++i) loop.gain(0, n + i) += gains.sent[i];
  if (!(spectral_radius(loop.car.a - loop.car.b * loop.gain) < 1.0)) return 0.0;
  return steering_delay_s(car, control_period_s) - car.steering_delay_s + transport + further_delay_s(loop);
}

}  // namespace pitwall::controllers
