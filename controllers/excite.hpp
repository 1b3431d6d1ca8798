// SPDX-License-Identifier: Apache-2.0
// The controller `excite` drives what identifies a car (excite_plan.hpp) for `fit_sim`, in a free rectangle that it never leaves:
//
//   pose -> place on the path -> steering = pursuit of the path + wave(stage, time)
//                                speed    = speed(stage, time), within the path's ceiling and what the area leaves
//
// Steps reach the wire as steps: there is no ramp between this controller and the car, which is the point of it.
//
// The area. At every tick the way is measured that the padded body may go on, on the arc that the wheels ask for and on one of half
// that curvature, until it is `margin_m` from the edge. The speed never exceeds that from which the car stops within it,
//
//   v reaction + v^2 / (2 a) <= way,   a = the larger of gentle_mps2 and 0.8 of the lateral acceleration that the car just shows,
//
// since a floor that holds the car in a turn also stops it. Well above that speed (a floor that lets go, a pose that jumped) it stops,
// leaves out the rest of the stage and goes on slowly. Outside the area it stops for good.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "controllers/excite_plan.hpp"
#include "controllers/line_driver.hpp"
#include "controllers/watchdogs.hpp"
#include "core/controller.hpp"

namespace pitwall::controllers {

/// Which estimate of base_link is driven by.
enum class ExciteFrame : std::uint8_t {
  kPose,     ///< the localiser's
  kOdometry  ///< dead reckoning; where its heading comes from the commanded steering it drifts by degrees a lap
};
inline constexpr std::array<std::string_view, 2> kExciteFrameNames{"pose", "odometry"};

/// Tuning of excite.
struct ExciteParameters {
  WatchdogParameters watchdogs;
  ExciteArea area;
  ExciteLimits limits;
  ExciteFrame frame = ExciteFrame::kPose;
  double control_rate_hz = 40.0;
  double reaction_s = 0.3;  ///< from a pose to brakes that bite
  void fields(FieldVisitor& f);
};

/// The start-up checks across fields; the error names the reason and the values.
Status validate(const ExciteParameters& parameters, const CarParameters& car);

/// The controller `excite`; runs at its control rate, and ends with kEndOfPath.
class Excite final : public Controller {
 public:
  /// The parameters must have passed validate().
  Excite(const ExciteParameters& parameters, const CarParameters& car);

  [[nodiscard]] std::string_view name() const override { return "excite"; }
  [[nodiscard]] Trigger trigger() const override { return {from_seconds(1.0 / p_.control_rate_hz)}; }
  void reset(const Observation& first) override;
  Command update(const Observation& obs) override;
  [[nodiscard]] std::vector<std::pair<std::string_view, double>> counters() const override;

  [[nodiscard]] const ExcitePlan& plan() const { return plan_; }

 private:
  /// What a stage asks for at one tick.
  struct Wish {
    double steering_rad = 0.0;  ///< added to the pursuit's
    double speed_mps = 0.0;
  };

  [[nodiscard]] Observation in_area_frame(const Observation& obs);
  Command decide(const Observation& obs);
  void enter_stage(Time now, double s_m);
  [[nodiscard]] Wish wish(Time now, double s_m, double lateral_m);
  /// Of a steering wave, at that place of the path.
  [[nodiscard]] double wave_share(double s_m) const;
  [[nodiscard]] Wish speed_steps(double t_s, double s_m) const;
  double limit_speed(Time now, double outside_m);
  bool runs_wide(double outside_m);
  /// Whether the car is to stand because it is off the path.
  bool lost(double off_path_m, double speed_mps);
  /// Curvature in 1/m that takes a lasting distance from the path away: understeer, a bias of the steering.
  double trim(double lateral_m);
  /// How far the padded body may go on the arc of that curvature before a corner is `margin_m` from the edge.
  [[nodiscard]] double free_way_m(double curvature_per_m, double margin_m) const;
  /// The speed from which the car stops within the area.
  [[nodiscard]] double area_speed_mps(double steering_rad, double margin_m) const;
  [[nodiscard]] bool in_area() const;
  Command drive(double steering_rad, double speed_mps);
  Command stop(Reason reason, Layer layer);

  ExciteParameters p_;
  CarParameters car_;
  ExcitePlan plan_;
  LineDriver driver_;
  Watchdogs watchdogs_;
  double lock_rad_;

  PoseEstimate pose_;  // in the frame of the area
  std::size_t stage_ = 0;
  Time stage_began_;
  bool calm_ = false;  // the rest of this stage is left out
  bool out_ = false;
  bool back_ = false;  // on the way back to the path
  double farthest_m_ = 0.0;
  double steering_rad_ = 0.0;
  double lateral_mps2_ = 0.0;  // that the car shows, smoothed
  double trim_per_m_ = 0.0;
  bool wide_now_ = false;
  double ramp_mps_ = 0.0;
  Time ramp_time_;
  double limit_mps_ = 0.0;  // where the car ran wide on the last circle, at the slowest
  double guard_stops_ = 0, wide_ = 0, stops_ = 0;
};

}  // namespace pitwall::controllers
