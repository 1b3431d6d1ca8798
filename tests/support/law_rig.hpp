// SPDX-License-Identifier: Apache-2.0
// A steering law alone, for tests: asked about single poses (LawBench), or in a closed loop (Rig), where everything that it is told is
// true, and the car is the single track with brush or linear tyres (a car without tyre numbers rolls), a first-order servo and a
// transport delay, integrated finely. No sensors, no safety, no command stage: what is seen is the law.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "controllers/lateral_model.hpp"
#include "controllers/steering_law.hpp"
#include "tests/support/toy_world.hpp"

namespace pitwall::controllers {

/// The car of the published benchmark, with a servo of 40 ms.
inline CarParameters rig_car() {
  CarParameters car = toy::car();
  car.wheelbase_m = 0.3302;
  car.mass_kg = 3.74;
  car.yaw_inertia_kgm2 = 0.04712;
  car.cog_front_fraction = 0.480769230769;
  car.cornering_stiffness_front = 4.718;
  car.cornering_stiffness_rear = 5.4562;
  car.surface_friction = 1.0489;
  car.steering_servo_gain_per_s = 25.0;
  car.steering_delay_s = 0.04;
  car.steering_rate_max_radps = 3.2;
  car.steering_max_left_rad = 0.4189;
  car.steering_max_right_rad = -0.4189;
  return car;
}

/// A path with one speed, and what a law sees of it.
struct RigLine {
  tracks::Path path;
  std::vector<double> speed, right, left;
  std::unique_ptr<LawLine> line;
  RigLine(std::vector<Vec2> points, bool closed, double speed_mps, double room_m = 0.0)
      : path(tracks::Path::make(std::move(points), closed).value()), speed(path.size(), speed_mps) {
    if (room_m > 0.0) right.assign(path.size(), room_m), left.assign(path.size(), room_m);
    line = std::make_unique<LawLine>(path, speed, right, left);
  }
};

inline std::vector<Vec2> straight_points(double length_m, double spacing_m = 0.5) {
  std::vector<Vec2> points;
  for (double x = 0.0; x <= length_m + 1e-9; x += spacing_m) points.push_back({x, 0.0});
  return points;
}

/// A circle run counter-clockwise, from (r, 0).
inline std::vector<Vec2> circle_points(double radius_m, std::size_t n = 400) {
  std::vector<Vec2> points;
  for (std::size_t i = 0; i < n; ++i)
    points.push_back(radius_m * unit_vector(2.0 * math::kPi * static_cast<double>(i) / static_cast<double>(n)));
  return points;
}

/// A smooth closed curve with bends to both sides, about 60 m long.
inline std::vector<Vec2> wavy_points(std::size_t n) {
  std::vector<Vec2> points;
  for (std::size_t i = 0; i < n; ++i) {
    const double t = 2.0 * math::kPi * static_cast<double>(i) / static_cast<double>(n);
    const double r = 9.0 + 1.2 * math::sin(3.0 * t) + 0.5 * math::cos(5.0 * t);
    points.push_back(r * unit_vector(t));
  }
  return points;
}

inline LawSetup rig_setup(const CarParameters& car, const RigLine& line, double rate_hz, double max_speed_mps = 8.0) {
  LawSetup setup;
  setup.car = car;
  setup.control_period_s = 1.0 / rate_hz;
  setup.steering_rate_radps = car.steering_rate_max_radps;
  setup.max_speed_mps = max_speed_mps;
  setup.line = line.line.get();
  return setup;
}

/// One car on one line, what a law is made from, and single poses to ask it about.
struct LawBench {
  RigLine line;
  LawSetup setup;

  LawBench(std::vector<Vec2> points, bool closed, const CarParameters& car, double rate_hz = 40.0, double speed_mps = 4.0)
      : line(std::move(points), closed, speed_mps), setup(rig_setup(car, line, rate_hz, speed_mps)) {}
  LawBench(const LawBench&) = delete;

