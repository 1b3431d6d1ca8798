// SPDX-License-Identifier: Apache-2.0
#include "controllers/pose_filter.hpp"

#include <algorithm>
#include <cmath>

namespace pitwall::controllers {

namespace {

// White noise shrinks to sqrt(g / (2 - g)), an error e per step in the prediction settles at e / g.
constexpr double kGain = 0.3;
// Beyond these a pose does not contradict us by noise.
constexpr double kJump_m = 0.4;
constexpr double kJump_rad = 0.3;
// After a longer pause nothing is known of the way in between.
constexpr double kLongestStep_s = 0.5;

Pose2 advanced(const Pose2& pose, double distance_m, double turned_rad) {
  const Vec2 p = pose.position() + distance_m * unit_vector(pose.yaw + 0.5 * turned_rad);
  return {p.x, p.y, wrap_angle(pose.yaw + turned_rad)};
}

}  // namespace

void PoseFilter::reset() {
  count_ = next_ = observed_ = 0;
  sent_count_ = next_sent_ = 0;
  steering_rad_ = 0.0;
}

void PoseFilter::push(const Sample& sample) {
  history_[next_] = sample;
  next_ = (next_ + 1) % kHistory;
  count_ = std::min(count_ + 1, kHistory);
}

void PoseFilter::commanded(Time now, double steering_rad) {
  sent_[next_sent_] = {now, steering_rad};
  next_sent_ = (next_sent_ + 1) % kHistory;
  sent_count_ = std::min(sent_count_ + 1, kHistory);
}

void PoseFilter::turn_wheels(Time now, double dt_s) {
  const Time arrived = now - from_seconds(car_.steering_delay_s + 0.5 * dt_s);
  double target = steering_rad_;
  for (std::size_t i = 0; i < sent_count_; ++i) {
    if (sent(i).t <= arrived) {
      target = sent(i).steering_rad;
      break;
    }
  }
  const double share = car_.steering_servo_gain_per_s > 0.0 ? 1.0 - math::exp(-car_.steering_servo_gain_per_s * dt_s) : 1.0;
  steering_rad_ += share * (target - steering_rad_);
}

double PoseFilter::yaw_rate_radps(double speed_mps) const {
  return speed_mps * math::tan(steering_rad_) / (car_.wheelbase_m + understeer_ * speed_mps * speed_mps);
}

double PoseFilter::acting_rad(Time now) const {
  const Duration delay = from_seconds(car_.steering_delay_s);
  for (std::size_t i = 0; i < sent_count_; ++i) {
    if (sent(i).t + delay <= now) return sent(i).steering_rad;
  }
  return steering_rad_;
}

std::span<const QueuedSteering> PoseFilter::queued(Time now) {
  const Duration delay = from_seconds(car_.steering_delay_s);
  std::size_t count = 0;
  while (count < sent_count_ && now < sent(count).t + delay) ++count;
  for (std::size_t i = 0; i < count; ++i) {
    const Sent& s = sent(count - 1 - i);
    queued_[i] = {s.t, s.t + delay, s.steering_rad};
  }
  return {queued_.data(), count};
}

void PoseFilter::step(Time now, double speed_mps) {
  if (count_ == 0) return;
  const Sample last = newest();
  const double dt = (now - last.t).seconds();
  if (dt <= 0.0) return;
  if (dt > kLongestStep_s) {
    count_ = observed_ = 0;
    return;
  }
  turn_wheels(now, dt);
  const double curvature = math::tan(steering_rad_) / (car_.wheelbase_m + understeer_ * speed_mps * speed_mps);
  push({now, advanced(last.pose, speed_mps * dt, speed_mps * curvature * dt)});
}

Pose2 PoseFilter::at(Time t) const {
  if (count_ == 0) return {};
  if (t >= newest().t) return newest().pose;
  for (std::size_t i = 1; i < count_; ++i) {
    const Sample& before = back(i);
    if (before.t > t) continue;
    const Sample& after = back(i - 1);
    const double share = (t - before.t).seconds() / (after.t - before.t).seconds();
    const Vec2 p = before.pose.position() + share * (after.pose.position() - before.pose.position());
    return {p.x, p.y, wrap_angle(before.pose.yaw + share * wrap_angle(after.pose.yaw - before.pose.yaw))};
  }
  return back(count_ - 1).pose;
}

void PoseFilter::observe(Time stamp, const Pose2& T_map_base) {
  if (count_ == 0) {
    push({stamp, T_map_base});
    observed_ = 1;
    return;
  }
  const Pose2 predicted = at(stamp);
  Vec2 shift = T_map_base.position() - predicted.position();
  double turn = wrap_angle(T_map_base.yaw - predicted.yaw);
  if (norm(shift) > kJump_m || std::abs(turn) > kJump_rad) observed_ = 0;
  // The first poses are averaged.
  const double gain = std::max(kGain, 1.0 / static_cast<double>(observed_ + 1));
  observed_ = std::min<std::size_t>(observed_ + 1, 1000);
  shift = gain * shift;
  turn = gain * turn;
  const math::SinCos r = math::sincos(turn);
  for (std::size_t i = 0; i < count_; ++i) {
    Sample& sample = history_[(next_ + kHistory - 1 - i) % kHistory];
    const Vec2 v = sample.pose.position() - predicted.position();
    const Vec2 p = predicted.position() + shift + Vec2{r.cos * v.x - r.sin * v.y, r.sin * v.x + r.cos * v.y};
    sample.pose = {p.x, p.y, wrap_angle(sample.pose.yaw + turn)};
    if (sample.t <= stamp) break;
  }
}

}  // namespace pitwall::controllers
