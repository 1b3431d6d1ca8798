// SPDX-License-Identifier: Apache-2.0
// A steering law alone on a line: asked about single poses, or in a closed loop with a car that answers late. No sensors, no
// safety, no command stage: what is seen is the law.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <vector>

#include "controllers/steering_law.hpp"

namespace pitwall::toy {

/// Line, car and what a law is made from.
struct LawBench {
  tracks::Path path;
  std::vector<double> speeds;
  controllers::LawLine line;
  controllers::LawSetup setup;

  LawBench(std::vector<Vec2> points, bool closed, const CarParameters& car, double rate_hz = 40.0, double speed_mps = 4.0)
      : path(tracks::Path::make(std::move(points), closed).value()), speeds(path.size(), speed_mps), line(path, speeds, {}, {}) {
    setup.car = car;
    setup.control_period_s = 1.0 / rate_hz;
    setup.steering_rate_radps = car.steering_rate_max_radps;
    setup.max_speed_mps = speed_mps;
    setup.line = &line;
  }
  LawBench(const LawBench&) = delete;

  /// A car at this pose whose wheels stand straight and to which nothing was said.
  [[nodiscard]] controllers::LawInput at(const Pose2& pose, double speed_mps) const {
    controllers::LawInput in;
    in.T_map_base = pose;
    in.speed_mps = speed_mps;
    in.fix = {path.project(pose.position()), 0.0};
    in.fix.heading_error_rad = wrap_angle(pose.yaw - in.fix.on_line.heading_rad);
    return in;
  }
};

/// Closed loop with anything that has `drive(steering_rad, dt_s)`, `pose()`, `wheel_rad()`: commands act after the car's delay.
template <class Body>
class LawLoop {
 public:
  LawLoop(const LawBench& bench, controllers::SteeringLaw& law, Body& body, double speed_mps)
      : bench_(bench), law_(law), body_(body), speed_mps_(speed_mps) {
    law_.reset();
  }

  /// One control period; returns the lateral error of base_link afterwards, m.
  double tick() {
    const Duration delay = from_seconds(bench_.setup.car.steering_delay_s);
    const Pose2 pose = body_.pose();
    controllers::LawInput in = bench_.at(pose, speed_mps_);
    if (known_) in.fix.on_line = bench_.path.project_near(pose.position(), last_s_m_, 1.0, 1.0);
    in.now = now_;
    in.wheel_rad = body_.wheel_rad();
    in.commanded_rad = sent_.empty() ? 0.0 : sent_.back().steering_rad;
    std::size_t first = 0;
    while (first < sent_.size() && sent_[first].arrives <= now_) acting_ = sent_[first++].steering_rad;
    sent_.erase(sent_.begin(), sent_.begin() + static_cast<std::ptrdiff_t>(first));
    in.acting_rad = acting_;
    in.queued = sent_;
    const controllers::LawSetup& setup = bench_.setup;
    const double length = setup.car.wheelbase_m + controllers::understeer_s2_per_m(setup.car) * speed_mps_ * speed_mps_;
    in.yaw_rate_radps = speed_mps_ * math::tan(in.wheel_rad) / length;
    last_s_m_ = in.fix.on_line.s_m;
    known_ = true;
    const double limit = setup.steering_rate_radps * setup.control_period_s;
    steering_rad = std::clamp(law_.steer(in), in.commanded_rad - limit, in.commanded_rad + limit);
    steering_rad = std::clamp(steering_rad, setup.car.steering_max_right_rad, setup.car.steering_max_left_rad);
    sent_.push_back({now_, now_ + delay, steering_rad});

    // The car is moved in pieces of a millisecond, each under the command that acts then.
    const Time end = now_ + from_seconds(setup.control_period_s);
    for (Time t = now_; t < end; t = t + from_milliseconds(1)) {
      double acting = acting_;
      for (const controllers::QueuedSteering& q : sent_) {
        if (q.arrives <= t) acting = q.steering_rad;
      }
      body_.drive(acting, 0.001);
    }
    now_ = end;
    return bench_.path.project_near(body_.pose().position(), last_s_m_, 1.0, 1.0).lateral_m;
  }

  double steering_rad = 0.0;

 private:
  const LawBench& bench_;
  controllers::SteeringLaw& law_;
  Body& body_;
  double speed_mps_;
  double last_s_m_ = 0.0;
  bool known_ = false;
  Time now_;
  double acting_ = 0.0;
  std::vector<controllers::QueuedSteering> sent_;
};

/// Kinematic car with a first-order servo.
struct ServoCar {
  CarParameters car;
  Pose2 at;
  double speed_mps = 0.0;
  double wheel = 0.0;
  [[nodiscard]] Pose2 pose() const { return at; }
  [[nodiscard]] double wheel_rad() const { return wheel; }
  void drive(double command_rad, double dt_s) {
    wheel +=
        dt_s * std::clamp(car.steering_servo_gain_per_s * (command_rad - wheel), -car.steering_rate_max_radps, car.steering_rate_max_radps);
    const double turned = dt_s * speed_mps * math::tan(wheel) / car.wheelbase_m;
    const Vec2 p = at.position() + dt_s * speed_mps * unit_vector(at.yaw + 0.5 * turned);
    at = {p.x, p.y, wrap_angle(at.yaw + turned)};
  }
};

/// Vertices of a circle about the origin.
inline std::vector<Vec2> circle_points(double radius_m, int count = 400) {
  std::vector<Vec2> points;
  for (int i = 0; i < count; ++i) points.push_back(radius_m * unit_vector(2.0 * math::kPi * i / count));
  return points;
}

}  // namespace pitwall::toy
