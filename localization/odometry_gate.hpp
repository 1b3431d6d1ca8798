// SPDX-License-Identifier: Apache-2.0
// Keeps the jumps of a scan-matched odometry out of the pose that is built on it. Each step from pose to pose is judged against what the
// car can do; one that it cannot do is replaced by the step of the wheels over the same time. What is given out is the raw pose moved by a
// correction that changes at replaced steps only: without any, the output is the input to the bit, and an excursion that was absorbed is
// a constant offset, not a drift.
//
// A step is replaced when
//   too fast     it is longer than the speed bound allows;
//   too sharp    it turns more than the yaw bound allows (separate from the speed: the joint bound per wheel is broken by wheel
//                odometry itself);
//   too long     over the last `window_s` the pose made more way, or turned more, than the wheels, by more than a share of the bound:
//                excursions that each stay within it;
//   a gap        poses lie more than `max_gap_s` apart, so that a jump would hide in the time.
// A pose that lags and catches up (a filter under load) would lose way each time it is stopped from catching up. With `catch_up_s` the step
// of the wheels is lengthened by what the pose fell behind them of late, within the bound.
//
// Where the wheels do not cover the step, it is the step of the pose, clamped to the bounds. A pose that is not finite, or not newer than
// the last, is left out and counted: the next one is judged over the longer time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/car.hpp"
#include "core/fields.hpp"
#include "core/geometry.hpp"
#include "core/time.hpp"
#include "localization/pose_track.hpp"
#include "localization/twist.hpp"

namespace pitwall::localization {

/// What a vehicle can do.
struct MotionEnvelope {
  double max_speed_mps = 0.0;
  double max_yaw_rate_radps = 0.0;
  double max_curvature_per_m = 0.0;  ///< yaw rate over speed; 0: it turns on the spot
  double max_lateral_mps2 = 0.0;     ///< yaw rate times speed; 0: no limit of grip
  void fields(FieldVisitor& f);

  /// Two driven wheels `separation_m` apart, each at most at `wheel_speed_mps`.
  static MotionEnvelope differential(double wheel_speed_mps, double separation_m);
  /// A car with steered front wheels on a floor of that friction.
  static MotionEnvelope ackermann(const CarParameters& car, double friction);
  /// The fastest turn at a speed.
  [[nodiscard]] double yaw_rate_at(double speed_mps) const;
};

struct OdometryGateParameters {
  MotionEnvelope envelope;
  double tolerance = 1.15;  ///< on the envelope
  double slack_m = 0.0;     ///< added to the bounds of each step: noise of a pose that comes often
  double slack_rad = 0.0;
  double max_gap_s = 0.5;
  double window_s = 1.0;           ///< 0: no test over a window
  double window_share = 0.25;      ///< of the speed bound, by which the pose may outrun the wheels for a window
  double window_yaw_share = 0.25;  ///< of the yaw bound, likewise
  double catch_up_s = 0.0;         ///< how long what the pose fell behind is remembered; 0: the plain step of the wheels
  void fields(FieldVisitor& f);

  /// The reference's: two driven wheels, poses of a scan matcher at 10 Hz.
  static OdometryGateParameters for_differential(double wheel_speed_mps, double separation_m);
  /// A car, whose poses may come at 40 Hz with the noise of a localiser on top.
  static OdometryGateParameters for_car(const CarParameters& car, double friction);
};

enum class GateVerdict : std::uint8_t {
  kFirst,
  kAccepted,
  kTooFast,
  kTooSharp,
  kTooLong,  ///< over the window
  kGap,
  kOutOfOrder,  ///< left out
  kNotFinite,   ///< left out
};
std::string_view to_string(GateVerdict verdict);

struct GatedPose {
  Time stamp;
  GateVerdict verdict = GateVerdict::kFirst;
  Pose2 T_odom_base;  ///< what to believe; unchanged where the pose is left out
  Twist velocity;     ///< of the step that was taken, mean over it; 0 for the first
  Pose2 step_raw;     ///< the step that was judged
  Pose2 step_taken;
  bool by_wheels = false;  ///< the step taken is that of the wheels
  [[nodiscard]] bool replaced() const {
    return verdict == GateVerdict::kTooFast || verdict == GateVerdict::kTooSharp || verdict == GateVerdict::kTooLong ||
           verdict == GateVerdict::kGap;
  }
};

struct GateCounts {
  std::int64_t poses = 0;
  std::array<std::int64_t, 8> verdicts{};  ///< by GateVerdict
  std::int64_t without_wheels = 0;         ///< replaced steps that the wheels did not cover
  double absorbed_m = 0.0;                 ///< distances between the ends of raw and taken steps, summed
  double absorbed_rad = 0.0;
  [[nodiscard]] std::int64_t of(GateVerdict v) const { return verdicts[static_cast<std::size_t>(v)]; }
  [[nodiscard]] std::int64_t replaced() const {
    return of(GateVerdict::kTooFast) + of(GateVerdict::kTooSharp) + of(GateVerdict::kTooLong) + of(GateVerdict::kGap);
  }
};

class OdometryGate {
 public:
  explicit OdometryGate(const OdometryGateParameters& parameters);

  /// A pose of wheel odometry, in its own frame; to be given before the poses that it covers. False where it is left out.
  bool add_wheels(Time stamp, const Pose2& T_wheels_base) { return wheels_.add(stamp, T_wheels_base); }
  /// Whether the wheels are known up to `t`; a pose is best held back until they are.
  [[nodiscard]] bool wheels_cover(Time t) const { return !wheels_.empty() && wheels_.oldest() <= t && t <= wheels_.newest(); }
  /// A pose of the scan-matched odometry: what to believe of it.
  GatedPose add_pose(Time stamp, const Pose2& T_raw_base);

  [[nodiscard]] const GateCounts& counts() const { return counts_; }
  /// Bounds of a step of `dt_s` that makes `way_m`.
  [[nodiscard]] double way_bound_m(double dt_s) const;
  [[nodiscard]] double turn_bound_rad(double way_m, double dt_s) const;

 private:
  [[nodiscard]] GateVerdict judge(const Pose2& step, double dt_s) const;
  [[nodiscard]] Pose2 clamped(const Pose2& step, double dt_s) const;
  // Takes a step into the window: whether the pose made more way in it than the wheels.
  bool outran_wheels(Time stamp, const Pose2& step, const std::optional<Pose2>& wheels);

  OdometryGateParameters parameters_;
  PoseTrack wheels_;
  GateCounts counts_;
  bool any_ = false;
  Time last_stamp_;
  Pose2 last_raw_;
  Pose2 last_out_;
  Pose2 correction_;  // T_odom_raw
  bool corrected_ = false;
  double behind_m_ = 0.0;  // forward way of the wheels less that of the steps taken, of late
  struct WindowStep {
    Time end;
    Pose2 pose;
    Pose2 wheels;
  };
  std::vector<WindowStep> window_;  // oldest first
};

}  // namespace pitwall::localization
