// SPDX-License-Identifier: Apache-2.0
#include "analysis/spectrum.hpp"

#include <algorithm>
#include <utility>

#include "core/math.hpp"

namespace pitwall::analysis {

namespace {

// Hann windows that overlap by half see the same noise in part: coefficients of neighbouring windows are correlated by 1/6, of neighbouring
// frequencies by 2/3 and 1/6, and what two signals make together by the squares of these. So many windows, or frequencies, are worth one.
constexpr double kOverlap = 1.0 + 2.0 / 36.0;
constexpr double kWidth_bins = 1.0 + 2.0 * (16.0 + 1.0) / 36.0;

struct Complex {
  double re = 0.0;
  double im = 0.0;
};

/// Hann windows of n samples and their Fourier transforms, frequency by frequency.
class WindowedTransform {
 public:
  explicit WindowedTransform(std::size_t n) : cosine_(n), sine_(n), window_(n), x_(n) {
    for (std::size_t i = 0; i < n; ++i) {
      const double angle = 2.0 * math::kPi * static_cast<double>(i) / static_cast<double>(n);
      cosine_[i] = math::cos(angle);
      sine_[i] = math::sin(angle);
      window_[i] = 0.5 - 0.5 * cosine_[i];
      power_ += window_[i] * window_[i];
    }
  }

  /// Sum of the squared weights.
  [[nodiscard]] double power() const { return power_; }
  /// The first `count` frequencies of the n samples from `first`, their mean taken off.
  std::vector<Complex> operator()(const double* first, std::size_t count) {
    const std::size_t n = x_.size();
    double mean = 0.0;
    for (std::size_t i = 0; i < n; ++i) mean += first[i] / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) x_[i] = window_[i] * (first[i] - mean);
    std::vector<Complex> lines(count);
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t i = 0, at = 0; i < n; ++i, at = (at + k) % n) {
        lines[k].re += x_[i] * cosine_[at];
        lines[k].im -= x_[i] * sine_[at];
      }
    }
    return lines;
  }

 private:
  std::vector<double> cosine_, sine_, window_, x_;
  double power_ = 0.0;
};

std::size_t samples_of(double rate_hz, double window_s) { return static_cast<std::size_t>(std::max(0L, std::lround(rate_hz * window_s))); }

double root_mean_square(const double* first, std::size_t n) {
  double squares = 0.0;
  for (std::size_t i = 0; i < n; ++i) squares += first[i] * first[i];
  return std::sqrt(squares / static_cast<double>(n));
}

}  // namespace

Spectrum welch(const std::vector<double>& samples, double rate_hz, double window_s) {
  const std::size_t n = samples_of(rate_hz, window_s);
  Spectrum spectrum;
  if (n < 4 || samples.size() < n) return spectrum;
  spectrum.step_hz = rate_hz / static_cast<double>(n);
  spectrum.density.assign(n / 2 + 1, 0.0);
  WindowedTransform transform(n);
  std::size_t windows = 0;
  for (std::size_t first = 0; first + n <= samples.size(); first += n / 2, ++windows) {
    const std::vector<Complex> lines = transform(samples.data() + first, spectrum.density.size());
    for (std::size_t k = 0; k < lines.size(); ++k) {
      const double sides = k == 0 || 2 * k == n ? 1.0 : 2.0;
      spectrum.density[k] += sides * (lines[k].re * lines[k].re + lines[k].im * lines[k].im) / (rate_hz * transform.power());
    }
  }
  for (double& each : spectrum.density) each /= static_cast<double>(windows);
  return spectrum;
}

std::vector<SpectrumPeak> peaks_of(const Spectrum& spectrum) {
  constexpr double kStandsOut_db = 6.0;
  std::vector<SpectrumPeak> peaks;
  const std::vector<double>& d = spectrum.density;
  if (d.size() < 8) return peaks;
  std::vector<double> sorted(d.begin() + 2, d.end());
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
  const double floor = sorted[sorted.size() / 2];
  for (std::size_t k = 2; k + 1 < d.size() && floor > 0.0; ++k) {
    if (!(d[k] > d[k - 1] && d[k] >= d[k + 1])) continue;
    const double level = 10.0 * math::log(d[k] / floor) / math::log(10.0);
    if (level >= kStandsOut_db) peaks.push_back({spectrum.step_hz * static_cast<double>(k), level});
  }
  return peaks;
}

double aliased(double frequency_hz, double rate_hz) { return std::abs(frequency_hz - rate_hz * std::round(frequency_hz / rate_hz)); }

Order order_near(double line_hz, double motor_hz, double wheel_hz, double rate_hz, double tolerance_hz) {
  constexpr int kOrders = 4;
  Order best;
  double nearest = tolerance_hz;
  for (const auto& [name, base_hz] : {std::pair{"motor", motor_hz}, std::pair{"wheel", wheel_hz}}) {
    for (int n = 1; n <= kOrders && std::isfinite(base_hz); ++n) {
      const double own_hz = n * base_hz;
      const double seen_hz = aliased(own_hz, rate_hz);
      if (std::abs(seen_hz - line_hz) >= nearest) continue;
      nearest = std::abs(seen_hz - line_hz);
      best = {std::string(name) + " x" + std::to_string(n), seen_hz, own_hz > 0.5 * rate_hz ? own_hz : NAN};
    }
  }
  return best;
}

