// SPDX-License-Identifier: Apache-2.0
#include "analysis/stretches.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "localization/standstill.hpp"

namespace pitwall::analysis {

namespace {

constexpr double kShortest_s = 2.0;
constexpr double kStretchGap_s = 0.25;
constexpr double kSpread = 0.05;

}  // namespace

std::vector<Stretch> standing(const ImuSeries& imu, const std::vector<double>& wheel_mps) {
  localization::StandstillDetector detector({});
  std::vector<Stretch> all;
  bool before = false;
  for (std::size_t i = 0; i < imu.size(); ++i) {
    const std::optional<double> wheel = std::isfinite(wheel_mps[i]) ? std::optional(wheel_mps[i]) : std::nullopt;
    const bool stands = detector.update(Time{} + from_seconds(imu.t_s[i]), {imu.gyro_x[i], imu.gyro_y[i], imu.gyro_z[i]},
                                        {imu.accel_x[i], imu.accel_y[i], imu.accel_z[i]}, wheel);
    if (stands && !before) all.push_back({imu.t_s[i], imu.t_s[i], 0.0});
    if (stands) all.back().end_s = imu.t_s[i];
    before = stands;
  }
  std::erase_if(all, [](const Stretch& each) { return each.seconds() < kShortest_s; });
  return all;
}

std::vector<Stretch> steady(const std::vector<double>& t_s, const std::vector<double>& value, double least) {
  std::vector<Stretch> all;
  std::size_t first = 0;  // of the stretch that is being made
  double low = 0.0, high = 0.0, sum = 0.0;
  const auto close = [&](std::size_t end) {
    if (end > first && t_s[end - 1] - t_s[first] >= kShortest_s)
      all.push_back({t_s[first], t_s[end - 1], sum / static_cast<double>(end - first)});
  };
  for (std::size_t i = 0; i < t_s.size(); ++i) {
    const double v = std::abs(value[i]);
    const bool fast = v >= least;
    if (fast && i > first && t_s[i] - t_s[i - 1] <= kStretchGap_s && std::max(high, v) - std::min(low, v) <= kSpread * std::min(low, v)) {
      low = std::min(low, v);
      high = std::max(high, v);
      sum += v;
      continue;
    }
    close(i);
    first = fast ? i : i + 1;
    low = high = v;
    sum = fast ? v : 0.0;
  }
  close(t_s.size());
  return all;
}

}  // namespace pitwall::analysis
