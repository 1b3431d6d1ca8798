// SPDX-License-Identifier: Apache-2.0
// How a SLAM moved the car about, and the laps it did so in.
//
// A correction is a change of map->odom from one message to the next by more than 1e-6 m or rad: a SLAM sends the same one again and again.
// Its size depends on where one looks. At the origin of the odometry frame a small turn is a large move if the car is far from there;
// what a controller feels is the move at the car.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analysis/slam_recording.hpp"
#include "scenarios/lap_recorder.hpp"

namespace pitwall::analysis {

struct Correction {
  double t_s = 0.0;  ///< of receipt, since the origin
  double at_origin_m = 0.0;
  double at_car_m = 0.0;  ///< NaN: where the car was is not known
  double turn_rad = 0.0;  ///< amount
};
std::vector<Correction> corrections_of(const SlamRecording& run);

/// A move at the car that a lap recorder counts as "SLAM correction absorbed", one that is a jump, and one that is a relocation.
inline constexpr double kAbsorbed_m = 0.12;
inline constexpr double kJump_m = 0.3;
inline constexpr double kRelocation_m = 1.5;

/// Where the car was over time, by the SLAM and by an odometry.
struct DrivenPath {
  std::vector<double> t_s;  ///< of receipt of the odometry, since the origin
  std::vector<Time> stamp;
  std::vector<Pose2> T_map_base;
  std::vector<double> odom_yaw_rad;  ///< continuous
  [[nodiscard]] std::size_t size() const { return t_s.size(); }
};
/// At the stamps of the odometry; where the SLAM has no pose there is no sample.
DrivenPath driven_path(const SlamRecording& run, const NamedOdometry& odometry);

/// When a lap is closed: the rules of whoever maps a course.
using scenarios::LapRules;

struct SlamLap {
  double begin_s = 0.0;
  double end_s = 0.0;
  double distance_m = 0.0;
  double closest_m = 0.0;          ///< to where the first lap began
  double heading_error_rad = 0.0;  ///< there
  double turned_rad = 0.0;         ///< by odometry
  std::size_t absorbed = 0;        ///< corrections of kAbsorbed_m or more
  bool closed = false;             ///< else the recording ends within it
};
/// Laps that were closed, and what was driven after the last if it is longer than a departure.
std::vector<SlamLap> slam_laps(const DrivenPath& path, const std::vector<Correction>& corrections, const LapRules& rules = {});

}  // namespace pitwall::analysis
