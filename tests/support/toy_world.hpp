// SPDX-License-Identifier: Apache-2.0
// A toy to test controllers in: walls are line segments, rays are exact, the car is kinematic with a servo, a speed loop
// and a command delay. Independent of plant and sim on purpose. Header only; for tests.
#pragma once

#include <cmath>
#include <deque>
#include <limits>
#include <vector>

#include "core/car.hpp"
#include "core/controller.hpp"
#include "core/rng.hpp"
#include "core/test_car.hpp"

namespace pitwall::toy {

/// A 1:10 car with the round figures of the second test car; its locks are unequal.
inline CarParameters car() {
  CarParameters c = pitwall::testing::base_car();
  c.steering_max_left_rad = 0.31347;
  c.steering_max_right_rad = -0.26337;
  c.speed_max_mps = 5.039;
  c.speed_min_mps = -5.039;
  c.acceleration_max_mps2 = 6.867;
  c.speed_loop_accel_gain_per_s = 3.4;
  c.speed_loop_brake_gain_per_s = 4.0;
  return c;
}

/// The same car seen in a mirror.
inline CarParameters mirrored(CarParameters c) {
  const double left = c.steering_max_left_rad;
  c.steering_max_left_rad = -c.steering_max_right_rad;
  c.steering_max_right_rad = -left;
  c.lidar_y_m = -c.lidar_y_m;
  c.lidar_yaw_rad = -c.lidar_yaw_rad;
  return c;
}

struct Wall {
  Vec2 a;
  Vec2 b;
};
using Walls = std::vector<Wall>;

/// Consecutive points joined, and the last to the first if closed.
inline void add_polyline(Walls& walls, const std::vector<Vec2>& points, bool closed) {
  for (std::size_t i = 0; i + 1 < points.size(); ++i) walls.push_back({points[i], points[i + 1]});
  if (closed) walls.push_back({points.back(), points.front()});
}

/// Straight corridor along x from x0 to x1 with walls at y = +-width / 2, open at both ends.
inline Walls corridor(double x0, double x1, double width_m) {
  return {{{x0, 0.5 * width_m}, {x1, 0.5 * width_m}}, {{x0, -0.5 * width_m}, {x1, -0.5 * width_m}}};
}

/// Outline of a rectangle with half sizes and corner radius, counter-clockwise from the middle of the bottom edge.
inline std::vector<Vec2> rounded_rectangle(double half_x, double half_y, double radius, int per_quarter = 8) {
  std::vector<Vec2> points{{0.0, -half_y}};
  const Vec2 centres[] = {{half_x - radius, radius - half_y},
                          {half_x - radius, half_y - radius},
                          {radius - half_x, half_y - radius},
                          {radius - half_x, radius - half_y}};
  for (int corner = 0; corner < 4; ++corner) {
    for (int k = 0; k <= per_quarter; ++k) {
      const double angle = math::kPi * (0.5 * (corner - 1) + 0.5 * k / per_quarter);
      points.push_back(centres[corner] + radius * unit_vector(angle));
    }
  }
  return points;
}

/// A lap around a rounded rectangle: the centre line's sizes and the corridor's width. An inner radius below zero makes
/// square inner corners.
inline Walls ring(double half_x, double half_y, double radius, double width_m) {
  const double h = 0.5 * width_m;
  Walls walls;
  add_polyline(walls, rounded_rectangle(half_x + h, half_y + h, radius + h), true);
  const double inner = std::max(0.01, radius - h);
  add_polyline(walls, rounded_rectangle(half_x - h, half_y - h, inner), true);
  return walls;
}

/// Along a unit vector to the nearest wall; +inf for none.
inline double cast(const Walls& walls, Vec2 from, Vec2 direction) {
  double nearest = std::numeric_limits<double>::infinity();
  for (const Wall& wall : walls) {
    const Vec2 along = wall.b - wall.a;
    const double facing = cross(direction, along);
    if (facing == 0.0) continue;
    const Vec2 to_a = wall.a - from;
    const double t = cross(to_a, along) / facing;
    const double u = cross(to_a, direction) / facing;
    if (t >= 0.0 && u >= 0.0 && u <= 1.0 && t < nearest) nearest = t;
  }
  return nearest;
}

/// An empty scan with the car's geometry: every beam without return.
inline LaserScan empty_scan(const CarParameters& c, int beams) {
  LaserScan scan;
  const double half = 0.5 * c.lidar_fov_rad;
  scan.angle_min = static_cast<float>(-half);
  scan.angle_max = static_cast<float>(half);
  scan.angle_increment = static_cast<float>(c.lidar_fov_rad / (beams - 1));
  scan.range_min = static_cast<float>(c.lidar_range_min_m);
  scan.range_max = static_cast<float>(c.lidar_range_max_m);
  scan.ranges.assign(static_cast<std::size_t>(beams), std::numeric_limits<float>::infinity());
  return scan;
}

/// What the LiDAR of a car at `T_map_base` sees.
inline LaserScan look(const CarParameters& c, const Walls& walls, const Pose2& T_map_base, int beams) {
  LaserScan scan = empty_scan(c, beams);
  const Pose2 T_map_lidar = T_map_base * c.lidar_mount();
  for (int i = 0; i < beams; ++i) {
    // Counted from the middle, so that a symmetric scene gives a scan that is symmetric to the bit.
    const double angle = (i - 0.5 * (beams - 1)) * (c.lidar_fov_rad / (beams - 1));
    const double range = cast(walls, T_map_lidar.position(), unit_vector(T_map_lidar.yaw + angle));
    if (range <= c.lidar_range_max_m) scan.ranges[static_cast<std::size_t>(i)] = static_cast<float>(range);
  }
  return scan;
}

inline LaserScan mirrored(LaserScan scan) {
  std::vector<float> ranges(scan.ranges.rbegin(), scan.ranges.rend());
  scan.ranges = std::move(ranges);
  std::swap(scan.angle_min, scan.angle_max);
  scan.angle_min = -scan.angle_min;
  scan.angle_max = -scan.angle_max;
  return scan;
}

/// Whether the chassis at that pose crosses a wall.
inline bool touches(const CarParameters& c, const Walls& walls, const Pose2& T_map_base) {
  const BodyRectangle body = c.chassis();
  const Vec2 corners[] = {{body.front_m, body.half_width_m},
                          {body.rear_m, body.half_width_m},
                          {body.rear_m, -body.half_width_m},
                          {body.front_m, -body.half_width_m}};
  for (int k = 0; k < 4; ++k) {
    const Vec2 p = T_map_base * corners[k];
    const Vec2 q = T_map_base * corners[(k + 1) % 4];
    for (const Wall& wall : walls) {
      const Vec2 edge = q - p;
      const Vec2 along = wall.b - wall.a;
      const double facing = cross(edge, along);
      if (facing == 0.0) continue;
      const double t = cross(wall.a - p, along) / facing;
      const double u = cross(wall.a - p, edge) / facing;
      if (t >= 0.0 && t <= 1.0 && u >= 0.0 && u <= 1.0) return true;
    }
  }
  return false;
}

/// Every source present, fresh and healthy at `now`, with the deadman held.
struct Inputs {
  Time now{1'000'000'000};
  LaserScan scan;
  Odometry odometry;
  PoseEstimate pose;
  Joy joy{.stamp = {}, .buttons = {0, 0, 0, 0, 1, 0}};
  std::uint64_t sequence = 1;

  void advance(Duration dt) {
    now = now + dt;
    ++sequence;
  }
  /// Everything stamped and arrived now.
  [[nodiscard]] Observation observe() {
    scan.stamp = odometry.stamp = pose.stamp = joy.stamp = now;
    Observation obs;
    obs.now = now;
    obs.scan = {&scan, now, sequence};
    obs.odometry = {&odometry, now, sequence};
    obs.pose = {&pose, now, sequence};
    obs.joy = {&joy, now, sequence};
    return obs;
  }
};

/// Rear-axle kinematics with the car's servo and speed loop; commands act after `delay_ticks`.
struct KinematicCar {
  CarParameters parameters;
  Pose2 pose;  // T_map_base
  double speed_mps = 0.0;
  double steering_rad = 0.0;
  std::deque<Command> in_flight;
  std::size_t delay_ticks = 2;