double allan_deviation(const std::vector<double>& samples, std::size_t m) {
  if (m == 0 || samples.size() < 2 * m + 1) return NAN;
  std::vector<double> sum(samples.size() + 1, 0.0);
  for (std::size_t i = 0; i < samples.size(); ++i) sum[i + 1] = sum[i] + samples[i];
  double squares = 0.0;
  const std::size_t count_of = samples.size() - 2 * m + 1;
  for (std::size_t i = 0; i < count_of; ++i) {
    const double difference = (sum[i + 2 * m] - 2.0 * sum[i + m] + sum[i]) / static_cast<double>(m);
    squares += difference * difference;
  }
  return std::sqrt(0.5 * squares / static_cast<double>(count_of));
}

TransferFunction transfer_function(const std::vector<double>& input, const std::vector<double>& output, double rate_hz,
                                   const TransferOptions& options) {
  const std::size_t n = samples_of(rate_hz, options.window_s);
  TransferFunction transfer;
  if (n < 4 || input.size() != output.size()) return transfer;
  const double step_hz = rate_hz / static_cast<double>(n);
  const std::size_t lines = std::min(n / 2, static_cast<std::size_t>(options.highest_hz / step_hz)) + 1;
  std::vector<double> xx(lines, 0.0), yy(lines, 0.0);
  std::vector<Complex> xy(lines);
  WindowedTransform transform(n);
  for (std::size_t first = 0; first + n <= input.size();) {
    // A window that a hole spoils ends there; the next begins behind it.
    std::size_t known = 0;
    while (known < n && std::isfinite(input[first + known]) && std::isfinite(output[first + known])) ++known;
    if (known < n) {
      first += known + 1;
      continue;
    }
    if (root_mean_square(input.data() + first, n) >= options.least_input) {
      const std::vector<Complex> x = transform(input.data() + first, lines);
      const std::vector<Complex> y = transform(output.data() + first, lines);
      for (std::size_t k = 0; k < lines; ++k) {
        xx[k] += x[k].re * x[k].re + x[k].im * x[k].im;
        yy[k] += y[k].re * y[k].re + y[k].im * y[k].im;
        xy[k].re += x[k].re * y[k].re + x[k].im * y[k].im;
        xy[k].im += x[k].re * y[k].im - x[k].im * y[k].re;
      }
      ++transfer.windows;
    }
    first += n / 2;
  }
  // Half of the mean, which is taken off, would stand at the first frequency: what is left there is nearer to the second.
  for (std::size_t k = 2; k < lines && transfer.windows > 0; ++k) {
    if (!(xx[k] > 0.0 && yy[k] > 0.0)) continue;
    TransferPoint point;
    point.frequency_hz = step_hz * static_cast<double>(k);
    point.coherence = (xy[k].re * xy[k].re + xy[k].im * xy[k].im) / (xx[k] * yy[k]);
    point.gain = math::hypot(xy[k].re, xy[k].im) / xx[k];
    point.phase_rad = math::atan2(xy[k].im, xy[k].re);
    const double independent = static_cast<double>(transfer.windows) / kOverlap;
    point.sigma = std::sqrt(std::max(0.0, 1.0 - point.coherence) / (2.0 * independent * point.coherence));
    transfer.points.push_back(point);
  }
  return transfer;
}

SteadyResponse steady_response(const TransferFunction& transfer) {
  constexpr std::size_t kLeastWindows = 8, kLeastPoints = 3;
  constexpr double kSlow_hz = 1.0;
  constexpr double kLeastSigma = 1e-3;  // no point is so good that it alone has a say
  constexpr double k95 = 1.96;
  double slopes = 0.0, squares = 0.0, gains = 0.0, weights = 0.0;
  SteadyResponse response;
  for (const TransferPoint& point : transfer.points) {
    if (!(point.coherence > kCoherent)) continue;
    const double sigma = std::max(kLeastSigma, point.sigma);
    const double weight = 1.0 / (sigma * sigma);
    const double angular = 2.0 * math::kPi * point.frequency_hz;
    slopes -= weight * angular * point.phase_rad;
    squares += weight * angular * angular;
    ++response.delay_s.samples;
    if (point.frequency_hz > kSlow_hz) continue;
    gains += weight * point.gain;
    weights += weight;
    ++response.gain.samples;
  }
  const auto complete = [&](signals::Estimate& to, double value, double sigma) {
    if (to.samples < kLeastPoints) {
      to.why = "coherence is above 0.6 at fewer than 3 frequencies";
      return;
    }
    to.value = value;
    to.low = value - k95 * sigma;
    to.high = value + k95 * sigma;
    to.identifiable = transfer.windows >= kLeastWindows;
    if (!to.identifiable) to.why = "fewer than 8 windows of turning";
  };
  complete(response.delay_s, slopes / squares, std::sqrt(kWidth_bins / squares));
  complete(response.gain, gains / weights, gains / weights * std::sqrt(kWidth_bins / weights));
  return response;
}

}  // namespace pitwall::analysis
