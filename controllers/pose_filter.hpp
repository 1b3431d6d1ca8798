// SPDX-License-Identifier: Apache-2.0
// Where the car is now, from poses that are late and noisy: dead reckoning by measured speed and commanded steering,
// pulled towards each pose at the instant that pose was measured (a complementary filter with a short history). A pose
// that is far off is a correction of the localiser, and taken over at once.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "controllers/line_following.hpp"
#include "core/car.hpp"
#include "core/geometry.hpp"
#include "core/time.hpp"

namespace pitwall::controllers {

/// A steering command that is on its way: it reaches the servo at `arrives`.
struct QueuedSteering {
  Time sent;
  Time arrives;
  double steering_rad = 0.0;
};

/// The estimate of T_map_base now; nothing before the first pose.
class PoseFilter {
 public:
  explicit PoseFilter(const CarParameters& car) : car_(car), understeer_(understeer_s2_per_m(car)) {}

  void reset();
  /// Moves on to `now` with the speed of the last interval and the steering that was commanded `steering_delay_s` ago.
  void step(Time now, double speed_mps);
  /// Takes in what the controller commanded at `now`.
  void commanded(Time now, double steering_rad);
  /// Takes in a pose measured at `stamp`.
  void observe(Time stamp, const Pose2& T_map_base);

  [[nodiscard]] bool ready() const { return count_ > 0; }
  /// T_map_base at an instant, interpolated; the oldest or newest known outside the history (about 0.8 s at 40 Hz).
  [[nodiscard]] Pose2 at(Time t) const;
  /// The present estimate.
  [[nodiscard]] const Pose2& now() const { return newest().pose; }
  /// Angle that the wheels are believed to have, rad.
  [[nodiscard]] double steering_rad() const { return steering_rad_; }
  /// Yaw rate in rad/s that they give at this speed.
  [[nodiscard]] double yaw_rate_radps(double speed_mps) const;
  /// Last commanded angle, rad; 0 before the first.
  [[nodiscard]] double commanded_rad() const { return sent_count_ > 0 ? sent(0).steering_rad : 0.0; }
  /// The command that the servo follows at `now`, rad.
  [[nodiscard]] double acting_rad(Time now) const;
  /// The commands that have not reached it at `now`, oldest first (the newest 32); valid until the next call.
  [[nodiscard]] std::span<const QueuedSteering> queued(Time now);

 private:
  static constexpr std::size_t kHistory = 32;
  struct Sample {
    Time t;
    Pose2 pose;
  };
  struct Sent {
    Time t;
    double steering_rad = 0.0;
  };
  [[nodiscard]] const Sent& sent(std::size_t back) const { return sent_[(next_sent_ + kHistory - 1 - back) % kHistory]; }
  [[nodiscard]] const Sample& newest() const { return history_[(next_ + kHistory - 1) % kHistory]; }
  [[nodiscard]] const Sample& back(std::size_t i) const { return history_[(next_ + kHistory - 1 - i) % kHistory]; }
  void push(const Sample& sample);
  void turn_wheels(Time now, double dt_s);

  CarParameters car_;
  double understeer_;
  std::array<Sample, kHistory> history_{};
  std::size_t next_ = 0;
  std::size_t count_ = 0;
  std::size_t observed_ = 0;
  std::array<Sent, kHistory> sent_{};
  std::size_t next_sent_ = 0;
  std::size_t sent_count_ = 0;
  double steering_rad_ = 0.0;
  std::array<QueuedSteering, kHistory> queued_{};
};

}  // namespace pitwall::controllers
