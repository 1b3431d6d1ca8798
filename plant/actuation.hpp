// SPDX-License-Identifier: Apache-2.0
// What stands between a command and the tyres: the lines that delay it, the steering servo, and the speed loop with the
// limits of motor, battery and brake.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/car.hpp"
#include "core/time.hpp"

namespace pitwall::plant {

enum class Servo : std::uint8_t {
  kFirstOrder,  ///< rate = clamp(gain * (target - angle), +-rate_max), 0 within the dead band
  kBangBang     ///< full rate towards the target outside a dead zone of 1e-4 rad
};
inline constexpr std::array<std::string_view, 2> kServoNames = {"first_order", "bang_bang"};

inline constexpr std::size_t kCommandsUnderWay = 512;

/// Values on their way, taken out by due time. Fixed size: no allocation, plainly copyable.
class DelayLine {
 public:
  void clear() { size_ = 0; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] bool full() const { return size_ == kCommandsUnderWay; }
  [[nodiscard]] Time next_due() const { return items_[first_].due; }
  void push(double value, Time due);
  double pop();

 private:
  struct Item {
    double value = 0.0;
    Time due;
  };
  std::array<Item, kCommandsUnderWay> items_{};
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

/// The steering between command and wheels.
struct SteeringServo {
  Servo kind = Servo::kFirstOrder;
  double gain = 1.0;           ///< wheel angle per commanded angle
  double bias_rad = 0.0;       ///< wheel angle when straight ahead is commanded
  double dead_band_rad = 0.0;  ///< errors up to this size move nothing, so the wheels stop that much short
  double right_rad = 0.0;      ///< lock, negative
  double left_rad = 0.0;       ///< lock, positive
  double servo_gain_per_s = 1.0;
  double rate_max_radps = 1.0;

  explicit SteeringServo(const CarParameters& car, Servo servo);
  /// Where that command wants the wheels: bent by gain and bias, within the locks.
  [[nodiscard]] double target(double commanded_rad) const;
  /// rad/s.
  [[nodiscard]] double rate(double target_rad, double angle_rad) const;
  /// Seconds until the rate limit of the first-order servo lets go; 0 if it does not act.
  [[nodiscard]] double limited_for_s(double target_rad, double angle_rad) const;
};

/// The speed loop: a = k (target - v) + i, i' = k_i (target - v) while nothing limits a.
struct SpeedLoop {
  double accel_gain_per_s = 1.0;
  double brake_gain_per_s = 1.0;
  double integral_gain_per_s2 = 0.0;
  double drive_max_mps2 = 1.0;
  double brake_max_mps2 = 1.0;
  double power_per_mass = 1e5;    ///< W/kg: drive falls as 1/v where the battery gives no more
  double free_speed_mps = 1e3;    ///< where the battery's voltage is used up; drive is full up to 3/4 of it
  double stock_switch_mps = 1e9;  ///< forwards only: drive falls as 1/v above

  explicit SpeedLoop(const CarParameters& car);
  struct Demand {
    double acceleration = 0.0;   ///< m/s^2, within motor, battery and brake
    double integral_rate = 0.0;  ///< m/s^3
  };
  /// `body_speed` is what the loop controls; `speed` what the motor's limits go by.
  [[nodiscard]] Demand demand(double target, double speed, double body_speed, double integral) const;
  [[nodiscard]] double acceleration_max() const { return drive_max_mps2 > brake_max_mps2 ? drive_max_mps2 : brake_max_mps2; }
};

namespace detail {
inline constexpr double kBangBangDeadZone_rad = 1e-4;
/// A stalled motor would give four times what the controller's current limit lets through.
inline constexpr double kStallOverLimit = 4.0;
}  // namespace detail

// In the header because they are a tenth of a step where they are called rather than inlined.

inline double SteeringServo::rate(double target_rad, double angle_rad) const {
  const double error = target_rad - angle_rad;
  if (kind == Servo::kBangBang) {
    if (std::abs(error) <= detail::kBangBangDeadZone_rad) return 0.0;
    return error > 0.0 ? rate_max_radps : -rate_max_radps;
  }
  const double beyond = std::abs(error) - dead_band_rad;
  if (beyond <= 0.0) return 0.0;
  return std::copysign(std::min(servo_gain_per_s * beyond, rate_max_radps), error);
}

inline SpeedLoop::Demand SpeedLoop::demand(double target, double speed, double body_speed, double integral) const {
  const double error = target - body_speed;
  // Accelerating means |v| grows: from rest in either direction, and in reverse as forwards.
  const bool accelerating = body_speed == 0.0 || (error > 0.0) == (body_speed > 0.0);
  const double wanted = (accelerating ? accel_gain_per_s : brake_gain_per_s) * error + integral;
  const double fast = std::abs(speed);
  double drive = drive_max_mps2;
  if (drive * fast > power_per_mass) drive = power_per_mass / fast;
  drive = std::clamp(detail::kStallOverLimit * drive_max_mps2 * (1.0 - fast / free_speed_mps), 0.0, drive);
  if (speed > stock_switch_mps) drive = std::min(drive, drive_max_mps2 * stock_switch_mps / speed);
  // From rest both ways drive.
  const double up = body_speed >= 0.0 ? drive : brake_max_mps2;
  const double down = body_speed <= 0.0 ? drive : brake_max_mps2;
  const double given = std::clamp(wanted, -down, up);
  const bool limited = given != wanted && (wanted > 0.0) == (error > 0.0);
  return {given, limited ? 0.0 : integral_gain_per_s2 * error};
}

}  // namespace pitwall::plant
