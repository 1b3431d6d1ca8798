// SPDX-License-Identifier: Apache-2.0
// Odometry of base_link from the motor controller's tachometer and a gyro: the way is counted, not integrated from speeds, and each step
// is an arc of that way and of the change of heading, exact for any step as long as both go on evenly.
#pragma once

#include <cstdint>
#include <optional>

#include "core/messages.hpp"
#include "core/time.hpp"

namespace pitwall::onboard {

/// The change of heading between instants, by a gyro; by a model of the steering where the gyro is silent.
class Heading {
 public:
  /// Yaw rate, bias taken off; by stamp.
  void add_gyro(Time stamp, double yaw_rate_radps);
  /// Change since the last call, which was for an earlier instant; 0 the first time. The gyro's rate goes on behind its last sample for
  /// up to 0.1 s; where it is older, `model_radps` counts.
  double advance(Time to, double model_radps);
  /// Rate that the last advance() ended with, rad/s.
  [[nodiscard]] double rate_radps() const { return rate_radps_; }
  [[nodiscard]] bool by_gyro() const { return by_gyro_; }

 private:
  std::optional<Time> gyro_stamp_;
  double gyro_radps_ = 0.0;
  double gyro_rad_ = 0.0;  // integral up to gyro_stamp_
  std::optional<Time> last_;
  double last_rad_ = 0.0;  // the gyro's integral at last_
  bool by_gyro_ = false;
  double rate_radps_ = 0.0;
};

class WheelOdometry {
 public:
  /// `metres_per_count` may be negative; `speed_max_mps` tells a counter that started anew from one that turned fast.
  WheelOdometry(double metres_per_count, double speed_max_mps) : metres_per_count_(metres_per_count), speed_max_mps_(speed_max_mps) {}

  /// The counter is another one from here on (a new connection).
  void forget_counter() { counter_.reset(); }
  /// A reading of the tachometer (six counts per electrical revolution, signed, wraps at 2^31), the speed at that instant and the change
  /// of heading since the last reading. Where the counter started anew the way is that of the speeds.
  Odometry add(Time stamp, std::int32_t tachometer, double speed_mps, double turn_rad, double yaw_rate_radps);

  /// Times that the counter was found to have started anew.
  [[nodiscard]] int restarts() const { return restarts_; }
  /// Way of all steps, m; backwards counts negative.
  [[nodiscard]] double way_m() const { return way_m_; }

 private:
  [[nodiscard]] double step_m(double dt_s, std::int32_t tachometer, double speed_mps);

  double metres_per_count_;
  double speed_max_mps_;
  std::optional<std::int32_t> counter_;
  std::optional<Time> last_;
  double last_speed_mps_ = 0.0;
  Pose2 T_odom_base_;
  double way_m_ = 0.0;
  int restarts_ = 0;
};

}  // namespace pitwall::onboard
