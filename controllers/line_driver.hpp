// SPDX-License-Identifier: Apache-2.0
// What every controller that drives along a line shares: the line with its speeds, the estimate of where the car is now,
// its place on the line, and the speed that the line allows in time for the actuators to answer.
#pragma once

#include <optional>
#include <string_view>

#include "controllers/command_stage.hpp"
#include "controllers/line_to_follow.hpp"
#include "controllers/pose_filter.hpp"
#include "controllers/steering_law.hpp"
#include "core/controller.hpp"
#include "core/fields.hpp"
#include "core/result.hpp"

namespace pitwall::controllers {

/// Tuning that all followers of a line share.
struct LineFollowingParameters {
  double control_rate_hz = 40.0;
  double nearest_window_m = 2.0;
  double max_cross_track_m = 1.0;
  double min_speed_mps = 0.5;      ///< floor of the profile; never above a curvature, safety or end-of-path ceiling
  double wall_clearance_m = 0.15;  ///< the line is moved so that the padded body has it to both sides; 0: driven as given
  double end_decel_mps2 = 3.0;     ///< braking towards the end of an open path
  void fields(FieldVisitor& f);
};

/// The start-up checks: a line with one finite speed per point, min_speed <= max_speed.
Status validate(const LineFollowingParameters& parameters, const LineToFollow* line, double max_speed_mps, std::string_view what);

/// What a law is made for, when its commands go through a command stage of these parameters.
LawSetup law_setup(const CarParameters& car, const LineFollowingParameters& parameters, const CommandParameters& command,
                   const LawLine& line, const SteeringTable* table);

/// Where the car is on its line, and how fast it may be there.
class LineDriver {
 public:
  LineDriver(const LineFollowingParameters& parameters, const CarParameters& car, const LineToFollow& line);

  void reset();
  /// Takes in the odometry and the pose of an observation; call it on every tick, whatever else happens.
  void sense(const Observation& obs);
  /// Takes in what was commanded.
  void commanded(Time now, const Command& command) { pose_.commanded(now, static_cast<double>(command.steering_angle_rad)); }

  /// The place on the line, `shift_m` to its left on purpose; nothing: off the line.
  std::optional<LineFix> locate(double shift_m);
  /// The same for a car that may be `within_m` from the line, if no mapped wall is between.
  std::optional<LineFix> locate_far(double within_m);
  /// What a steering law is told at `now`, for a car at `fix` that follows the line shifted by `shift`
  /// (`shift_m` here). Valid until the next
  /// sense() or commanded().
  [[nodiscard]] LawInput law_input(Time now, const LineFix& fix, const LineShift& shift, double shift_m);
  /// Speed that the line allows at s, in time for the brakes to answer; 0 at the end of an open path. m/s.
  [[nodiscard]] double allowed_speed_mps(double s_m) const;
  /// Whether an open path ends here.
  [[nodiscard]] bool at_end(double s_m) const;

  [[nodiscard]] const tracks::Path& path() const { return *line_.path; }
  [[nodiscard]] const LineToFollow& line() const { return line_; }
  [[nodiscard]] const Pose2& pose() const { return pose_.now(); }
  [[nodiscard]] Pose2 pose_at(Time t) const { return pose_.at(t); }
  [[nodiscard]] bool has_pose() const { return pose_.ready(); }
  /// Measured speed, smoothed, m/s.
  [[nodiscard]] double speed_mps() const { return speed_mps_; }

 private:
  LineFollowingParameters parameters_;
  LineToFollow line_;
  double braking_delay_s_;
  PoseFilter pose_;
  LineTracker tracker_;
  double speed_mps_ = 0.0;
  double travelled_m_ = 0.0;
  std::uint64_t odometry_sequence_ = 0;
  std::uint64_t pose_sequence_ = 0;
  std::optional<Time> last_;
};

}  // namespace pitwall::controllers
