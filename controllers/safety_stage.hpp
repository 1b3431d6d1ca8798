// SPDX-License-Identifier: Apache-2.0
// The one safety stage: what the scan alone allows, whatever a law or a map believes (spec sections 5.2 steps 7-9 and 13,
// 5.4, 6.5). Checked in this order:
//
//   body clearance   min over valid beams within +-body_fov/2 of (range - body boundary)
//                    <= 0: stop body_contact; <= emergency_stop_clearance: stop emergency_clearance
//   time to          for valid beams that close in (v cos(bearing) > ttc_min_closing_speed) and end within
//   collision        car_width / 2 + ttc_path_margin of the arc that the rear axle will drive at the commanded steering:
//                    ttc = (range - boundary) / (v cos(bearing)); <= ttc_threshold: stop ttc_brake
//   forward          smallest free distance within +-forward_stop_fov/2, unknown beams believed as ScanView::depth_m says;
//   clearance        <= forward_stop_clearance: creep at min(escape_creep_speed, stop(free - reserve)), with
//                    reserve = max(emergency_stop_clearance, forward_stop_clearance / 2); none left: stop forward_stop
//   ceiling          otherwise stop(free - forward_stop_clearance)
//
// stop(d) is the speed v from which the car stops within d: v t + v^2 / (2 a) = d, with a = stopping_decel (what the car is
// trusted to achieve, not the ramp of the command) and t = stopping_response plus the car's scan and command delays. The
// reference has t = 0; with 0.125 s of delay that touches the end of every second dead end.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "controllers/scan_view.hpp"
#include "core/controller.hpp"
#include "core/fields.hpp"

namespace pitwall::controllers {

/// Tuning; the car's size, LiDAR mount and delays come from its profile.
struct SafetyParameters {
  double emergency_stop_clearance_m = 0.02;
  double body_fov_rad = math::kPi;  ///< full angle; narrower than the scan, so that the car's own rear is not seen
  double forward_stop_clearance_m = 0.25;
  double forward_stop_fov_rad = math::kPi / 3.0;  ///< full angle
  double escape_creep_speed_mps = 0.25;
  double stopping_decel_mps2 = 3.0;
  double stopping_response_s = 0.10;  ///< lag of the speed loop; the car's scan and command delays are added to it
  bool enable_ttc = true;
  double ttc_threshold_s = 0.35;
  double ttc_path_margin_m = 0.05;
  double ttc_min_closing_speed_mps = 0.05;
  double ttc_min_brake_speed_mps = 0.6;                  ///< below this the creep rule is enough
  double ttc_command_speed_timeout_s = 0.5;              ///< age up to which the last command stands in for a measured standstill
  double ttc_command_fallback_max_odom_speed_mps = 0.1;  ///< measured speed that counts as a standstill
  void fields(FieldVisitor& f);
};

/// The cross-field checks of the start-up: the LiDAR inside the padded body, forward clearance not below emergency
/// clearance, and (for a whole car) everything fields() cannot see alone. `what` names the controller.
Status validate(const SafetyParameters& parameters, const CarParameters& car, std::string_view what);

/// How the car moves, as far as it is known.
struct SafetyMotion {
  double measured_mps = 0.0;   ///< from odometry; the sign is ignored
  double commanded_mps = 0.0;  ///< last command
  double command_age_s = std::numeric_limits<double>::infinity();
  double steering_rad = 0.0;  ///< last commanded: the arc that is being driven
};

/// What the scan allows: an action with its reason, and a speed ceiling.
struct SafetyVerdict {
  enum class Action : std::uint8_t { kClear, kCreep, kStop };
  Action action = Action::kClear;
  Reason reason = Reason::kDrive;                          ///< why, for kStop and kCreep (kEscapeCreep)
  std::int32_t beam = -1;                                  ///< the beam that decided, or the nearest one ahead
  double ttc_s = std::numeric_limits<double>::infinity();  ///< smallest in the swept band
  std::int32_t ttc_beam = -1;
  NearestBeam body;     ///< smallest clearance around the body
  NearestBeam forward;  ///< smallest clearance ahead
  /// Highest speed from which the car still stops short; 0 for kStop. Acts at once (Desired::safety_ceiling_mps).
  double ceiling_mps = 0.0;
  [[nodiscard]] bool stop() const { return action == Action::kStop; }
  [[nodiscard]] bool creep() const { return action == Action::kCreep; }
};

/// Judges scans; holds parameters, no memory.
class SafetyStage {
 public:
  SafetyStage(const SafetyParameters& parameters, const CarParameters& car);

  /// The verdict on one scan. No state: equal arguments give equal verdicts. Beams with a nonzero entry in `explained`
  /// (one per beam; empty: none) end on something that the controller knows and deals with, a mapped wall or a followed
  /// opponent: they count for the body clearance only.
  [[nodiscard]] SafetyVerdict judge(const ScanView& scan, const SafetyMotion& motion, std::span<const std::uint8_t> explained = {}) const;

  /// The speed time to collision is computed with: |measured|, or near a standstill the fresh command if it is larger.
  [[nodiscard]] double effective_speed_mps(const SafetyMotion& motion) const;
  /// The highest speed from which the car stops within `distance_m`: v t + v^2 / (2 a) = distance; 0 for none.
  [[nodiscard]] double stopping_speed_mps(double distance_m) const;
  [[nodiscard]] const SafetyParameters& parameters() const { return parameters_; }

 private:
  [[nodiscard]] NearestBeam time_to_collision(const ScanView& scan, double speed_mps, double steering_rad,
                                              std::span<const std::uint8_t> explained) const;

  SafetyParameters parameters_;
  double wheelbase_m_;
  double half_band_m_;
  double response_s_;
};

}  // namespace pitwall::controllers
