// SPDX-License-Identifier: Apache-2.0
#include "calibration/fit/playback.hpp"

#include <algorithm>

#include "core/check.hpp"
#include "core/geometry.hpp"
#include "plant/plant.hpp"

namespace pitwall::fit {
namespace {

constexpr double kLongestDelay_s = 0.6;
constexpr double kTargetGain_per_s = 10.0;  // of the loop that turns accelerations into targets

/// Mean of the held acceleration over [from_s, to_s].
double mean_acceleration(const Commands& commands, double from_s, double to_s) {
  auto k = static_cast<std::size_t>(std::upper_bound(commands.t_s.begin(), commands.t_s.end(), from_s) - commands.t_s.begin());
  double sum = 0.0;
  double at = from_s;
  while (at < to_s) {
    const double until = k < commands.size() ? std::min(to_s, commands.t_s[k]) : to_s;
    if (k > 0) sum += (until - at) * commands.acceleration_mps2[k - 1];
    at = until;
    ++k;
  }
  return sum / (to_s - from_s);
}

class Player {
 public:
  Player(const Drive& drive, const Stretch& stretch, const Subject& subject, const PlaybackOptions& options, plant::Plant plant,
         Played& into)
      : commands_(drive.commands), stretch_(stretch), subject_(subject), options_(options), plant_(plant), into_(into) {}

  Status run() {
    into_.begin_s = stretch_.warm_s;
    into_.step_s = options_.step_s;
    const auto steps = static_cast<std::size_t>(std::ceil((stretch_.end_s - stretch_.warm_s) / options_.step_s)) + 1;
    const auto begin = static_cast<std::size_t>(std::floor((stretch_.begin_s - stretch_.warm_s) / options_.step_s));
    into_.moved.resize(steps + 1);
    plant_.reset({}, stretch_.warm_speed_mps);
    next_ = static_cast<std::size_t>(std::lower_bound(commands_.t_s.begin(), commands_.t_s.end(), stretch_.warm_s - kLongestDelay_s) -
                                     commands_.t_s.begin());
    if (next_ > 0) --next_;
    for (std::size_t k = 0; k <= steps; ++k) {
      if (stretch_.reseed && k == begin) reseed();
      note(into_.moved[k], k >= begin);
      if (k == steps) break;
      const double now_s = stretch_.warm_s + static_cast<double>(k) * options_.step_s;
      give_commands(now_s, now_s + options_.step_s);
      plant_.step(Time{} + from_seconds(now_s), from_seconds(now_s + options_.step_s) - from_seconds(now_s));
    }
    if (!plant_.finite()) return Error{"the motion left the numbers"};
    return {};
  }

 private:
  void reseed() {
    const double before = plant_.speed_mps();
    const Vec2 velocity = plant_.base_velocity();
    const double ratio = std::abs(before) > 0.1 ? std::clamp(stretch_.begin_speed_mps / before, 0.5, 2.0) : 1.0;
    const double turn = std::isfinite(stretch_.begin_yaw_rate_radps) ? stretch_.begin_yaw_rate_radps : ratio * plant_.yaw_rate_radps();
    plant_.set_motion(plant_.base_pose(), {stretch_.begin_speed_mps, ratio * velocity.y}, turn);
  }

  void note(Moved& moved, bool compared) {
    const Pose2 pose = plant_.base_pose();
    const Vec2 velocity = plant_.base_velocity();
    yaw_ += wrap_angle(pose.yaw - yaw_);
    moved = {pose.x, pose.y, yaw_, velocity.x, velocity.y, plant_.yaw_rate_radps(), 0.0};
    if (options_.wheel_speed && compared) moved.wheel_mps = plant_.wheel_speed_mps() / subject_.car.odometry_scale;
  }

  void give_commands(double now_s, double end_s) {
    const bool accelerations = next_ < commands_.size() ? !std::isfinite(commands_.speed_mps[next_]) : by_acceleration_;
    by_acceleration_ = accelerations;
    if (accelerations && next_ > 0) {
      const double delay = subject_.car.speed_delay_s;
      const double due = subject_.acceleration_gain * mean_acceleration(commands_, now_s - delay, end_s - delay);
      target_ = plant_.speed_mps() + due * (1.0 / kTargetGain_per_s + 0.5 * options_.step_s);
      give(commands_.steering_rad[next_ - 1], target_, now_s);
    }
    for (; next_ < commands_.size() && commands_.t_s[next_] < end_s; ++next_) {
      const double speed = accelerations ? target_ : subject_.speed_gain * commands_.speed_mps[next_];
      if (std::isfinite(speed)) give(commands_.steering_rad[next_], speed, commands_.t_s[next_]);
    }
  }

  void give(double steering_rad, double speed_mps, double issued_s) {
    const Time issued = std::max(last_, Time{} + from_seconds(issued_s));
    const plant::CommandStatus status = plant_.command(steering_rad, speed_mps, issued);
    PITWALL_CHECK(status == plant::CommandStatus::kAccepted, static_cast<int>(status), issued_s);
    last_ = issued;
  }

  const Commands& commands_;
  const Stretch& stretch_;
  const Subject& subject_;
  const PlaybackOptions& options_;
  plant::Plant plant_;
  Played& into_;
  std::size_t next_ = 0;
  Time last_{std::numeric_limits<std::int64_t>::min() / 2};
  double yaw_ = 0.0;
  double target_ = 0.0;
  bool by_acceleration_ = false;
};

/// The car with a loop that gives the acceleration that a target asks for, at once: the delay is played.
CarParameters accelerated(CarParameters car) {
  car.speed_delay_s = 0.0;
  car.speed_ramp_mps2 = 0.0;
  car.speed_loop_integral_gain_per_s2 = 0.0;
  car.speed_loop_accel_gain_per_s = car.speed_loop_brake_gain_per_s = kTargetGain_per_s;
  return car;
}

}  // namespace

Moved Played::at(double t_s) const {
  const double place = std::clamp((t_s - begin_s) / step_s, 0.0, static_cast<double>(moved.size() - 1));
  const auto k = std::min(static_cast<std::size_t>(place), moved.size() - 2);
  const double part = place - static_cast<double>(k);
  const Moved& a = moved[k];
  const Moved& b = moved[k + 1];
  const auto mix = [part](double from, double to) { return from + part * (to - from); };
  return {mix(a.x_m, b.x_m),
          mix(a.y_m, b.y_m),
          mix(a.yaw_rad, b.yaw_rad),
          mix(a.speed_mps, b.speed_mps),
          mix(a.lateral_mps, b.lateral_mps),
          mix(a.yaw_rate_radps, b.yaw_rate_radps),
          mix(a.wheel_mps, b.wheel_mps)};
}

Status play(const Drive& drive, const Stretch& stretch, const Subject& subject, const PlaybackOptions& options, Played& into) {
  const auto& speeds = drive.commands.speed_mps;
  const auto first = static_cast<std::size_t>(std::lower_bound(drive.commands.t_s.begin(), drive.commands.t_s.end(), stretch.begin_s) -
                                              drive.commands.t_s.begin());
  const bool accelerations = !speeds.empty() && !std::isfinite(speeds[std::min(first, speeds.size() - 1)]);
  const CarParameters car = accelerations ? accelerated(subject.car) : subject.car;
  Result<plant::Plant> plant = plant::Plant::make(car, plant::Options::of(plant::Fidelity::kCar), car.surface_friction);
  if (!plant) return plant.error();
  return Player(drive, stretch, subject, options, *plant, into).run();
}

}  // namespace pitwall::fit