  void drive(const Command& command, double dt_s) {
    in_flight.push_back(command);
    Command acting;
    if (in_flight.size() > delay_ticks) {
      acting = in_flight.front();
      in_flight.pop_front();
    }
    constexpr int kSteps = 5;
    const double h = dt_s / kSteps;
    const CarParameters& c = parameters;
    for (int k = 0; k < kSteps; ++k) {
      const double rate = std::clamp(c.steering_servo_gain_per_s * (static_cast<double>(acting.steering_angle_rad) - steering_rad),
                                     -c.steering_rate_max_radps, c.steering_rate_max_radps);
      steering_rad += h * rate;
      const double gap = static_cast<double>(acting.speed_mps) - speed_mps;
      const double gain = gap > 0.0 ? c.speed_loop_accel_gain_per_s : c.speed_loop_brake_gain_per_s;
      speed_mps += h * std::clamp(gain * gap, -c.acceleration_max_mps2, c.acceleration_max_mps2);
      const double yaw_rate = speed_mps * math::tan(steering_rad) / c.wheelbase_m;
      pose.x += h * speed_mps * math::cos(pose.yaw + 0.5 * h * yaw_rate);
      pose.y += h * speed_mps * math::sin(pose.yaw + 0.5 * h * yaw_rate);
      pose.yaw += h * yaw_rate;
    }
  }
};

/// What a closed loop showed.
struct Drive {
  bool contact = false;
  Vec2 contact_at;
  double distance_m = 0.0;
  double turned_rad = 0.0;  // total change of yaw: one lap counter-clockwise of a ring is 2 pi
  double top_speed_mps = 0.0;
  double time_s = 0.0;
  int stops = 0;
  Command last;
};

struct DriveOptions {
  double seconds = 30.0;
  int beams = 361;
  double noise_m = 0.0;
  double dropout = 0.0;
  double speed_noise = 0.0;
  std::uint64_t seed = 1;
};

/// Runs a controller on each scan (40 Hz) until contact or the time is over.
inline Drive drive(Controller& controller, KinematicCar& car, const Walls& walls, const DriveOptions& options) {
  const Rng noise(options.seed, "toy/lidar");
  const Rng dropout(options.seed, "toy/dropout");
  const Rng odometry(options.seed, "toy/odometry");
  Inputs inputs;
  controller.reset(Observation{});
  Drive result;
  const int ticks = static_cast<int>(options.seconds * 40.0);
  for (int tick = 0; tick < ticks; ++tick) {
    inputs.advance(from_milliseconds(25));
    inputs.scan = look(car.parameters, walls, car.pose, options.beams);
    const auto sample = static_cast<std::uint64_t>(tick);
    for (std::size_t i = 0; i < inputs.scan.ranges.size(); ++i) {
      float& range = inputs.scan.ranges[i];
      const auto lane = static_cast<std::uint32_t>(i);
      if (options.noise_m > 0.0) range += static_cast<float>(options.noise_m * noise.normal(sample, lane));
      if (options.dropout > 0.0 && dropout.uniform(sample, lane) < options.dropout) range = std::numeric_limits<float>::infinity();
    }
    inputs.odometry.speed_mps = car.speed_mps + options.speed_noise * std::max(std::abs(car.speed_mps), 0.1) * odometry.normal(sample);
    inputs.pose.position = car.pose.position();
    inputs.pose.orientation = to_quaternion(car.pose.yaw);
    result.last = controller.update(inputs.observe());
    result.stops += result.last.speed_mps == 0.0F ? 1 : 0;
    const Pose2 before = car.pose;
    car.drive(result.last, 0.025);
    result.distance_m += distance(before.position(), car.pose.position());
    result.turned_rad += car.pose.yaw - before.yaw;
    result.top_speed_mps = std::max(result.top_speed_mps, car.speed_mps);
    result.time_s += 0.025;
    if (touches(car.parameters, walls, car.pose)) {
      result.contact = true;
      result.contact_at = car.pose.position();
      break;
    }
  }
  return result;
}

}  // namespace pitwall::toy
