// SPDX-License-Identifier: Apache-2.0
#include "recording/imu_units.hpp"

#include <algorithm>
#include <cmath>

#include "core/geometry.hpp"
#include "core/math.hpp"
#include "core/text.hpp"

namespace pitwall::recording {

namespace {

constexpr double kDegreesPerRadian = 180.0 / math::kPi;
// Standing or driving, the median of |a| is within 40 % of gravity; a factor of 3 either way separates 1 from 57.
constexpr double kNearGravity = 1.4;
constexpr double kNearRate = 3.0;
constexpr double kTurning_radps = 0.1;
constexpr std::size_t kLeastTurning = 20;
constexpr double kLeastCorrelation = 0.3;
constexpr double kFastestTurn_radps = 35.0;  // 2000 deg/s, the range of common gyros

bool near(double value, double expected, double factor) { return value > expected / factor && value < expected * factor; }

double median_norm(const ImuColumns& imu) {
  std::vector<double> norms;
  for (std::size_t i = 0; i < imu.accel_x.size(); ++i) {
    const double norm = std::sqrt(imu.accel_x[i] * imu.accel_x[i] + imu.accel_y[i] * imu.accel_y[i] + imu.accel_z[i] * imu.accel_z[i]);
    if (std::isfinite(norm)) norms.push_back(norm);
  }
  if (norms.empty()) return 0.0;
  std::nth_element(norms.begin(), norms.begin() + static_cast<std::ptrdiff_t>(norms.size() / 2), norms.end());
  return norms[norms.size() / 2];
}

/// Gain of the gyro over a reference where that turns; 0 where it does not turn enough, or the gyro does not follow it.
double gain_over(std::span<const double> gyro, const std::vector<double>& reference) {
  double products = 0.0;
  double squares = 0.0;
  double gyro_squares = 0.0;
  std::size_t n = 0;
  for (std::size_t i = 0; i < std::min(gyro.size(), reference.size()); ++i) {
    if (!std::isfinite(reference[i]) || !std::isfinite(gyro[i]) || std::abs(reference[i]) < kTurning_radps) continue;
    products += gyro[i] * reference[i];
    squares += reference[i] * reference[i];
    gyro_squares += gyro[i] * gyro[i];
    ++n;
  }
  if (n < kLeastTurning || gyro_squares == 0.0) return 0.0;
  if (std::abs(products) < kLeastCorrelation * std::sqrt(squares * gyro_squares)) return 0.0;
  return products / squares;
}

std::string number_of(double value) { return format_number(value, 3); }

}  // namespace

std::string_view name(AccelerationUnit unit) {
  return unit == AccelerationUnit::kG ? "g" : unit == AccelerationUnit::kMetresPerSecond2 ? "m/s^2" : "unknown";
}

std::string_view name(RateUnit unit) {
  return unit == RateUnit::kDegreesPerSecond ? "deg/s" : unit == RateUnit::kRadiansPerSecond ? "rad/s" : "unknown";
}

double ImuUnits::acceleration_factor() const { return acceleration == AccelerationUnit::kG ? math::kStandardGravity_mps2 : 1.0; }
double ImuUnits::rate_factor() const { return rate == RateUnit::kDegreesPerSecond ? 1.0 / kDegreesPerRadian : 1.0; }

ImuUnits detect_imu_units(const ImuColumns& imu, const std::vector<TurnReference>& references) {
  ImuUnits units;
  units.median_acceleration = median_norm(imu);
  if (near(units.median_acceleration, 1.0, kNearGravity)) units.acceleration = AccelerationUnit::kG;
  if (near(units.median_acceleration, math::kStandardGravity_mps2, kNearGravity)) units.acceleration = AccelerationUnit::kMetresPerSecond2;
  units.reason = "acceleration in " + std::string(name(units.acceleration)) + ": its median is " + number_of(units.median_acceleration);
  for (const TurnReference& reference : references) {
    const double gain = gain_over(imu.gyro_z, reference.yaw_rate_radps);
    if (near(std::abs(gain), 1.0, kNearRate)) units.rate = RateUnit::kRadiansPerSecond;
    if (near(std::abs(gain), kDegreesPerRadian, kNearRate)) units.rate = RateUnit::kDegreesPerSecond;
    if (units.rate == RateUnit::kUnknown) continue;
    units.rate_over_reference = gain;
    units.opposite_turn = gain < 0.0;
    units.reason += "; rates in " + std::string(name(units.rate)) + ": the gyro reads " + number_of(gain) + " times the turn rate of " +
                    reference.source;
    return units;
  }
  const bool beyond = std::any_of(imu.gyro_z.begin(), imu.gyro_z.end(), [](double w) { return std::abs(w) > kFastestTurn_radps; });
  if (beyond || units.acceleration == AccelerationUnit::kG) {
    units.rate = RateUnit::kDegreesPerSecond;
  } else if (units.acceleration == AccelerationUnit::kMetresPerSecond2) {
    units.rate = RateUnit::kRadiansPerSecond;
  }
  units.rate_assumed = !beyond;
  units.reason +=
      "; rates in " + std::string(name(units.rate)) +
      (beyond ? ": no car turns faster than 35 rad/s"
              : ", assumed: nothing else in the recording says how it turned, and that unit goes with that of the acceleration");
  return units;
}

std::vector<double> turn_rate_of(std::span<const double> t_s, std::span<const double> yaw_rad) {
  std::vector<double> rate(t_s.size(), NAN);
  for (std::size_t i = 1; i + 1 < t_s.size(); ++i) {
    if (!(t_s[i] > t_s[i - 1]) || !(t_s[i + 1] > t_s[i])) continue;
    const double turned = wrap_angle(yaw_rad[i] - yaw_rad[i - 1]) + wrap_angle(yaw_rad[i + 1] - yaw_rad[i]);
    rate[i] = turned / (t_s[i + 1] - t_s[i - 1]);
  }
  return rate;
}

}  // namespace pitwall::recording
