// SPDX-License-Identifier: Apache-2.0
// Do the wheels and the scans tell the same way? Over a moving window both ways are compared: wheels that make more way slip (or the
// car is jammed), scans that make more way than the wheels, or than the car can, are matched wrongly, and a car that is told to drive and
// does not is stuck. It reads the scan-matched poses as they come: those of the odometry gate hide what is looked for.
//
// A way is the sum of small steps, each seen from the car, so that neither loops shorten it nor the heading of a wheel odometry that takes
// its turn from the steering command changes it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/fields.hpp"
#include "core/geometry.hpp"
#include "core/time.hpp"
#include "localization/pose_track.hpp"

namespace pitwall::localization {

/// Defaults are those measured on a small robot of 0.218 m/s; for_speed() gives those of a faster one.
struct SlipMonitorParameters {
  double window_s = 1.0;
  double min_speed_mps = 0.03;  ///< below it nothing is said
  double slip_mps = 0.03;       ///< wheels faster than scans by more than this, and
  double slip_share = 0.25;     ///< by more than this share of the larger
  double fault_mps = 0.03;      ///< scans faster than wheels, likewise
  double fault_share = 0.25;
  double max_speed_mps = 0.2507;  ///< scans that show more are wrong
  double stuck_command_mps = 0.05;
  double stuck_command_radps = 0.20;
  double stuck_mps = 0.01;  ///< what counts as no motion
  double stuck_radps = 0.05;
  double hold_s = 0.5;     ///< a state is reported after this time without a break
  double release_s = 2.0;  ///< and withdrawn after this time of quiet
  double max_lag_s = 1.0;  ///< a source or command older than this is none
  void fields(FieldVisitor& f);

  /// Speeds scaled to a vehicle that does `max_speed_mps`, of which 15 % more are believed.
  static SlipMonitorParameters for_speed(double max_speed_mps);
};

enum class SlipState : std::uint8_t { kUnknown, kOk, kSlip, kScanFault, kStuck };
std::string_view to_string(SlipState state);

/// Why there is no comparison.
enum class NoResidual : std::uint8_t { kNone, kNoWheels, kNoScans, kStaleWheels, kStaleScans, kShortOverlap };
std::string_view to_string(NoResidual reason);

/// Both ways over one window.
struct SlipResidual {
  NoResidual missing = NoResidual::kNoWheels;  ///< kNone where the numbers say something
  Time end;                                    ///< of the window
  double wheel_mps = 0.0;                      ///< mean speed, not negative
  double scan_mps = 0.0;
  double wheel_radps = 0.0;
  double scan_radps = 0.0;
  [[nodiscard]] double residual_mps() const { return wheel_mps - scan_mps; }
  [[nodiscard]] double scale_mps() const { return wheel_mps > scan_mps ? wheel_mps : scan_mps; }
  [[nodiscard]] double relative() const { return scale_mps() > 0.0 ? residual_mps() / scale_mps() : 0.0; }
  [[nodiscard]] double yaw_residual_radps() const { return wheel_radps - scan_radps; }
};

/// What the vehicle was told.
struct MotionCommand {
  Time stamp;
  double speed_mps = 0.0;
  double yaw_rate_radps = 0.0;
};

SlipState classify(const SlipMonitorParameters& parameters, const SlipResidual& residual, const std::optional<MotionCommand>& command);

/// Holds back what does not last.
class SlipFilter {
 public:
  SlipFilter(double hold_s, double release_s) : hold_(from_seconds(hold_s)), release_(from_seconds(release_s)) {}
  /// What to report at `now`, not before the last call's.
  SlipState update(Time now, SlipState state);

 private:
  Duration hold_;
  Duration release_;
  SlipState reported_ = SlipState::kUnknown;
  SlipState candidate_ = SlipState::kUnknown;
  Time candidate_since_;
  Time quiet_since_;
  bool quiet_ = false;
};

struct SlipReport {
  Time at;
  SlipState state = SlipState::kUnknown;      ///< reported
  SlipState immediate = SlipState::kUnknown;  ///< of this window alone
  SlipResidual residual;
};

class SlipMonitor {
 public:
  explicit SlipMonitor(const SlipMonitorParameters& parameters);

  bool add_wheels(Time stamp, const Pose2& T_wheels_base) { return wheels_.add(stamp, T_wheels_base); }
  /// A pose by scans as it was matched, never one that a gate has corrected.
  bool add_scan_pose(Time stamp, const Pose2& T_raw_base) { return scans_.add(stamp, T_raw_base); }
  void add_command(const MotionCommand& command) { command_ = command; }

  /// The state at `now`; to be called at an even rate, 5 Hz on a car.
  SlipReport evaluate(Time now);
  [[nodiscard]] SlipResidual residual(Time now) const;

 private:
  SlipMonitorParameters parameters_;
  PoseTrack wheels_;
  PoseTrack scans_;
  std::optional<MotionCommand> command_;
  SlipFilter filter_;
};

}  // namespace pitwall::localization
