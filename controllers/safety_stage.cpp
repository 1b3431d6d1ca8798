// SPDX-License-Identifier: Apache-2.0
#include "controllers/safety_stage.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/text.hpp"

namespace pitwall::controllers {

namespace {

Error refuse(std::string_view what, const std::string& reason) { return Error{std::string(what) + ": " + reason}; }

std::string text(double value) { return format_exact(value); }

bool is_set(std::span<const std::uint8_t> mask, std::size_t i) { return i < mask.size() && mask[i] != 0; }

NearestBeam nearest_unexplained(const ScanView& scan, BeamWindow w, std::span<const std::uint8_t> explained) {
  NearestBeam nearest;
  for (std::size_t i = w.first; i < w.end; ++i) {
    if (!is_set(explained, i) && scan.clearance_m(i) < nearest.value_m) nearest = {scan.clearance_m(i), static_cast<std::int32_t>(i)};
  }
  return nearest;
}

}  // namespace

void SafetyParameters::fields(FieldVisitor& f) {
  f.number("emergency_stop_clearance_m", emergency_stop_clearance_m, {"m", 0, 0.4, "distance from the padded body that stops at once"});
  f.number("body_fov_rad", body_fov_rad, {"rad", 0.5, 6.2832, "full angle in which that distance is watched"});
  f.number("forward_stop_clearance_m", forward_stop_clearance_m, {"m", 0.05, 1, "distance ahead at which the car stops or creeps"});
  f.number("forward_stop_fov_rad", forward_stop_fov_rad, {"rad", 0.1745, 3.1416, "full angle that counts as ahead"});
  f.number("escape_creep_speed_mps", escape_creep_speed_mps, {"m/s", 0.05, 1, "highest speed nearer than the forward clearance"});
  f.number("stopping_decel_mps2", stopping_decel_mps2, {"m/s^2", 0.5, 12, "deceleration that the car is trusted to achieve"});
  f.number("stopping_response_s", stopping_response_s, {"s", 0, 1, "lag of the speed loop; the car's scan and command delays are added"});
  f.flag("enable_ttc", enable_ttc, "stop on a short time to collision");
  f.number("ttc_threshold_s", ttc_threshold_s, {"s", 0.1, 2, "time to collision that stops"});
  f.number("ttc_path_margin_m", ttc_path_margin_m, {"m", 0, 0.5, "added to half the car on both sides of the swept arc"});
  f.number("ttc_min_closing_speed_mps", ttc_min_closing_speed_mps, {"m/s", 0.001, 1, "beams that close in slower are ignored"});
  f.number("ttc_min_brake_speed_mps", ttc_min_brake_speed_mps, {"m/s", 0, 2, "no such stop below this speed"});
  f.number("ttc_command_speed_timeout_s", ttc_command_speed_timeout_s,
           {"s", 0, 2, "age up to which the command stands in for a measured standstill"});
  f.number("ttc_command_fallback_max_odom_speed_mps", ttc_command_fallback_max_odom_speed_mps,
           {"m/s", 0, 1, "measured speed that counts as a standstill"});
}

Status validate(const SafetyParameters& p, const CarParameters& car, std::string_view what) {
  const BodyRectangle body = car.padded_body();
  if (!(car.lidar_x_m > body.rear_m && car.lidar_x_m < body.front_m && std::abs(car.lidar_y_m) < body.half_width_m)) {
    return refuse(what, "the LiDAR at (" + text(car.lidar_x_m) + ", " + text(car.lidar_y_m) + ") m lies outside the padded body, x " +
                            text(body.rear_m) + " .. " + text(body.front_m) + " m, |y| < " + text(body.half_width_m) + " m");
  }
  if (car.lidar_beams > static_cast<std::int64_t>(kMaxScanBeams)) {
    return refuse(what,
                  "lidar_beams " + std::to_string(car.lidar_beams) + " is more than the " + std::to_string(kMaxScanBeams) + " that fit");
  }
  if (p.forward_stop_clearance_m < p.emergency_stop_clearance_m) {
    return refuse(what, "forward_stop_clearance_m " + text(p.forward_stop_clearance_m) + " is below emergency_stop_clearance_m " +
                            text(p.emergency_stop_clearance_m));
  }
  if (p.forward_stop_fov_rad > p.body_fov_rad) {
    return refuse(what, "forward_stop_fov_rad " + text(p.forward_stop_fov_rad) + " is wider than body_fov_rad " + text(p.body_fov_rad));
  }
  return {};
}

SafetyStage::SafetyStage(const SafetyParameters& parameters, const CarParameters& car)
    : parameters_(parameters),
      wheelbase_m_(car.wheelbase_m),
      half_band_m_(0.5 * car.width_m + parameters.ttc_path_margin_m),
      response_s_(parameters.stopping_response_s + car.speed_delay_s + car.lidar_delay_s) {}

double SafetyStage::effective_speed_mps(const SafetyMotion& motion) const {
  const double measured = std::abs(motion.measured_mps);
  const bool command_counts = motion.command_age_s <= parameters_.ttc_command_speed_timeout_s;
  if (measured <= parameters_.ttc_command_fallback_max_odom_speed_mps && command_counts) return std::max(measured, motion.commanded_mps);
  return measured;
}

double SafetyStage::stopping_speed_mps(double distance_m) const {
  if (!(distance_m > 0.0)) return 0.0;
  if (std::isinf(distance_m)) return distance_m;
  const double lost = parameters_.stopping_decel_mps2 * response_s_;
  // The root of v^2 + 2 lost v - 2 a d = 0 in the form that does not cancel.
  const double square = 2.0 * parameters_.stopping_decel_mps2 * distance_m;
  return square / (lost + std::sqrt(lost * lost + square));
}

NearestBeam SafetyStage::time_to_collision(const ScanView& scan, double speed_mps, double steering_rad,
                                           std::span<const std::uint8_t> explained) const {
  const double kappa = math::tan(steering_rad) / wheelbase_m_;
  const bool straight = std::abs(kappa) < 1e-6;
  const Vec2 centre{0.0, straight ? 0.0 : 1.0 / kappa};
  const double radius = std::abs(centre.y);
  // Inside the band: |distance to the centre - radius| < half band, compared as squares to spare the root.
  const double inner = std::max(0.0, radius - half_band_m_);
  const double outer = radius + half_band_m_;
  NearestBeam nearest;
  for (std::size_t i = 0; i < scan.size(); ++i) {
    const double closing = speed_mps * scan.cos_bearing(i);
    if (!(closing > parameters_.ttc_min_closing_speed_mps) || !scan.valid(i) || is_set(explained, i)) continue;
    const Vec2 p = scan.point_base(i);
    const Vec2 from_centre = p - centre;
    const double squared = dot(from_centre, from_centre);
    const bool in_band = straight ? std::abs(p.y) < half_band_m_ : squared > inner * inner && squared < outer * outer;
    if (!in_band) continue;
    const double ttc = std::max(0.0, scan.clearance_m(i)) / closing;
    if (ttc < nearest.value_m) nearest = {ttc, static_cast<std::int32_t>(i)};
  }
  return nearest;
}

SafetyVerdict SafetyStage::judge(const ScanView& scan, const SafetyMotion& motion, std::span<const std::uint8_t> explained) const {
  const SafetyParameters& p = parameters_;
  const BeamWindow ahead = scan.window(0.0, 0.5 * p.forward_stop_fov_rad);
  SafetyVerdict verdict;
  verdict.body = scan.nearest_clearance(scan.window(0.0, 0.5 * p.body_fov_rad));
  verdict.forward = explained.empty() ? scan.nearest_clearance(ahead) : nearest_unexplained(scan, ahead, explained);
  const double speed = effective_speed_mps(motion);
  if (p.enable_ttc && speed > 0.0) {
    const NearestBeam ttc = time_to_collision(scan, speed, motion.steering_rad, explained);
    verdict.ttc_s = ttc.value_m;
    verdict.ttc_beam = ttc.beam;
  }

  const auto stop = [&verdict](Reason reason, std::int32_t beam) {
    verdict.action = SafetyVerdict::Action::kStop;
    verdict.reason = reason;
    verdict.beam = beam;
    verdict.ceiling_mps = 0.0;
    return verdict;
  };
  if (verdict.body.value_m <= 0.0) return stop(Reason::kBodyContact, verdict.body.beam);
  if (verdict.body.value_m <= p.emergency_stop_clearance_m) return stop(Reason::kEmergencyClearance, verdict.body.beam);
  if (speed >= p.ttc_min_brake_speed_mps && verdict.ttc_s <= p.ttc_threshold_s) return stop(Reason::kTtcBrake, verdict.ttc_beam);

  verdict.beam = verdict.forward.beam;
  // What is unknown is behind a mapped wall or it is not: where the map explains the beams, unknown ones add nothing.
  const double free = ahead.empty() ? 0.0 : explained.empty() ? scan.smallest_free_m(ahead) : verdict.forward.value_m;
  if (free <= p.forward_stop_clearance_m) {
    const double reserve = std::max(p.emergency_stop_clearance_m, 0.5 * p.forward_stop_clearance_m);
    verdict.ceiling_mps = std::min(p.escape_creep_speed_mps, stopping_speed_mps(free - reserve));
    if (verdict.ceiling_mps <= 0.0) return stop(Reason::kForwardStop, verdict.forward.beam);
    verdict.action = SafetyVerdict::Action::kCreep;
    verdict.reason = Reason::kEscapeCreep;
    return verdict;
  }
  verdict.ceiling_mps = stopping_speed_mps(free - p.forward_stop_clearance_m);
  return verdict;
}

}  // namespace pitwall::controllers