  /// A car at this pose whose wheels stand straight and to which nothing was said.
  [[nodiscard]] LawInput at(const Pose2& pose, double speed_mps) const {
    LawInput in;
    in.T_map_base = pose;
    in.speed_mps = speed_mps;
    in.fix = {line.path.project(pose.position()), 0.0};
    in.fix.heading_error_rad = wrap_angle(pose.yaw - in.fix.on_line.heading_rad);
    return in;
  }
};

/// The closed loop.
class Rig {
 public:
  Rig(const LawSetup& setup, SlipLaw tyre, const Pose2& start, double speed_mps)
      : setup_(setup), side_(setup.car, tyre), pose_(start), speed_(speed_mps) {}

  [[nodiscard]] LawInput input() {
    LawInput in;
    in.now = now_;
    in.T_map_base = pose_;
    in.speed_mps = speed_;
    in.yaw_rate_radps = side_.yaw_rate_radps();
    in.wheel_rad = wheel_;
    in.commanded_rad = commanded_;
    in.acting_rad = acting_;
    in.queued = queue_;
    in.fix = fix();
    return in;
  }
  [[nodiscard]] LineFix fix() const {
    const tracks::Projection q = setup_.line->path().project(pose_.position());
    return {q, wrap_angle(pose_.yaw - q.heading_rad)};
  }
  /// One period: asks the law, slews and clips as the command stage does, drives. Returns what the law wanted.
  double tick(SteeringLaw& law) {
    const double wanted = law.steer(input());
    send(wanted);
    drive(setup_.control_period_s);
    return wanted;
  }
  void send(double wanted_rad) {
    const double step = setup_.steering_rate_radps * setup_.control_period_s;
    commanded_ = std::clamp(std::clamp(wanted_rad, commanded_ - step, commanded_ + step), setup_.car.steering_max_right_rad,
                            setup_.car.steering_max_left_rad);
    queue_.push_back({now_, now_ + from_seconds(setup_.car.steering_delay_s), commanded_});
  }
  /// Drives on with the commands under way.
  void drive(double dt_s) {
    constexpr double kStep_s = 5e-4;
    const int pieces = static_cast<int>(std::round(dt_s / kStep_s));
    const double gain = setup_.car.steering_servo_gain_per_s;
    const double share = gain > 0.0 ? 1.0 - math::exp(-gain * kStep_s) : 1.0;
    for (int i = 0; i < pieces; ++i) {
      while (!queue_.empty() && queue_.front().arrives <= now_) {
        acting_ = queue_.front().steering_rad;
        queue_.erase(queue_.begin());
      }
      wheel_ += share * (acting_ - wheel_);
      side_.advance(kStep_s, speed_, wheel_);
      const double r = side_.yaw_rate_radps();
      const Vec2 v{speed_, side_.lateral_mps() - setup_.car.lr_m() * r};
      const Vec2 moved = rotate(pose_.yaw + 0.5 * kStep_s * r, kStep_s * v);
      pose_ = {pose_.x + moved.x, pose_.y + moved.y, wrap_angle(pose_.yaw + kStep_s * r)};
      now_ = now_ + from_seconds(kStep_s);
    }
  }
  void set_speed(double speed_mps) { speed_ = speed_mps; }
  void set_pose(const Pose2& pose) { pose_ = pose; }
  void hold(double angle_rad) { commanded_ = acting_ = wheel_ = angle_rad; }
  /// Puts the car into the steady turn of a curvature: wheels, commands, slip and yaw rate.
  void turn(double curvature_per_m) {
    const SteadyTurn turn = side_.turns().at(speed_, curvature_per_m);
    hold(turn.wheel_rad);
    side_.put(turn.lateral_mps, turn.yaw_rate_radps);
    pose_.yaw = wrap_angle(pose_.yaw + turn.heading_rad);
  }
  [[nodiscard]] double d_m() const { return fix().on_line.lateral_m; }
  [[nodiscard]] double wheel_rad() const { return wheel_; }
  [[nodiscard]] double commanded_rad() const { return commanded_; }
  [[nodiscard]] double yaw_rate_radps() const { return side_.yaw_rate_radps(); }
  [[nodiscard]] const Pose2& pose() const { return pose_; }

 private:
  LawSetup setup_;
  SideMotion side_;
  Pose2 pose_;
  double speed_;
  double wheel_ = 0.0, commanded_ = 0.0, acting_ = 0.0;
  std::vector<QueuedSteering> queue_;
  Time now_;
};

}  // namespace pitwall::controllers
