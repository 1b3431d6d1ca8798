// SPDX-License-Identifier: Apache-2.0
// A course of the published benchmark (f1tenth_laps_rules.hpp): its map, centre line, racing line and start poses as the files give
// them, the line that our laws follow there, and one lap by its rules.
#pragma once

#include <string>
#include <vector>

#include "controllers/line_to_follow.hpp"
#include "core/geometry.hpp"
#include "core/result.hpp"
#include "scenarios/f1tenth_laps_rules.hpp"
#include "scenarios/scenario.hpp"
#include "tracks/path.hpp"

namespace pitwall::scenarios::f1tenth {

/// Where a lap begins, and its progress along the centre line, 0 to 1.
struct StartPose {
  Pose2 pose;
  double progress = 0.0;
};

/// One map of the benchmark.
struct Course {
  std::string map;  ///< its yaml
  std::string name;
  Grid grid;
  CentreLine centre;
  RacingLine line;
  std::vector<StartPose> starts;
};

/// `map` is the map's yaml with or without `.yaml`; beside it lie NAME_centerline.csv, NAME_raceline_mu90.csv and start_poses.csv.
Result<Course> load_course(const std::string& map);

/// What a law is given to follow, and what its distance is measured from.
struct CourseLine {
  tracks::Path measured;
  controllers::LineToFollow followed;
};

/// How our laws drive a course.
struct CourseLineSettings {
  LineChoice choice = LineChoice::kShipped;  ///< the benchmark's line, or NAME_raceline_optimized.csv beside the map
  double grip_mps2 = 7.65;                   ///< radius of the circle that the speed profile keeps
  double wall_clearance_m = 0.10;            ///< the line is moved so that the body has it to both sides; 0: as given
};

/// Errors: a centre line is asked for, an optimised one is not there, what is no path.
Result<CourseLine> line_of(const Course& course, const CourseLineSettings& settings);

/// How a lap ended.
struct Lap {
  bool finished = false;
  double time_s = 0.0;
  double at_progress = 0.0;
};

inline constexpr double kStep_s = 0.01;
inline constexpr double kTimeLimit_s = 250.0;

/// One lap from standstill. The first period goes by under the command (0, 0); `plan(now, pose, speed)` commands every `steps` steps.
/// The benchmark sees the end of a lap in 0.4 % of the way. Where a car steps over that, the lap ends one period later, at the line.
template <class Plan>
Lap drive(const Course& course, const StartPose& start, int steps, const Plan& plan) {
  Car car;
  car.reset(start.pose);
  Action action;
  double before = 0.0;
  for (int tick = 1;; ++tick) {
    for (int i = 0; i < steps; ++i) car.step(action);
    const double now = kStep_s * steps * tick;
    const Pose2 pose = car.pose();
    const double along = course.centre.progress(pose.position());
    if (course.grid.collides(pose)) return {false, now, along};
    double progress = along - start.progress;
    if (along <= start.progress) progress += 1.0;
    if (progress > 0.999) progress = 0.0;
    const bool stepped_over = before > 0.9 && progress < 0.1;
    if ((progress > 0.995 || stepped_over) && now > 5.0 - 1e-9) return {true, now, along};
    if (now > kTimeLimit_s) return {false, now, along};
    before = progress;
    action = plan(now, pose, car.speed_mps());
  }
}

}  // namespace pitwall::scenarios::f1tenth
