// SPDX-License-Identifier: Apache-2.0
// What one run gave. Every figure is from the truth of the simulated world, never from what a controller believed,
// except those that say so.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/geometry.hpp"

namespace pitwall::scenarios {

/// What the cars did to the friction limit (car 0).
struct GripSummary {
  double limit_mps2 = 0.0;
  std::int64_t steps = 0;
  std::int64_t limited_steps = 0;
  double max_demanded_lateral_mps2 = 0.0;
  double max_allowed_lateral_mps2 = 0.0;
  double min_lateral_budget_mps2 = 0.0;
};

/// The first contact of car 0, seen from it.
struct ContactSummary {
  double at_s = 0.0;
  std::string partner;  ///< "wall", or the name of the other car or the obstacle
  Vec2 point_map;
  double closing_speed_mps = 0.0;
  double speed_mps = 0.0;
  std::optional<Vec2> partner_in_car;  ///< the other car's base_link in the frame of car 0
  bool during_overtake = false;        ///< by the controller's last command
  std::string layer;                   ///< of the controller's last command
  double forward_scan_m = 0.0;
};

/// One fault of the schedule and what came of it. Times in s of the run.
struct FaultOutcome {
  std::string name;
  std::string kind;
  std::string car;
  double start_s = 0.0;
  double length_s = 0.0;
  double size = 0.0;
  std::int64_t seed = 0;
  std::string expect;
  std::optional<double> began_s;  ///< none: it never acted
  std::optional<double> ended_s;
  std::optional<double> answered_s;  ///< stop: zero speed, after the last good input; recover: back near the line, after the end
  std::optional<double> allowed_s;   ///< what that may be, with the control tick
  std::string answer;                ///< what stopped the car: a controller's reason, or command_timeout
  std::int64_t resumed = 0;          ///< how often the car was driven again while a fault lasted that had stopped it
  double max_cross_track_m = 0.0;    ///< from its begin until it was judged; not for stops
  bool passed = false;
};

/// What came of a course that was mapped first.
struct CourseOutcome {
  std::vector<std::pair<std::string, std::optional<double>>> phases;  ///< name, and when it began, s; in the order that they must have
  double distance_m = 0.0;                                            ///< driven by the car under test, in all
  double raced_m = 0.0;                                               ///< of it while racing
  double raced_s = 0.0;
  std::int64_t laps_mapped = 0;
  double line_length_m = 0.0;  ///< of the line made
  double line_clearance_m = 0.0;
  std::int64_t scans_dropped = 0;
};

/// Why a run did not pass; the first thing that went wrong.
struct Failure {
  std::string what;
  double at_s = 0.0;
  double track_s_m = 0.0;  ///< along the centre line
  Vec2 where;
};

/// One car of a run, the one under test among them.
struct CarOutcome {
  std::string name;
  std::int64_t laps = 0;
  double progress_m = 0.0;
  std::int64_t wall_contacts = 0;  ///< of walls and of what stands or moves on the track and is no car
  std::int64_t car_contacts = 0;
  std::int64_t lead_changes = 0;  ///< how often it came by another car
  double longest_stall_s = 0.0;   ///< longest time in which it did not come 0.5 m farther
};

/// Lengths in m, times in s of simulated time unless named otherwise.
struct Outcome {
  // Identity.
  std::string scenario;
  std::string track;
  std::string raceline;
  std::string car;
  std::string fidelity_profile;
  std::int64_t seed = 0;
  std::int64_t lidar_beams = 0;
  double surface_friction = 0.0;
  // Verdict.
  bool passed = false;
  bool interrupted = false;
  std::optional<Failure> failure;
  // Run.
  std::string trace_hash;
  std::string replay;      ///< what the replay of the recording gave; empty where nothing was recorded
  std::int64_t steps = 0;  ///< decisions of car 0
  double sim_time_s = 0.0;
  double wall_time_s = 0.0;
  double cpu_time_s = 0.0;           ///< of the worker's thread
  std::vector<FaultOutcome> faults;  ///< in the order of the scenario
  // Contact.
  bool collision = false;
  bool off_map = false;
  std::int64_t contact_steps = 0;
  std::optional<ContactSummary> contact;
  bool opponent_collision = false;
  // Progress.
  std::int64_t laps = 0;
  std::optional<double> lap_time_s;  ///< of the first whole lap
  double accumulated_progress_m = 0.0;
  double track_length_m = 0.0;
  std::int64_t opponent_laps = 0;
  std::int64_t completed_passes = 0;
  std::vector<CarOutcome> cars;
  std::optional<CourseOutcome> course;
  // Tracking.
  double max_cross_track_m = 0.0;
  double mean_cross_track_m = 0.0;
  double p95_cross_track_m = 0.0;
  double line_length_m = 0.0;
  double profile_min_mps = 0.0;
  double profile_max_mps = 0.0;
  double estimated_lap_time_s = 0.0;
  // Surroundings.
  double min_clearance_m = std::numeric_limits<double>::infinity();  ///< chassis to wall
  double min_forward_scan_m = std::numeric_limits<double>::infinity();
  double mean_corridor_offset_m = 0.0;
  std::int64_t corridor_samples = 0;
  // Decisions.
  std::int64_t stop_steps = 0;
  std::vector<std::pair<std::string, std::int64_t>> reasons;  ///< how often each reason decided
  double min_commanded_speed_mps = 0.0;
  double max_commanded_speed_mps = 0.0;
  std::vector<std::pair<std::string, double>> counters;  ///< the controller's own
  // Motion and sensing.
  GripSummary grip;
  double final_speed_mps = 0.0;
  Pose2 final_pose;
  double max_pose_error_m = 0.0;
  std::int64_t dropped_beams = 0;
};

}  // namespace pitwall::scenarios
