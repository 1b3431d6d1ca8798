// SPDX-License-Identifier: Apache-2.0
// A closed loop of one path-following controller with the toy's kinematic car, in an open field or on a toy track.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>

#include "controllers/line_controller.hpp"
#include "controllers/pure_pursuit.hpp"
#include "tests/support/straight_track.hpp"

namespace pitwall::toy {

using controllers::LineController;
using controllers::LineControllerParameters;
using controllers::LineToFollow;

/// A line in an open field: no map, nothing in the scan.
inline LineToFollow field_line(std::vector<Vec2> points, bool closed, double speed) {
  LineToFollow line;
  line.path = std::make_shared<const tracks::Path>(tracks::Path::make(std::move(points), closed).value());
  line.speed_mps.assign(line.path->size(), speed);
  return line;
}

inline LineToFollow straight_field(double speed, double length = 40.0) {
  std::vector<Vec2> points;
  for (double x = 0.0; x <= length + 1e-9; x += 0.5) points.push_back({x, 0.0});
  return field_line(std::move(points), false, speed);
}

inline std::vector<Vec2> oval_points(double y_sign = 1.0) {
  std::vector<Vec2> points;
  for (const Vec2 p : rounded_rectangle(9.0, 4.0, 3.0, 40)) points.push_back({p.x, y_sign * p.y});
  return points;
}

/// Closed loop of one controller with the toy's kinematic car; the pose is `pose_delay` ticks old.
struct Loop {
  CarParameters car = toy::car();
  KinematicCar body;
  Inputs in;
  std::deque<Pose2> poses;
  std::size_t pose_delay = 0;
  double speed_factor = 1.0;
  Command last;
  Pose2 believed_shift;

  explicit Loop(const Pose2& start = {}) {
    body.parameters = car;
    body.pose = start;
    body.delay_ticks = 1;
    in.scan = empty_scan(car, 271);
    std::fill(in.scan.ranges.begin(), in.scan.ranges.end(), 10.0F);
  }
  void sense() {
    in.advance(from_milliseconds(25));
    poses.push_back(body.pose);
    if (poses.size() > pose_delay + 1) poses.pop_front();
    in.odometry.speed_mps = body.speed_mps * speed_factor;
    in.pose.position = poses.front().position() + believed_shift.position();
    in.pose.orientation = to_quaternion(poses.front().yaw);
  }
  [[nodiscard]] Observation observe() {
    Observation obs = in.observe();
    in.pose.stamp = in.now - from_milliseconds(25 * static_cast<std::int64_t>(poses.size() - 1));
    return obs;
  }
  Command tick(Controller& controller) {
    sense();
    last = controller.update(observe());
    body.drive(last, 0.025);
    return last;
  }
};

/// The controller `pure_pursuit`.
inline LineController pursuit(const LineControllerParameters& p, const CarParameters& car, const LineToFollow& line,
                              const controllers::PurePursuitParameters& law = {}) {
  REQUIRE(validate(p, car, &line, "pure_pursuit").ok());
  return LineController("pure_pursuit", p, car, line,
                        [&](const controllers::LawSetup& setup) { return std::make_unique<controllers::PurePursuitLaw>(law, setup); });
}
inline LineController controller_of(const LineToFollow& line, const LineControllerParameters& p = {}) {
  return pursuit(p, toy::car(), line);
}

inline Reason reason_after(LineController& controller, Loop& loop, int ticks) {
  for (int k = 0; k < ticks; ++k) loop.tick(controller);
  return loop.last.reason;
}

}  // namespace pitwall::toy
