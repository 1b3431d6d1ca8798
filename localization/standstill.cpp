// SPDX-License-Identifier: Apache-2.0
#include "localization/standstill.hpp"

#include <algorithm>
#include <cmath>

#include "core/geometry.hpp"

namespace pitwall::localization {

namespace {

constexpr std::size_t kFewest = 5;

struct Spread {
  double mean = 0.0;
  double std = 0.0;
};

template <class Samples, class Value>
Spread spread_of(const Samples& samples, const Value& value) {
  const double n = static_cast<double>(samples.size());
  Spread s;
  for (const auto& sample : samples) s.mean += value(sample) / n;
  double squares = 0.0;
  for (const auto& sample : samples) squares += (value(sample) - s.mean) * (value(sample) - s.mean);
  s.std = std::sqrt(squares / n);
  return s;
}

}  // namespace

void StandstillParameters::fields(FieldVisitor& f) {
  f.number("window_s", window_s, {"s", 0.05, 10, "of quiet"});
  f.number("coverage", coverage, {"", 0.1, 1, "share of the window that samples must span"});
  f.number("wheel_mps", wheel_mps, {"m/s", 0, 1, "from this on the car moves"});
  f.number("gyro_std_radps", gyro_std_radps, {"rad/s", 1e-5, 1, "quiet, per axis"});
  f.number("accel_std_mps2", accel_std_mps2, {"m/s^2", 1e-5, 10, "quiet, per axis"});
  f.number("accel_mean_mps2", accel_mean_mps2, {"m/s^2", 0.01, 10, "horizontal; more is a car that slides"});
  f.number("gyro_mean_radps", gyro_mean_radps, {"rad/s", 1e-4, 1, "tested where the wheels are not known"});
}

bool StandstillDetector::update(Time stamp, const std::array<double, 3>& gyro, const std::array<double, 3>& accel,
                                const std::optional<double>& wheel_mps) {
  if (wheel_mps && !(std::abs(*wheel_mps) < parameters_.wheel_mps)) {
    window_.clear();
    return false;
  }
  const Time begin = stamp - from_seconds(parameters_.window_s);
  window_.erase(window_.begin(), std::find_if(window_.begin(), window_.end(), [begin](const Sample& s) { return s.stamp >= begin; }));
  window_.push_back({stamp, gyro, accel});
  const double spanned_s = (stamp - window_.front().stamp).seconds();
  if (window_.size() < kFewest || spanned_s < parameters_.coverage * parameters_.window_s) return false;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const Spread g = spread_of(window_, [axis](const Sample& s) { return s.gyro[axis]; });
    const Spread a = spread_of(window_, [axis](const Sample& s) { return s.accel[axis]; });
    if (!(g.std < parameters_.gyro_std_radps) || !(a.std < parameters_.accel_std_mps2)) return false;
    if (!wheel_mps && !(std::abs(g.mean) < parameters_.gyro_mean_radps)) return false;
    mean_gyro_[axis] = g.mean;
    mean_accel_[axis] = a.mean;
  }
  return norm({mean_accel_[0], mean_accel_[1]}) < parameters_.accel_mean_mps2;
}

}  // namespace pitwall::localization
