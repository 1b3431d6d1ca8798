// SPDX-License-Identifier: Apache-2.0
// Our steering laws under the rules of the published benchmark (f1tenth_laps_rules.hpp): its car, its pose without error, its line,
// our speed profile. Only the law is ours to compare: no watchdogs, no safety, no command stage.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "controllers/line_following.hpp"
#include "controllers/line_to_follow.hpp"
#include "controllers/steering_law.hpp"
#include "core/node.hpp"
#include "core/result.hpp"
#include "scenarios/f1tenth_laps_rules.hpp"

namespace pitwall::scenarios::f1tenth {

/// The benchmark's car as a controller knows it.
CarParameters published_car();

/// The rear axle of the benchmark's pose, which is that below 0.5 m/s and the centre of gravity above.
Pose2 base_link_of(const Pose2& pose, double speed_mps);

/// A closed line whose points scatter, smoothed by two passes of local parabolas over a metre to each side (A. Savitzky, M. Golay, Anal.
/// Chem. 36, 1964): the benchmark's lines move by less than 3 cm, and their curvature is no longer half noise.
std::vector<Vec2> without_scatter(std::vector<Vec2> points);

/// Drives a line by a steering law: 50 times a second, from the true pose.
class LawPlanner {
 public:
  static constexpr int kSteps = 2;
  static constexpr double kPeriod_s = 0.02;
  /// Errors: those of controllers::make_law.
  static Result<std::unique_ptr<LawPlanner>> make(const std::string& law, const Node& parameters, const controllers::LineToFollow& line);

  /// Forgets the lap before.
  void reset();
  /// The command at `now` for the benchmark's pose (rear axle below 0.5 m/s, centre of gravity above) and speed.
  Action plan(Time now, const Pose2& pose, double speed_mps);
  /// Time of the speed profile for a lap, s.
  [[nodiscard]] double planned_s() const;
  [[nodiscard]] const controllers::StabilityMargin& margin() const { return margin_; }

 private:
  explicit LawPlanner(const controllers::LineToFollow& line);
  [[nodiscard]] double speed_for(double s_m, double speed_mps) const;
  void move_wheels(Time now);

  controllers::LineToFollow line_;
  CarParameters car_;
  controllers::LawLine law_line_;
  controllers::LawSetup setup_;
  std::unique_ptr<controllers::SteeringLaw> law_;
  controllers::StabilityMargin margin_;
  std::vector<double> acceleration_mps2_;  ///< of the profile, along each segment
  controllers::LineTracker tracker_;
  std::vector<controllers::QueuedSteering> sent_;
  double acting_rad_ = 0.0;
  double wheel_rad_ = 0.0;
  double commanded_rad_ = 0.0;
};

}  // namespace pitwall::scenarios::f1tenth
