// SPDX-License-Identifier: Apache-2.0
// The rules of a published benchmark, kept apart from everything of ours: Evans et al., "Unifying F1TENTH Autonomous
// Racing", arXiv 2402.18558, and its repository BDEvan5/f1tenth_benchmarks (c973078). They are here to be the same, not to be
// good: explicit Euler steps of 10 ms, a linear tyre, a pose that means the rear axle below 0.5 m/s and the centre of gravity
// above, rays marched through distances between cell centres, a pure pursuit that snaps to waypoints.
#pragma once

#include <cstdint>
#include <vector>

#include "core/geometry.hpp"
#include "core/rng.hpp"
#include "tracks/image.hpp"

namespace pitwall::scenarios::f1tenth {

/// What a planner commands.
struct Action {
  double steering_rad = 0.0;
  double speed_mps = 0.0;
};

/// The car of the benchmark.
class Car {
 public:
  void reset(const Pose2& pose);
  /// One Euler step of 10 ms. Steering acts two steps later.
  void step(const Action& action);
  [[nodiscard]] Pose2 pose() const { return {x_, y_, yaw_}; }
  [[nodiscard]] double speed_mps() const { return speed_; }

 private:
  double x_ = 0.0, y_ = 0.0, steering_ = 0.0, speed_ = 0.0, yaw_ = 0.0, yaw_rate_ = 0.0, slip_ = 0.0;
  double waiting_[2] = {0.0, 0.0};
};

/// The map of the benchmark: a pixel up to 128 is a wall.
class Grid {
 public:
  Grid(const tracks::Image& image, double resolution_m, Vec2 origin);
  /// Distance in m from the centre of the cell at p to that of the nearest wall cell; 0 in one. Off the map: as in the last cell.
  [[nodiscard]] double distance_at(Vec2 p) const;
  /// Whether a corner of the 0.58 m x 0.31 m box around the pose is in a wall.
  [[nodiscard]] bool collides(const Pose2& pose) const;
  /// 1080 ranges over 4.7 rad, up to 30 m, with 10 mm of noise.
  void scan(const Pose2& pose, const Rng& noise, std::uint64_t sample, std::vector<double>& ranges) const;

 private:
  int width_ = 0;
  int height_ = 0;
  double resolution_ = 0.0;
  Vec2 origin_;
  std::vector<float> distance_;  // rows from the bottom
  std::vector<Vec2> directions_;
};

/// Progress along the centre line, in whole waypoints, 0 to 1.
class CentreLine {
 public:
  explicit CentreLine(std::vector<Vec2> points);
  [[nodiscard]] double progress(Vec2 p) const;
  [[nodiscard]] double length_m() const { return at_.back(); }

 private:
  std::vector<Vec2> points_;
  std::vector<double> at_;
};

/// Racing line with speeds.
struct RacingLine {
  std::vector<Vec2> points;
  std::vector<double> speeds;
};

Action pure_pursuit(const RacingLine& line, const Pose2& pose, double speed_mps);
Action follow_the_gap(const std::vector<double>& ranges);

}  // namespace pitwall::scenarios::f1tenth
