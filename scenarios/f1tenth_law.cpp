// SPDX-License-Identifier: Apache-2.0
#include "scenarios/f1tenth_law.hpp"

#include <algorithm>
#include <cmath>

#include "controllers/make.hpp"
#include "tracks/path.hpp"
#include "tracks/speed_profile.hpp"

namespace pitwall::scenarios::f1tenth {
namespace {

constexpr double kSteeringMax_rad = 0.4;
constexpr double kSpeedMax_mps = 8.0;

}  // namespace

CarParameters published_car() {
  CarParameters car;
  car.wheelbase_m = 0.3302;
  car.width_m = car.body_width_m = 0.31;
  car.length_m = car.body_length_m = 0.58;
  car.mass_kg = 3.74;
  car.yaw_inertia_kgm2 = 0.04712;
  car.cog_height_m = 0.074;
  car.cog_front_fraction = 0.15875 / 0.3302;
  car.cornering_stiffness_front = 4.718;
  car.cornering_stiffness_rear = 5.4562;
  car.surface_friction = 1.0489;
  car.steering_max_left_rad = kSteeringMax_rad;
  car.steering_max_right_rad = -kSteeringMax_rad;
  car.steering_rate_max_radps = 3.2;
  // The servo runs at full rate until it is there: 0.03 rad, the change between two commands in a corner, take 10 ms.
  car.steering_servo_gain_per_s = 100.0;
  car.steering_delay_s = 0.02;
  car.speed_max_mps = kSpeedMax_mps;
  car.speed_min_mps = -5.0;
  car.acceleration_max_mps2 = 9.51;
  // Its proportional speed loops: 10 a_max / v_max and 10 a_max / |v_min|.
  car.speed_loop_accel_gain_per_s = 4.755;
  car.speed_loop_brake_gain_per_s = 19.02;
  car.lidar_beams = 1080;
  car.lidar_fov_rad = 4.7;
  car.lidar_range_max_m = 30.0;
  car.lidar_rate_hz = 25.0;
  return car;
}

Pose2 base_link_of(const Pose2& pose, double speed_mps) {
  const double back = speed_mps < 0.5 ? 0.0 : published_car().lr_m();
  const Vec2 p = pose.position() - back * unit_vector(pose.yaw);
  return {p.x, p.y, wrap_angle(pose.yaw)};
}

std::vector<Vec2> without_scatter(std::vector<Vec2> points) {
  constexpr int kReach = 5;
  constexpr int kPasses = 2;
  constexpr double kCount = 2.0 * kReach + 1.0;
  double second = 0.0;
  double fourth = 0.0;
  for (int i = -kReach; i <= kReach; ++i) {
    second += static_cast<double>(i) * i;
    fourth += static_cast<double>(i) * i * i * i;
  }
  const double per = 1.0 / (kCount * fourth - second * second);
  const auto n = static_cast<int>(points.size());
  for (int pass = 0; pass < kPasses; ++pass) {
    const std::vector<Vec2> before = points;
    for (int k = 0; k < n; ++k) {
      Vec2 sum;
      for (int i = -kReach; i <= kReach; ++i)
        sum = sum + (per * (fourth - second * i * i)) * before[static_cast<std::size_t>((k + i + n) % n)];
      points[static_cast<std::size_t>(k)] = sum;
    }
  }
  return points;
}

LawPlanner::LawPlanner(const controllers::LineToFollow& line)
    : line_(line),
      car_(published_car()),
      law_line_(*line_.path, line_.speed_mps, line_.free_right_m, line_.free_left_m),
      tracker_({2.0, 1.5}) {
  setup_.car = car_;
  setup_.control_period_s = kPeriod_s;
  setup_.steering_rate_radps = car_.steering_rate_max_radps;
  setup_.max_speed_mps = kSpeedMax_mps;
  setup_.line = &law_line_;
  setup_.table = line_.steering_table.get();
  const tracks::Path& path = *line_.path;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::size_t next = (i + 1) % path.size();
    const double length = (next == 0 ? path.length_m() : path.s_of(next)) - path.s_of(i);
    acceleration_mps2_.push_back((line_.speed_mps[next] * line_.speed_mps[next] - line_.speed_mps[i] * line_.speed_mps[i]) /
                                 (2.0 * length));
  }
}

Result<std::unique_ptr<LawPlanner>> LawPlanner::make(const std::string& law, const Node& parameters,
                                                     const controllers::LineToFollow& line) {
  std::unique_ptr<LawPlanner> planner(new LawPlanner(line));
  auto made = controllers::make_law(law, parameters, planner->setup_);
  if (!made) return made.error();
  planner->law_ = *std::move(made);
  planner->margin_ = controllers::stability_margin(*planner->law_, planner->setup_);
  planner->reset();
  return planner;
}

void LawPlanner::reset() {
  law_->reset();
  tracker_.release();
  sent_.clear();
  acting_rad_ = wheel_rad_ = commanded_rad_ = 0.0;
}

double LawPlanner::planned_s() const { return tracks::lap_time_s(*line_.path, line_.speed_mps); }

double LawPlanner::speed_for(double s_m, double speed_mps) const {
  // A proportional loop is behind a changing speed by acceleration over gain: what is commanded is ahead by as much, at the place
  // where the car is when the next command comes.
  const tracks::Path& path = *line_.path;
  const double s = path.wrap_s(s_m + speed_mps * kPeriod_s);
  const double a = acceleration_mps2_[path.segment_at(s)];
  const double gain = a > 0.0 ? car_.speed_loop_accel_gain_per_s : car_.speed_loop_brake_gain_per_s;
  return std::clamp(law_line_.speed_at(s) + a / gain, 0.5, kSpeedMax_mps);
}

void LawPlanner::move_wheels(Time now) {
  while (!sent_.empty() && sent_.front().arrives <= now) {
    acting_rad_ = sent_.front().steering_rad;
    sent_.erase(sent_.begin());
  }
  const double most = car_.steering_rate_max_radps * kPeriod_s;
  wheel_rad_ += std::clamp(acting_rad_ - wheel_rad_, -most, most);
}

Action LawPlanner::plan(Time now, const Pose2& pose, double speed_mps) {
  move_wheels(now);
  controllers::LawInput in;
  in.now = now;
  in.T_map_base = base_link_of(pose, speed_mps);
  in.speed_mps = speed_mps;
  in.wheel_rad = wheel_rad_;
  in.yaw_rate_radps =
      speed_mps * math::tan(wheel_rad_) / (car_.wheelbase_m + controllers::understeer_s2_per_m(car_) * speed_mps * speed_mps);
  in.commanded_rad = commanded_rad_;
  in.acting_rad = acting_rad_;
  in.queued = sent_;
  const auto fix = tracker_.locate(*line_.path, in.T_map_base, speed_mps * kPeriod_s);
  if (!fix) return {0.0, 0.0};
  in.fix = *fix;
  const double most = setup_.steering_rate_radps * kPeriod_s;
  commanded_rad_ = std::clamp(law_->steer(in), commanded_rad_ - most, commanded_rad_ + most);
  commanded_rad_ = std::clamp(commanded_rad_, -kSteeringMax_rad, kSteeringMax_rad);
  sent_.push_back({now, now + from_seconds(car_.steering_delay_s), commanded_rad_});
  return {commanded_rad_, speed_for(fix->on_line.s_m, speed_mps)};
}

}  // namespace pitwall::scenarios::f1tenth
