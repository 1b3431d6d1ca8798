// SPDX-License-Identifier: Apache-2.0
#include "core/signal.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "core/check.hpp"
#include "core/jackknife.hpp"
#include "core/text.hpp"

namespace pitwall::signals {

using detail::Blocks;
using detail::estimate;

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
  constexpr std::array kSmall{std::numeric_limits<double>::infinity(), 12.7062, 4.3027, 3.1824};
  if (degrees_of_freedom < kSmall.size()) return kSmall[degrees_of_freedom];
  // Cornish-Fisher expansion (Abramowitz & Stegun 26.7.5) at the normal quantile 1.959964.
  const auto n = static_cast<double>(degrees_of_freedom);
  return 1.959964 + (2.372271 + (2.822500 + (2.555850 + 1.589534 / n) / n) / n) / n;
}

Estimate fit_gain(std::span<const double> t_s, std::span<const double> x, std::span<const double> y, double least_rms,
                  std::span<const double> weight) {
  PITWALL_CHECK(t_s.size() == x.size() && x.size() == y.size(), t_s.size(), x.size(), y.size());
  constexpr std::size_t kFewest = 10;
  double xx = 0.0;
  double wxx = 0.0;
  double wxy = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double w = weight.empty() ? 1.0 : weight[i];
    xx += x[i] * x[i];
    wxx += w * x[i] * x[i];
    wxy += w * x[i] * y[i];
  }
  const double gain = wxx > 0.0 ? wxy / wxx : NAN;
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
  for (std::size_t i = 0; i < x.size(); ++i) blocks.of(t_s[i]).add({x[i]}, y[i] - gain * x[i], weight.empty() ? 1.0 : weight[i], 1);
  return estimate(gain, blocks.half_widths(1)[0], x.size());
}

Estimate mean_of(std::span<const double> t_s, std::span<const double> y) {
  const std::vector<double> ones(y.size(), 1.0);
  return fit_gain(t_s, ones, y, 0.0);
}

}  // namespace pitwall::signals
