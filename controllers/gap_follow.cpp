// SPDX-License-Identifier: Apache-2.0
#include "controllers/gap_follow.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "controllers/line_following.hpp"
#include "controllers/swept_arc.hpp"
#include "core/text.hpp"

namespace pitwall::controllers {

namespace {

// 1 at `full`, 0 at `zero`, linear between; either may be the larger.
double ramp(double value, double full, double zero) { return std::clamp((value - zero) / (full - zero), 0.0, 1.0); }

double lerp(double from, double to, double share) { return from + share * (to - from); }

std::string named(const char* name, double value) { return std::string(name) + " " + format_exact(value); }

Error refuse(const std::string& reason) { return Error{"gap_follow: " + reason}; }

}  // namespace

void GapFollowParameters::fields(FieldVisitor& f) {
  watchdogs.fields(f);
  command.fields(f);
  safety.fields(f);
  f.number("max_range_m", max_range_m, {"m", 1, 100, "ranges are cut to this for gap finding"});
  f.number("forward_fov_rad", forward_fov_rad, {"rad", 0.5, 6.2832, "full angle in which gaps are sought"});
  f.number("min_gap_distance_m", min_gap_distance_m, {"m", 0.5, 5, "depth of a gap"});
  f.number("fallback_min_gap_distance_m", fallback_min_gap_distance_m, {"m", 0.2, 3, "depth of a gap where there is no deeper one"});
  f.number("gap_switch_margin", gap_switch_margin, {"", 1, 10, "score ratio that makes another gap worth changing to"});
  f.number("disparity_threshold_m", disparity_threshold_m, {"m", 0.1, 1.5, "jump between neighbouring beams that is an edge"});
  f.number("min_centerline_gap_width_m", min_centerline_gap_width_m, {"m", 0, 5, "chord that must remain for the car's centre"});
  f.number("safety_margin_m", safety_margin_m, {"m", 0.02, 0.4, "added to half the car on each side"});
  f.number("steering_gain", steering_gain, {"", 0.2, 2.5, "steering angle per bearing of the aim"});
  f.number("min_speed_mps", min_speed_mps, {"m/s", 0, 3, "floor of planned slow-downs; never overrides a safety or curvature ceiling"});
  f.number("corner_speed_mps", corner_speed_mps, {"m/s", 0.1, 2, "speed on a fallback gap in a narrow corridor"});
  f.number("corner_speed_wide_mps", corner_speed_wide_mps, {"m/s", 0.1, 4, "the same in a wide corridor"});
  f.flag("enable_adaptive_width", enable_adaptive_width, "smaller margin and corner speed in narrow corridors");
  f.number("adaptive_width_narrow_m", adaptive_width_narrow_m, {"m", 0.3, 10, "corridor width from which down all is narrow"});
  f.number("adaptive_width_reference_m", adaptive_width_reference_m, {"m", 0.3, 10, "corridor width from which up all is wide"});
  f.number("min_safety_margin_m", min_safety_margin_m, {"m", 0.01, 0.4, "the margin in a narrow corridor"});
  f.flag("enable_cornering_anticipation", enable_cornering_anticipation, "slow down for the turn from the near to the far part of a gap");
  f.number("anticipation_near_depth_m", anticipation_near_depth_m, {"m", 0.5, 10, "depth up to which beams are the near part"});
  f.flag("enable_centering", enable_centering, "steer towards the middle of a straight corridor");
  f.number("centering_gain_radpm", centering_gain_radpm, {"rad/m", 0, 2, "steering per offset from the middle"});
  f.number("centering_max_steering_rad", centering_max_steering_rad, {"rad", 0, 0.5, "largest centering bias"});
  f.number("centering_side_fov_rad", centering_side_fov_rad, {"rad", 0.1, 3.1416, "full angle about +-90 degrees that is the side"});
  f.number("centering_full_bearing_rad", centering_full_bearing_rad, {"rad", 0, 1.5, "full centering up to this aim bearing"});
  f.number("centering_zero_bearing_rad", centering_zero_bearing_rad, {"rad", 0, 1.5, "no centering from this aim bearing on"});
  f.number("centering_full_depth_m", centering_full_depth_m, {"m", 0, 20, "full centering from this aim depth on"});
  f.number("centering_zero_depth_m", centering_zero_depth_m, {"m", 0, 20, "no centering up to this aim depth"});
  f.number("centering_full_side_m", centering_full_side_m, {"m", 0, 20, "full centering up to this side distance"});
  f.number("centering_zero_side_m", centering_zero_side_m, {"m", 0, 20, "no centering from this side distance on"});
  f.flag("enable_opponent_awareness", enable_opponent_awareness, "follow and pass cars that move, instead of stopping for them");
  f.nested("opponents", opponents);
  f.number("follow_gap_m", follow_gap_m, {"m", 0.1, 5, "kept to a car that is followed"});
  f.number("follow_decel_mps2", follow_decel_mps2, {"m/s^2", 0.5, 12, "braking that following counts on"});
  f.number("side_commit_s", side_commit_s, {"s", 0, 5, "how long the side on which a car is passed is kept"});
}

Status validate(const GapFollowParameters& p, const CarParameters& car) {
  if (const Status status = check_fields("gap_follow", p); !status) return status;
  if (const Status status = validate(p.safety, car, "gap_follow"); !status) return status;
  const auto less = [](const char* a, double va, const char* b, double vb) {
    return refuse(named(a, va) + " must be below " + named(b, vb));
  };
  const auto not_above = [](const char* a, double va, const char* b, double vb) {
    return refuse(named(a, va) + " must not be above " + named(b, vb));
  };
  const double creep_limit = std::max(p.min_speed_mps, 0.5);
  if (p.safety.escape_creep_speed_mps > creep_limit) {
    return refuse(named("escape_creep_speed_mps", p.safety.escape_creep_speed_mps) +
                  " must not be above max(min_speed_mps, 0.5) = " + format_exact(creep_limit));
  }
  if (p.safety.forward_stop_fov_rad > p.forward_fov_rad)
    return not_above("forward_stop_fov_rad", p.safety.forward_stop_fov_rad, "forward_fov_rad", p.forward_fov_rad);
  if (p.min_speed_mps > p.command.max_speed_mps)
    return not_above("min_speed_mps", p.min_speed_mps, "max_speed_mps", p.command.max_speed_mps);
  if (p.corner_speed_mps > p.corner_speed_wide_mps)
    return not_above("corner_speed_mps", p.corner_speed_mps, "corner_speed_wide_mps", p.corner_speed_wide_mps);
  if (p.corner_speed_wide_mps > p.command.max_speed_mps)
    return not_above("corner_speed_wide_mps", p.corner_speed_wide_mps, "max_speed_mps", p.command.max_speed_mps);
  if (p.fallback_min_gap_distance_m > p.min_gap_distance_m) {
    return not_above("fallback_min_gap_distance_m", p.fallback_min_gap_distance_m, "min_gap_distance_m", p.min_gap_distance_m);
  }
  if (p.min_safety_margin_m > p.safety_margin_m)
    return not_above("min_safety_margin_m", p.min_safety_margin_m, "safety_margin_m", p.safety_margin_m);
  if (p.adaptive_width_narrow_m >= p.adaptive_width_reference_m) {
    return less("adaptive_width_narrow_m", p.adaptive_width_narrow_m, "adaptive_width_reference_m", p.adaptive_width_reference_m);
  }
  const double half_lock = 0.5 * std::min(car.steering_max_left_rad, -car.steering_max_right_rad);
  if (p.centering_max_steering_rad > half_lock) {
    return refuse(named("centering_max_steering_rad", p.centering_max_steering_rad) +
                  " must not be above half the smaller steering lock, " + format_exact(half_lock));
  }
  if (p.centering_full_bearing_rad >= p.centering_zero_bearing_rad) {
    return less("centering_full_bearing_rad", p.centering_full_bearing_rad, "centering_zero_bearing_rad", p.centering_zero_bearing_rad);
  }
  if (p.centering_zero_depth_m >= p.centering_full_depth_m)
    return less("centering_zero_depth_m", p.centering_zero_depth_m, "centering_full_depth_m", p.centering_full_depth_m);
  if (p.centering_full_side_m >= p.centering_zero_side_m)
    return less("centering_full_side_m", p.centering_full_side_m, "centering_zero_side_m", p.centering_zero_side_m);
  return {};
}

SideDistances side_distances(const ScanView& scan, double fov_rad) {
  SideDistances sides;
  sides.left_m = scan.nearest_range(scan.window(0.5 * math::kPi, 0.5 * fov_rad)).value_m;
  sides.right_m = scan.nearest_range(scan.window(-0.5 * math::kPi, 0.5 * fov_rad)).value_m;
  return sides;
}

double width_factor(const SideDistances& sides, double narrow_m, double reference_m) {
  const double width = sides.left_m + sides.right_m;
  return std::isfinite(width) ? ramp(width, reference_m, narrow_m) : 1.0;
}

double centering_bias(const SideDistances& sides, double aim_rad, double aim_depth_m, const GapFollowParameters& p) {
  if (!std::isfinite(sides.left_m) || !std::isfinite(sides.right_m)) return 0.0;
  const double weight = ramp(std::abs(aim_rad), p.centering_full_bearing_rad, p.centering_zero_bearing_rad) *
                        ramp(aim_depth_m, p.centering_full_depth_m, p.centering_zero_depth_m) *
                        ramp(sides.left_m, p.centering_full_side_m, p.centering_zero_side_m) *
                        ramp(sides.right_m, p.centering_full_side_m, p.centering_zero_side_m);
  const double to_left = 0.5 * (sides.left_m - sides.right_m);  // the middle of the corridor, seen from the car
  return std::clamp(p.centering_gain_radpm * to_left, -p.centering_max_steering_rad, p.centering_max_steering_rad) * weight;
}

GapFollow::GapFollow(const GapFollowParameters& parameters, const CarParameters& car)
    : p_(parameters),
      car_(car),
      half_car_m_(0.5 * car.width_m),
      watchdogs_(parameters.watchdogs, {.scan = true, .odometry = true}),
      stage_(parameters.command, car),
      safety_(parameters.safety, car),
      scan_(car),
      opponents_(parameters.opponents),
      follow_response_s_(car.lidar_delay_s + braking_delay_s(car, car.lidar_rate_hz > 0.0 ? 1.0 / car.lidar_rate_hz : 0.025)),
      wheelbase_m_(car.wheelbase_m) {}

void GapFollow::reset(const Observation& /*first*/) {
  watchdogs_.reset();
  stage_.reset();
  scan_.reset();
  finder_.reset();
  verdict_ = {};
  gap_.reset();
  previous_aim_rad_.reset();
  opponents_.reset();
  moving_beams_.assign(kMaxScanBeams, 0);
  side_since_.reset();
  ticks_ = stops_ = ttc_stops_ = creeps_ = fallbacks_ = follows_ = 0;
}

Status GapFollow::change_parameters(const Node& changes) {
  GapFollowParameters changed = p_;
  if (const Status status = load_fields(changes, name(), changed); !status) return status;
  if (const Status status = validate(changed, car_); !status) return status;
  p_ = changed;
  watchdogs_.change_parameters(changed.watchdogs);
  stage_.change_parameters(changed.command, car_);
  safety_ = SafetyStage(changed.safety, car_);
  opponents_.change_parameters(changed.opponents);
  return {};
}

Command GapFollow::stopped(Command command) {
  stops_ += 1;
  ttc_stops_ += command.reason == Reason::kTtcBrake ? 1 : 0;
  return command;
}

std::optional<Gap> GapFollow::choose_gap(double half_width_m, bool& fallback, double switch_margin) {
  finder_.prepare(scan_, scan_.window(0.0, 0.5 * p_.forward_fov_rad), half_width_m, p_.disparity_threshold_m, p_.max_range_m);
  GapQuery query{p_.min_gap_distance_m, p_.min_centerline_gap_width_m, switch_margin, previous_aim_rad_};
  std::optional<Gap> gap = finder_.best(scan_, query);
  fallback = !gap;
  if (fallback) {
    query.min_depth_m = p_.fallback_min_gap_distance_m;
    gap = finder_.best(scan_, query);
  }
  return gap;
}

GapFollow::Traffic GapFollow::judge_traffic(const Observation& obs, double speed_mps) {
  Traffic traffic;
  const LaserScan& scan = *obs.scan.message;
  const Odometry& odometry = *obs.odometry.message;
  const Pose2 T_odom_base{odometry.position.x, odometry.position.y, yaw_of(odometry.orientation)};
  opponents_.observe(scan_, T_odom_base, scan.stamp == Time{} ? obs.scan.arrival : scan.stamp, 0.5 * p_.forward_fov_rad);
  std::fill_n(moving_beams_.begin(), scan_.size(), static_cast<std::uint8_t>(0));
  // Wider than the band of time to collision: a car beside our way may come into it.
  const double half_band = half_car_m_ + p_.safety_margin_m;
  for (const MovingThing& car : opponents_.moving()) {
    // What comes towards us is a wall that comes nearer: the ordinary checks are the right ones.
    if (car.velocity_base.x < 0.0) continue;
    std::fill(moving_beams_.begin() + static_cast<std::ptrdiff_t>(car.first_beam),
              moving_beams_.begin() + static_cast<std::ptrdiff_t>(car.last_beam) + 1, static_cast<std::uint8_t>(1));
  }
  const std::span<const std::uint8_t> mask(moving_beams_.data(), scan_.size());
  const NearestBeam ahead = swept_clearance(scan_, wheelbase_m_, stage_.steering_rad(), half_band, mask, 1);
  if (ahead.beam < 0) return traffic;
  double along = 0.0;
  for (const MovingThing& car : opponents_.moving()) {
    const auto beam = static_cast<std::size_t>(ahead.beam);
    if (beam >= car.first_beam && beam <= car.last_beam) along = std::max(0.0, car.velocity_base.x);
  }
  traffic.beam = ahead.beam;
  const double gap = ahead.value_m;
  traffic.cap_mps = gap <= p_.follow_gap_m ? along * std::max(0.0, gap / p_.follow_gap_m)
                                           : along + stopping_speed_mps(gap - p_.follow_gap_m, p_.follow_decel_mps2, follow_response_s_);
  const double closing = std::abs(speed_mps) - along;
  if (closing > p_.safety.ttc_min_closing_speed_mps) traffic.ttc_s = std::max(0.0, gap) / closing;
  traffic.collision =
      p_.safety.enable_ttc && std::abs(speed_mps) >= p_.safety.ttc_min_brake_speed_mps && traffic.ttc_s <= p_.safety.ttc_threshold_s;
  return traffic;
}

// While a car is in view, the side that was chosen less than side_commit_s ago needs a much better one to be left.
double GapFollow::switch_margin(Time now) {
  constexpr double kCommitted = 3.0;
  if (!p_.enable_opponent_awareness || opponents_.moving().empty() || !previous_aim_rad_) {
    side_since_.reset();
    return p_.gap_switch_margin;
  }
  if (!side_since_ || side_rad_ * *previous_aim_rad_ < 0.0) {
    side_since_ = now;
    side_rad_ = *previous_aim_rad_;
  }
  return (now - *side_since_).seconds() < p_.side_commit_s ? std::max(kCommitted, p_.gap_switch_margin) : p_.gap_switch_margin;
}

// What the gap allows; the command stage cuts it by curvature and safety, which no floor may lift.
double GapFollow::planned_speed(const Gap& gap, bool fallback, double corner_speed_mps) const {
  double planned = stage_.max_speed_mps();
  if (fallback) planned = std::min(planned, corner_speed_mps);
  if (p_.enable_cornering_anticipation) {
    if (const auto near = finder_.near_bearing(scan_, gap, p_.anticipation_near_depth_m)) {
      planned = std::min(planned, stage_.curvature_limit_mps(p_.steering_gain * (gap.aim_rad - *near)));
    }
  }
  return std::max(planned, p_.min_speed_mps);
}

Command GapFollow::update(const Observation& obs) {
  ticks_ += 1;
  gap_.reset();
  if (const auto reason = watchdogs_.check(obs)) return stopped(stage_.stop(obs.now, *reason, Layer::kWatchdog));
  if (!scan_.update(*obs.scan.message)) return stopped(stage_.stop(obs.now, Reason::kScanMalformed, Layer::kWatchdog));
  const double speed = obs.odometry.message->speed_mps;

  const SideDistances sides = side_distances(scan_, p_.centering_side_fov_rad);
  const double width = p_.enable_adaptive_width ? width_factor(sides, p_.adaptive_width_narrow_m, p_.adaptive_width_reference_m) : 1.0;
  const double margin = lerp(p_.min_safety_margin_m, p_.safety_margin_m, width);
  const double corner_speed = lerp(p_.corner_speed_mps, p_.corner_speed_wide_mps, width);

  Traffic traffic;
  if (p_.enable_opponent_awareness) traffic = judge_traffic(obs, speed);
  const bool in_traffic = p_.enable_opponent_awareness && !opponents_.moving().empty();
  const std::span<const std::uint8_t> mask =
      in_traffic ? std::span<const std::uint8_t>(moving_beams_.data(), scan_.size()) : std::span<const std::uint8_t>{};
  verdict_ = safety_.judge(scan_, {speed, stage_.speed_mps(), stage_.age_s(obs.now), stage_.steering_rad()}, mask);
  if (verdict_.stop()) return stopped(stage_.stop(obs.now, verdict_.reason, Layer::kSafety, verdict_.beam, verdict_.ttc_s));

  if (traffic.collision) return stopped(stage_.stop(obs.now, Reason::kTtcBrake, Layer::kSafety, traffic.beam, traffic.ttc_s));

  bool fallback = false;
  gap_ = choose_gap(half_car_m_ + margin, fallback, switch_margin(obs.now));
  if (!gap_) return stopped(stage_.stop(obs.now, Reason::kNoSafeGap, Layer::kLaw, verdict_.beam, verdict_.ttc_s));
  previous_aim_rad_ = gap_->aim_rad;

  Desired desired;
  desired.steering_rad = p_.steering_gain * gap_->aim_rad;
  if (p_.enable_centering && !verdict_.creep()) desired.steering_rad += centering_bias(sides, gap_->aim_rad, gap_->depth_m, p_);
  desired.speed_mps = planned_speed(*gap_, fallback, corner_speed);
  desired.safety_ceiling_mps = verdict_.ceiling_mps;
  desired.reason = verdict_.creep() ? Reason::kEscapeCreep : Reason::kDrive;
  if (traffic.cap_mps < desired.speed_mps) {
    desired.hard_cap_mps = traffic.cap_mps;
    desired.reason = Reason::kFollow;
    follows_ += 1;
  }
  desired.beam = verdict_.beam;
  desired.ttc_s = verdict_.ttc_s;
  creeps_ += verdict_.creep() ? 1 : 0;
  fallbacks_ += fallback ? 1 : 0;
  return stage_.drive(obs.now, speed, desired);
}

std::vector<std::pair<std::string_view, double>> GapFollow::counters() const {
  return {{"ticks", ticks_},        {"stop_steps", stops_},     {"ttc_stop_steps", ttc_stops_},
          {"creep_steps", creeps_}, {"follow_steps", follows_}, {"fallback_steps", fallbacks_}};
}

}  // namespace pitwall::controllers
