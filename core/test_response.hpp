// SPDX-License-Identifier: Apache-2.0
// A commanded signal and its made-up response, for tests of lag and gain fits.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "core/math.hpp"
#include "core/rng.hpp"
#include "core/signal.hpp"

namespace pitwall::signals {

struct MadeResponse {
  double delay_s = 0.0;
  double time_constant_s = 0.0;
  double gain = 1.0;
  double offset = 0.0;
  double noise = 0.0;         ///< standard deviation
  double noise_time_s = 0.0;  ///< how long an error lasts; 0: white
  double length_s = 60.0;
  double command_period_s = 0.025;
  double scan_period_s = 0.025;
  int pair = 2;  ///< a measurement is the mean over so many scan periods; 0: an instant
  bool constant = false;
  std::uint64_t seed = 1;
};

struct Made {
  std::vector<double> command_t, command, begin, end, value;
  [[nodiscard]] CommandSignal commanded() const { return {command_t, command}; }
  [[nodiscard]] MeasuredSignal measured() const { return {begin, end, value, {}, {}}; }
};

/// A command that jumps now and then and waves in between, held from tick to tick; its response by Euler steps of 0.1 ms.
inline Made make_response(const MadeResponse& with) {
  constexpr double kStep_s = 1e-4;
  const Rng jumps(with.seed, "jumps");
  const Rng errors(with.seed, "errors");
  Made made;
  std::vector<double> integral{0.0};
  double level = 1.0;
  double next_jump_s = 0.0;
  std::uint64_t jump = 0;
  for (double t = 0.0; t < with.length_s; t += with.command_period_s) {
    if (t >= next_jump_s && !with.constant) {
      level = 0.5 + 1.5 * jumps.uniform(jump, 0);
      next_jump_s = t + 0.5 + 1.5 * jumps.uniform(jump, 1);
      ++jump;
    }
    made.command_t.push_back(t);
    made.command.push_back(with.constant ? 1.0 : level + 0.2 * math::sin(2.3 * t));
  }
  const auto commanded = [&](double t) {
    const double k = std::floor(t / with.command_period_s + 1e-9);
    return made.command[static_cast<std::size_t>(std::min(std::max(k, 0.0), static_cast<double>(made.command.size() - 1)))];
  };
  double y = made.command[0];
  std::vector<double> instants;
  for (int k = 0; k * kStep_s < with.length_s; ++k) {
    const double u = commanded((k + 0.5) * kStep_s - with.delay_s);
    y = with.time_constant_s > 0.0 ? y + (u - y) * (1.0 - math::exp(-kStep_s / with.time_constant_s)) : u;
    instants.push_back(y);
    integral.push_back(integral.back() + y * kStep_s);
  }
  // Scans are out of step with the commands, and a little irregular.
  double error = with.noise * errors.normal(1U << 20U);
  const double keep = with.noise_time_s > 0.0 ? math::exp(-with.scan_period_s / with.noise_time_s) : 0.0;
  for (std::uint64_t k = 0;; ++k) {
    const double begin = 0.0071 + static_cast<double>(k) * with.scan_period_s + 0.001 * jumps.uniform(k, 2);
    const double end = begin + with.pair * with.scan_period_s;
    if (end >= with.length_s - 0.01) break;
    const auto at = [&](double t) { return static_cast<std::size_t>(t / kStep_s); };
    const double truth = with.pair > 0 ? (integral[at(end)] - integral[at(begin)]) / (static_cast<double>(at(end) - at(begin)) * kStep_s)
                                       : instants[at(begin)];
    error = keep * error + std::sqrt(1.0 - keep * keep) * with.noise * errors.normal(k);
    made.begin.push_back(begin);
    made.end.push_back(end);
    made.value.push_back(with.gain * truth + with.offset + error);
  }
  return made;
}

}  // namespace pitwall::signals
