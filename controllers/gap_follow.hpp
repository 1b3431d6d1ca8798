// SPDX-License-Identifier: Apache-2.0
// Reactive driving by the scan and the measured speed alone: follow the gap (spec section 5). Each scan:
//
//   watchdogs -> scan view -> side distances -> adaptive width -> safety verdict -> gap -> aim -> steering and speed
//   -> command stage
//
// Gap logic: gap_finder.hpp. Corridor centering adds a steering bias from the two side distances when the way ahead is
// straight and deep. Adaptive width plans with a smaller margin, and slower, where the corridor is narrow.
//
// Opponent awareness (off by default; off, or with nothing that moves in view, every command is the same to the bit): a car that
// moves on is followed rather than stopped for. With the gap g from body to body and its speed v_o along our way,
//
//   v <= v_o + u,   u t + u^2 / (2 follow_decel) = g - follow_gap,      stop where g / (v - v_o) <= ttc_threshold
//
// replaces time to collision and stopping distance for the beams on it; the body clearance stays. It is passed where the ordinary
// gap beside it is wide enough, since its edges are extended like any other, and the side once chosen is kept for a while.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "controllers/command_stage.hpp"
#include "controllers/gap_finder.hpp"
#include "controllers/safety_stage.hpp"
#include "controllers/scan_opponents.hpp"
#include "controllers/scan_view.hpp"
#include "controllers/watchdogs.hpp"
#include "core/controller.hpp"

namespace pitwall::controllers {

/// Tuning of gap_follow; what the car is comes from its profile.
struct GapFollowParameters {
  WatchdogParameters watchdogs;
  CommandParameters command;
  SafetyParameters safety;
  // Gap selection.
  double max_range_m = 10.0;
  double forward_fov_rad = math::kPi;  ///< full angle
  double min_gap_distance_m = 2.0;
  double fallback_min_gap_distance_m = 0.8;
  double gap_switch_margin = 1.2;
  double disparity_threshold_m = 0.4;
  double min_centerline_gap_width_m = 0.10;
  double safety_margin_m = 0.18;
  double steering_gain = 1.0;
  // Speed.
  double min_speed_mps = 0.8;  ///< floor of planned slow-downs only; never above a safety or curvature ceiling
  double corner_speed_mps = 1.1;
  double corner_speed_wide_mps = 1.4;
  // Adaptive width: everything between narrow and reference is a linear ramp of left + right side distance.
  bool enable_adaptive_width = true;
  double adaptive_width_narrow_m = 1.4;
  double adaptive_width_reference_m = 2.6;
  double min_safety_margin_m = 0.18;
  // Anticipation of the corner that the near part of the gap shows.
  bool enable_cornering_anticipation = false;
  double anticipation_near_depth_m = 2.5;
  // Centering.
  bool enable_centering = true;
  double centering_gain_radpm = 0.25;
  double centering_max_steering_rad = 0.08;
  double centering_side_fov_rad = math::kPi / 3.0;  ///< full angle about +-90 degrees
  double centering_full_bearing_rad = math::kPi * 4.0 / 180.0;
  double centering_zero_bearing_rad = math::kPi * 15.0 / 180.0;
  double centering_full_depth_m = 2.5;
  double centering_zero_depth_m = 1.5;
  double centering_full_side_m = 4.0;
  double centering_zero_side_m = 5.0;
  // Other cars.
  bool enable_opponent_awareness = false;
  ScanOpponentParameters opponents;
  double follow_gap_m = 0.8;  ///< from the body to a car ahead that is followed
  double follow_decel_mps2 = 2.5;
  double side_commit_s = 0.5;  ///< how long the side on which a car is passed is kept
  void fields(FieldVisitor& f);
};

/// The start-up checks across fields; the error names the reason and the values.
Status validate(const GapFollowParameters& parameters, const CarParameters& car);

/// Nearest valid returns beside the car, m from the LiDAR; +inf where there are none.
struct SideDistances {
  double left_m = std::numeric_limits<double>::infinity();
  double right_m = std::numeric_limits<double>::infinity();
};
SideDistances side_distances(const ScanView& scan, double fov_rad);

/// Share in [0, 1] of the wide settings: 1 from `reference` on or where a side is open, 0 up to `narrow`.
double width_factor(const SideDistances& sides, double narrow_m, double reference_m);

/// Steering bias towards the middle, rad, positive to the left.
double centering_bias(const SideDistances& sides, double aim_rad, double aim_depth_m, const GapFollowParameters& p);

/// The controller `gap_follow`; runs on every scan.
class GapFollow final : public Controller {
 public:
  /// `parameters` must have passed validate().
  GapFollow(const GapFollowParameters& parameters, const CarParameters& car);

  [[nodiscard]] std::string_view name() const override { return "gap_follow"; }
  [[nodiscard]] Trigger trigger() const override { return {}; }
  void reset(const Observation& first) override;
  Command update(const Observation& obs) override;
  Status change_parameters(const Node& changes) override;
  void resume(const Command& last, Time at) override { stage_.resume(last, at); }
  [[nodiscard]] std::vector<std::pair<std::string_view, double>> counters() const override;

  /// The gap of the last driving tick, for displays and tests.
  [[nodiscard]] const std::optional<Gap>& gap() const { return gap_; }
  /// The verdict of the last tick that looked at a scan.
  [[nodiscard]] const SafetyVerdict& verdict() const { return verdict_; }

 private:
  [[nodiscard]] std::optional<Gap> choose_gap(double half_width_m, bool& fallback, double switch_margin);
  /// What traffic adds to the safety verdict: which beams end on cars that move on, how fast these let us go.
  struct Traffic {
    double cap_mps = std::numeric_limits<double>::infinity();
    bool collision = false;
    std::int32_t beam = -1;
    double ttc_s = std::numeric_limits<double>::infinity();
  };
  Traffic judge_traffic(const Observation& obs, double speed_mps);
  [[nodiscard]] double switch_margin(Time now);
  [[nodiscard]] double planned_speed(const Gap& gap, bool fallback, double corner_speed_mps) const;
  Command stopped(Command command);

  GapFollowParameters p_;
  CarParameters car_;
  double half_car_m_;
  Watchdogs watchdogs_;
  CommandStage stage_;
  SafetyStage safety_;
  ScanView scan_;
  GapFinder finder_;
  SafetyVerdict verdict_;
  std::optional<Gap> gap_;
  std::optional<double> previous_aim_rad_;
  ScanOpponents opponents_;
  std::vector<std::uint8_t> moving_beams_;
  double follow_response_s_;
  double wheelbase_m_;
  std::optional<Time> side_since_;
  double side_rad_ = 0.0;
  double follows_ = 0;
  double ticks_ = 0, stops_ = 0, ttc_stops_ = 0, creeps_ = 0, fallbacks_ = 0;
};

}  // namespace pitwall::controllers
