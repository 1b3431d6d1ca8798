// SPDX-License-Identifier: Apache-2.0
// In which units an IMU was recorded. sensor_msgs/Imu asks for m/s^2 and rad/s; the stock driver of the VESC copies g and deg/s into it,
// and many logs keep what the sensor sent. Nothing in the data says so, but gravity does, and so does a turn that something else saw as
// well.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pitwall::recording {

enum class AccelerationUnit { kUnknown, kMetresPerSecond2, kG };
enum class RateUnit { kUnknown, kRadiansPerSecond, kDegreesPerSecond };
std::string_view name(AccelerationUnit unit);
std::string_view name(RateUnit unit);

/// Components by sample, in whatever unit; sizes agree.
struct ImuColumns {
  std::span<const double> gyro_x, gyro_y, gyro_z, accel_x, accel_y, accel_z;
};

/// The turn rate that something else saw at the samples of the IMU (rad/s, NaN where it does not know).
struct TurnReference {
  std::string source;  ///< "the IMU's own heading"
  std::vector<double> yaw_rate_radps;
};

struct ImuUnits {
  AccelerationUnit acceleration = AccelerationUnit::kUnknown;
  RateUnit rate = RateUnit::kUnknown;
  bool rate_assumed = false;   ///< by the company of the other unit, since nothing else saw the car turn
  bool opposite_turn = false;  ///< the gyro turns against the reference: an axis points down
  double median_acceleration = 0.0;
  double rate_over_reference = 0.0;  ///< 0 where there is none
  std::string reason;                ///< one line: what was taken, and why

  /// To m/s^2 and rad/s; 1 where unknown.
  [[nodiscard]] double acceleration_factor() const;
  [[nodiscard]] double rate_factor() const;
  [[nodiscard]] bool si() const { return acceleration != AccelerationUnit::kG && rate != RateUnit::kDegreesPerSecond; }
};

/// Acceleration: its median is near 1 (g) or near 9.8. Rate: over the first reference that it follows, about 1 or about 57; without one, g
/// comes with deg/s and m/s^2 with rad/s.
ImuUnits detect_imu_units(const ImuColumns& imu, const std::vector<TurnReference>& references);

/// Turn rate at each sample from headings (central differences of the unwrapped heading); NaN where stamps do not increase.
std::vector<double> turn_rate_of(std::span<const double> t_s, std::span<const double> yaw_rad);

}  // namespace pitwall::recording
