// SPDX-License-Identifier: Apache-2.0
#include "controllers/line_follower.hpp"

#include <algorithm>
#include <cmath>

#include "controllers/safety_stage.hpp"
#include "controllers/swept_arc.hpp"
#include "core/math.hpp"

namespace pitwall::controllers {

void LineFollowerParameters::fields(FieldVisitor& f) {
  watchdogs.fields(f);
  command.fields(f, kLineRanges);
  line.fields(f);
  pursuit.fields(f);
  f.nested("detection", detection);
  f.number("speed_mps", speed_mps, {"m/s", 0, 6, "commanded speed; the line's own speeds and the command stage bound it"});
  f.number("reserve_m", reserve_m, {"m", 0, 3, "left free in front when it has stopped"});
  f.number("brake_decel_mps2", brake_decel_mps2, {"m/s^2", 0.5, 12, "braking that the stopping distance counts on"});
  f.number("side_margin_m", side_margin_m, {"m", 0, 1, "added to half the car on each side: what lies on the line"});
}

Status validate(const LineFollowerParameters& p, const CarParameters& car, const LineToFollow* line) {
  constexpr std::string_view kWhat = "line_follower";
  if (const Status status = check_fields(kWhat, p); !status) return status;
  if (const Status status = validate(SafetyParameters{}, car, kWhat); !status) return status;
  if (const Status status = validate(p.pursuit, LawSetup{}, kWhat); !status) return status;
  return validate(p.line, line, p.command.max_speed_mps, kWhat);
}

LineFollower::LineFollower(const LineFollowerParameters& parameters, const CarParameters& car, const LineToFollow& line)
    : p_(parameters),
      car_(car),
      response_s_(car.lidar_delay_s + braking_delay_s(car, 1.0 / parameters.line.control_rate_hz)),
      driver_(parameters.line, car, line),
      law_line_(driver_.path(), driver_.line().speed_mps, {}, {}),
      law_(parameters.pursuit, law_setup(car, parameters.line, parameters.command, law_line_, nullptr)),
      watchdogs_(parameters.watchdogs, {.scan = true, .odometry = true, .pose = true}),
      stage_(parameters.command, car),
      scan_(car),
      detector_(parameters.detection, car, line.rays) {}

void LineFollower::reset(const Observation& /*first*/) {
  driver_.reset();
  watchdogs_.reset();
  stage_.reset();
  scan_.reset();
  fix_.reset();
  free_m_ = math::kInfinity;
  scan_sequence_ = 0;
  stops_ = brakes_ = 0;
}

Command LineFollower::update(const Observation& obs) {
  driver_.sense(obs);
  const Command command = decide(obs);
  stops_ += command.speed_mps == 0.0F ? 1 : 0;
  driver_.commanded(obs.now, command);
  return command;
}

double LineFollower::free_ahead_m(const Observation& obs, double steering_rad) {
  constexpr double kFarthest_m = 6.0;
  const double half_band = 0.5 * car_.width_m + p_.side_margin_m;
  if (!detector_.has_map()) return swept_clearance(scan_, car_.wheelbase_m, steering_rad, half_band).value_m;
  if (obs.scan.sequence == scan_sequence_) return free_m_;
  scan_sequence_ = obs.scan.sequence;
  const LaserScan& scan = *obs.scan.message;
  const Time first = scan.stamp == Time{} ? obs.scan.arrival : scan.stamp;
  const Duration sweep = from_seconds(static_cast<double>(scan.time_increment) * static_cast<double>(scan.ranges.size() - 1));
  detector_.detect(scan, driver_.pose_at(first), driver_.pose_at(first + sweep));
  free_m_ = math::kInfinity;
  const double s = fix_->on_line.s_m;
  for (const Vec2 p : detector_.unexplained_points()) {
    const tracks::Projection q = driver_.path().project_near(p, s, 0.5, kFarthest_m);
    const double ahead = driver_.path().s_difference(q.s_m, s) - car_.padded_body().front_m;
    if (std::abs(q.lateral_m - fix_->on_line.lateral_m) < half_band && ahead > -car_.padded_body().front_m)
      free_m_ = std::min(free_m_, std::max(0.0, ahead));
  }
  return free_m_;
}

Command LineFollower::decide(const Observation& obs) {
  fix_.reset();
  if (const auto reason = watchdogs_.check(obs)) return stage_.stop(obs.now, *reason, Layer::kWatchdog);
  if (!scan_.update(*obs.scan.message)) return stage_.stop(obs.now, Reason::kScanMalformed, Layer::kWatchdog);
  if (!driver_.has_pose()) return stage_.stop(obs.now, Reason::kPoseInvalid, Layer::kWatchdog);
  fix_ = driver_.locate(0.0);
  if (!fix_) return stage_.stop(obs.now, Reason::kOffLine, Layer::kWatchdog);
  if (driver_.at_end(fix_->on_line.s_m)) return stage_.stop(obs.now, Reason::kEndOfPath, Layer::kLaw);

  Desired desired;
  desired.steering_rad = law_.steer(driver_.law_input(obs.now, *fix_, {}, 0.0));
  desired.speed_mps = std::min(p_.speed_mps, driver_.allowed_speed_mps(fix_->on_line.s_m));
  const double room = free_ahead_m(obs, stage_.within_locks(desired.steering_rad)) - p_.reserve_m;
  desired.hard_cap_mps = stopping_speed_mps(room, p_.brake_decel_mps2, response_s_);
  if (desired.hard_cap_mps < desired.speed_mps) {
    desired.reason = desired.hard_cap_mps > 0.0 ? Reason::kFollow : Reason::kForwardStop;
    brakes_ += 1;
  }
  return stage_.drive(obs.now, obs.odometry.message->speed_mps, desired);
}

std::vector<std::pair<std::string_view, double>> LineFollower::counters() const {
  return {{"stop_steps", stops_}, {"brake_steps", brakes_}};
}

}  // namespace pitwall::controllers
