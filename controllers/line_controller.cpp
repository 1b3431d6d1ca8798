// SPDX-License-Identifier: Apache-2.0
#include "controllers/line_controller.hpp"

#include <algorithm>
#include <cmath>

#include "controllers/swept_arc.hpp"
#include "core/math.hpp"
#include "core/text.hpp"

namespace pitwall::controllers {

namespace {

// Beams that end this near to where a followed opponent is believed to be are its own.
constexpr double kOpponentSlack_m = 0.25;
// Something unexplained is on the line when the car would pass it nearer than this.
constexpr double kOnLineMargin_m = 0.15;
// A way is free for creeping when the arc is clear this far.
constexpr double kFreeWay_m = 0.3;
constexpr double kFarthestGap_m = 10.0;
// A car this near to the line, and this well along it, is back on it.
constexpr double kNearlyStanding_mps = 0.3;
constexpr double kOnLine_m = 0.3;
constexpr double kOnLine_rad = 0.5;
// A pass has the least room of this far before and behind.
constexpr double kNarrow_m = 0.5;

// The lag of the speed loop is part of the stopping distance; where the car's is longer than the tuning says, the car's.
SafetyParameters with_brake_lag(SafetyParameters safety, const CarParameters& car) {
  if (car.speed_loop_brake_gain_per_s > 0.0) {
    safety.stopping_response_s = std::max(safety.stopping_response_s, 1.0 / car.speed_loop_brake_gain_per_s);
  }
  return safety;
}

}  // namespace

void LineControllerParameters::fields(FieldVisitor& f) {
  watchdogs.fields(f);
  command.fields(f, kLineRanges);
  safety.fields(f);
  line.fields(f);
  f.flag("enable_detection", enable_detection, "look for other cars");
  f.nested("detection", detection);
  f.nested("tracking", tracking);
  f.nested("overtake", overtake);
  f.flag("enable_avoidance", enable_avoidance, "steer around what neither the map nor an opponent explains");
  f.number("avoidance_trigger_m", avoidance_trigger_m, {"m", 0.3, 4, "range of something unexplained on the line that is avoided"});
  f.number("avoidance_raw_trigger_m", avoidance_raw_trigger_m, {"m", 0.3, 4, "the same on the raw scan, without a map"});
  f.number("avoidance_min_gap_m", avoidance_min_gap_m, {"m", 0.3, 3, "depth of a gap to steer to"});
  f.number("avoidance_speed_mps", avoidance_speed_mps, {"m/s", 0.2, 3, "highest speed while avoiding"});
  f.number("escape_min_gap_m", escape_min_gap_m, {"m", 0.2, 3, "depth of a gap to creep to"});
  f.flag("enable_recovery", enable_recovery, "come back by itself from beyond max_cross_track_m");
  f.number("recovery_reach_m", recovery_reach_m, {"m", 0.3, 10, "farther from the line than this: stop"});
  f.number("recovery_speed_mps", recovery_speed_mps, {"m/s", 0.2, 3, "highest speed on the way back"});
  f.number("wall_reserve_m", wall_reserve_m, {"m", 0, 1, "kept to a mapped wall ahead by the stopping distance"});
}

Status validate(const LineControllerParameters& p, const CarParameters& car, const LineToFollow* line, std::string_view what) {
  if (const Status status = check_fields(what, p); !status) return status;
  if (const Status status = validate(p.safety, car, what); !status) return status;
  if (const Status status = validate(p.line, line, p.command.max_speed_mps, what); !status) return status;
  const auto not_above = [&](const char* a, double va, const char* b, double vb) {
    return Error{std::string(what) + ": " + a + " " + format_exact(va) + " must not be above " + b + " " + format_exact(vb)};
  };
  if (p.detection.min_width_m > p.detection.max_width_m) {
    return not_above("detection.min_width_m", p.detection.min_width_m, "detection.max_width_m", p.detection.max_width_m);
  }
  if (p.tracking.fresh_s > p.tracking.forget_s) {
    return not_above("tracking.fresh_s", p.tracking.fresh_s, "tracking.forget_s", p.tracking.forget_s);
  }
  if (p.overtake.least_body_gap_m > p.overtake.body_gap_m) {
    return not_above("overtake.least_body_gap_m", p.overtake.least_body_gap_m, "overtake.body_gap_m", p.overtake.body_gap_m);
  }
  if (p.safety.escape_creep_speed_mps > p.command.max_speed_mps) {
    return not_above("escape_creep_speed_mps", p.safety.escape_creep_speed_mps, "max_speed_mps", p.command.max_speed_mps);
  }
  return {};
}

LineController::LineController(std::string_view name, const LineControllerParameters& parameters, const CarParameters& car,
                               const LineToFollow& line, const LawMaker& make_law)
    : name_(name),
      p_(parameters),
      car_(car),
      driver_(parameters.line, car, line),
      watchdogs_(parameters.watchdogs, {.scan = true, .odometry = true, .pose = true}),
      stage_(parameters.command, car),
      safety_(with_brake_lag(parameters.safety, car), car),
      scan_(car),
      detector_(parameters.detection, car, line.rays),
      tracker_(parameters.tracking, parameters.detection.min_width_m, car.length_m, car.width_m),
      overtake_(parameters.overtake, car.length_m, car.width_m,
                car.lidar_delay_s + braking_delay_s(car, 1.0 / parameters.line.control_rate_hz)) {
  room_ = narrowed(measure_room(driver_.line(), car.padded_body()), driver_.path(), kNarrow_m);
  corridor_.path = &driver_.path();
  corridor_.speed_mps = driver_.line().speed_mps;
  corridor_.free_right_m = room_.right_m;
  corridor_.free_left_m = room_.left_m;
  corridor_.accelerate_mps2 = std::min(3.0, p_.command.max_acceleration_mps2);
  corridor_.brake_mps2 = std::min(4.0, p_.command.max_braking_decel_mps2);
  corridor_.lateral_mps2 = p_.command.max_lateral_accel_mps2;
  corridor_.max_speed_mps = stage_.max_speed_mps();
  law_line_.emplace(driver_.path(), driver_.line().speed_mps, room_.right_m, room_.left_m);
  setup_ = law_setup(car, p_.line, p_.command, *law_line_, line.steering_table.get());
  law_ = make_law(setup_);
  way_back_.emplace(PurePursuitParameters{}, setup_);
}

void LineController::reset(const Observation& /*first*/) {
  driver_.reset();
  watchdogs_.reset();
  stage_.reset();
  scan_.reset();
  gaps_.reset();
  tracker_.reset();
  overtake_.reset();
  fix_.reset();
  beams_.assign(kMaxScanBeams, kWall);
  nearest_on_line_m_ = math::kInfinity;
  scan_sequence_ = 0;
  law_->reset();
  asked_ = asked_last_ = false;
  recovering_ = false;
  recoveries_ = 0;
  stops_ = avoids_ = creeps_ = detections_ = follows_ = 0;
}

std::span<const std::uint8_t> LineController::mask() const {
  return detector_.has_map() && p_.enable_detection && !recovering_ ? std::span<const std::uint8_t>(beams_.data(), scan_.size())
                                                                    : std::span<const std::uint8_t>{};
}

Command LineController::update(const Observation& obs) {
  driver_.sense(obs);
  asked_last_ = asked_;
  asked_ = false;
  const Command command = decide(obs);
  driver_.commanded(obs.now, command);
  return command;
}

Command LineController::halt(const Observation& obs, Reason reason, Layer layer) {
  stops_ += 1;
  return stage_.stop(obs.now, reason, layer);
}

Command LineController::decide(const Observation& obs) {
  fix_.reset();
  if (const auto reason = watchdogs_.check(obs)) return halt(obs, *reason, Layer::kWatchdog);
  if (!scan_.update(*obs.scan.message)) return halt(obs, Reason::kScanMalformed, Layer::kWatchdog);
  if (!driver_.has_pose()) return halt(obs, Reason::kPoseInvalid, Layer::kWatchdog);
  locate();
  if (!fix_) return halt(obs, Reason::kOffLine, Layer::kWatchdog);
  if (driver_.at_end(fix_->on_line.s_m)) return halt(obs, Reason::kEndOfPath, Layer::kLaw);

  if (p_.enable_detection && obs.scan.sequence != scan_sequence_) look_for_opponents(obs);
  scan_sequence_ = obs.scan.sequence;
  if (recovering_) return come_back(obs);
  const Manoeuvre what = manoeuvre(obs);
  return act(obs, ask_law(obs, what), what.mode == Mode::kPass);
}

void LineController::locate() {
  if (!recovering_) {
    fix_ = driver_.locate(overtake_.shift_m());
    // The car stands before it comes back: what looks like being off the line may be a localiser that jumped.
    if (fix_ || !p_.enable_recovery || std::abs(driver_.speed_mps()) > kNearlyStanding_mps) return;
  }
  fix_ = driver_.locate_far(std::max(p_.recovery_reach_m, p_.line.max_cross_track_m));
  if (!fix_) {
    recovering_ = false;
    return;
  }
  if (!recovering_) {
    recoveries_ += 1;
    overtake_.abandon();
  }
  recovering_ = std::abs(fix_->on_line.lateral_m) > kOnLine_m || std::abs(fix_->heading_error_rad) > kOnLine_rad;
}

Command LineController::come_back(const Observation& obs) {
  Desired desired;
  desired.reason = Reason::kRecover;
  desired.steering_rad = way_back_->steer(driver_.law_input(obs.now, *fix_, {}, 0.0));
  desired.speed_mps = std::min(p_.recovery_speed_mps, driver_.allowed_speed_mps(fix_->on_line.s_m));
  desired.hard_cap_mps = p_.recovery_speed_mps;
  return act(obs, desired, false);
}

void LineController::look_for_opponents(const Observation& obs) {
  const LaserScan& scan = *obs.scan.message;
  const Time first = scan.stamp == Time{} ? obs.scan.arrival : scan.stamp;
  const Duration sweep = from_seconds(static_cast<double>(scan.time_increment) * static_cast<double>(scan.ranges.size() - 1));
  const Pose2 T_map_base_first = driver_.pose_at(first);
  const auto clusters = detector_.detect(scan, T_map_base_first, driver_.pose_at(first + sweep));
  const Time middle = first + Duration{sweep.ns / 2};
  const double ego_s = driver_.path().project_near(T_map_base_first.position(), fix_->on_line.s_m, 1.0, 1.0).s_m;
  tracker_.observe(driver_.path(), clusters, detector_.sensor_map(), ego_s, middle);
  detections_ += std::any_of(tracker_.opponents().begin(), tracker_.opponents().end(),
                             [&](const Opponent& o) { return o.seen == middle && tracker_.confirmed(o); })
                     ? 1
                     : 0;
  explain(scan);
}

bool LineController::on_line(Vec2 point_map) const {
  const tracks::Projection q = driver_.path().project_near(point_map, fix_->on_line.s_m, 0.5, 4.0);
  return std::abs(q.lateral_m - overtake_.shift_at(driver_.path(), q.s_m)) < 0.5 * car_.width_m + kOnLineMargin_m;
}

void LineController::explain(const LaserScan& scan) {
  nearest_on_line_m_ = math::kInfinity;
  if (!detector_.has_map()) return;
  std::fill_n(beams_.begin(), scan.ranges.size(), static_cast<std::uint8_t>(kWall));
  const auto points = detector_.unexplained_points();
  const auto beams = detector_.unexplained_beams();
  const tracks::Path& path = driver_.path();
  for (std::size_t k = 0; k < points.size(); ++k) {
    bool followed = false;
    for (const Opponent& o : tracker_.opponents()) {
      if (!tracker_.confirmed(o)) continue;
      const Vec2 forward = unit_vector(path.heading_at(o.s_m));
      const Vec2 away = points[k] - (path.point_at(o.s_m) + o.lateral_m * Vec2{-forward.y, forward.x});
      followed = followed || (std::abs(dot(away, forward)) < 0.5 * car_.length_m + kOpponentSlack_m &&
                              std::abs(cross(forward, away)) < 0.5 * car_.width_m + kOpponentSlack_m);
    }
    beams_[beams[k]] = followed ? kOpponent : kUnexplained;
    if (followed) continue;
    const double range = static_cast<double>(scan.ranges[beams[k]]);
    if (range < nearest_on_line_m_ && on_line(points[k])) nearest_on_line_m_ = range;
  }
}

Manoeuvre LineController::manoeuvre(const Observation& obs) {
  tracker_.forget(obs.now);
  std::array<Opponent, OpponentTracker::kCapacity> now{};
  std::size_t count = 0;
  for (const Opponent& o : tracker_.opponents()) {
    if (tracker_.confirmed(o)) now[count++] = tracker_.at(driver_.path(), o, obs.now);
  }
  return overtake_.update(corridor_, {now.data(), count}, obs.now, fix_->on_line.s_m, fix_->on_line.lateral_m, driver_.speed_mps());
}

Desired LineController::ask_law(const Observation& obs, const Manoeuvre& what) {
  const double s = fix_->on_line.s_m;
  LineShift shift;
  if (overtake_.shifted()) {
    shift = {[](const void* self, double at) {
               const auto& me = *static_cast<const LineController*>(self);
               return me.overtake_.shift_at(me.driver_.path(), at);
             },
             this};
  }
  if (!asked_last_) law_->reset();
  asked_ = true;
  Desired desired;
  desired.steering_rad = law_->steer(driver_.law_input(obs.now, *fix_, shift, shift.none() ? 0.0 : overtake_.shift_m()));
  desired.speed_mps = driver_.allowed_speed_mps(s);
  desired.hard_cap_mps = what.speed_cap_mps;
  if (what.mode == Mode::kPass) desired.reason = Reason::kOvertake;
  if (what.mode == Mode::kFollow) desired.reason = Reason::kFollow;
  if (law_->fell_back()) desired.reason = Reason::kSteeringFallback;
  return desired;
}

std::optional<double> LineController::gap_bearing(double min_depth_m) {
  constexpr double kMinChord_m = 0.10;
  constexpr double kHalfFov_rad = math::kPi / 6.0;
  constexpr double kDisparity_m = 0.4;
  gaps_.prepare(scan_, scan_.window(0.0, kHalfFov_rad), 0.5 * car_.width_m + 0.05, kDisparity_m, kFarthestGap_m);
  const auto gap = gaps_.best(scan_, {min_depth_m, kMinChord_m, 1.0, std::nullopt});
  return gap ? std::optional<double>(gap->aim_rad) : std::nullopt;
}

Command LineController::act(const Observation& obs, Desired desired, bool passing) {
  const double measured = obs.odometry.message->speed_mps;
  const SafetyMotion motion{measured, stage_.speed_mps(), stage_.age_s(obs.now), stage_.steering_rad()};
  const SafetyVerdict verdict = safety_.judge(scan_, motion, mask());
  desired.beam = verdict.beam;
  desired.ttc_s = verdict.ttc_s;
  desired.safety_ceiling_mps = verdict.ceiling_mps;
  const double half_car = 0.5 * car_.width_m;
  bool creep = verdict.creep();
  if (verdict.reason == Reason::kEmergencyClearance &&
      swept_clearance(scan_, car_.wheelbase_m, stage_.within_locks(desired.steering_rad), half_car).value_m > kFreeWay_m) {
    // Beside something, with the way ahead free: standing there for ever would help nobody.
    desired.safety_ceiling_mps = p_.safety.escape_creep_speed_mps;
    desired.reason = Reason::kEscapeCreep;
    creeps_ += 1;
    return stage_.drive(obs.now, measured, desired);
  }
  if (verdict.stop()) {
    stops_ += 1;
    return stage_.stop(obs.now, verdict.reason, Layer::kSafety, verdict.beam, verdict.ttc_s);
  }

  if (!mask().empty()) {
    // A wall of the map ahead on the arc: slower the nearer, at a creep where the line leads along it.
    const NearestBeam wall = swept_clearance(scan_, car_.wheelbase_m, stage_.steering_rad(), half_car, mask(), kWall);
    const double ceiling = std::max(p_.safety.escape_creep_speed_mps, safety_.stopping_speed_mps(wall.value_m - p_.wall_reserve_m));
    if (ceiling < desired.safety_ceiling_mps) {
      desired.safety_ceiling_mps = ceiling;
      desired.beam = wall.beam;
    }
  }
  const bool map_known = !mask().empty();
  const bool avoid = p_.enable_avoidance && !passing &&
                     (map_known ? nearest_on_line_m_ < p_.avoidance_trigger_m
                                : scan_.nearest_range(scan_.window(0.0, math::kPi / 6.0)).value_m < p_.avoidance_raw_trigger_m);
  if (creep || avoid) {
    const auto aim =
        passing ? std::optional<double>(desired.steering_rad) : gap_bearing(creep ? p_.escape_min_gap_m : p_.avoidance_min_gap_m);
    if (!aim) {
      stops_ += 1;
      return stage_.stop(obs.now, creep ? Reason::kForwardStop : Reason::kNoSafeGap, Layer::kSafety, verdict.beam, verdict.ttc_s);
    }
    desired.steering_rad = *aim;
    desired.reason = creep ? Reason::kEscapeCreep : Reason::kAvoid;
    desired.hard_cap_mps = std::min(desired.hard_cap_mps, creep ? p_.safety.escape_creep_speed_mps : p_.avoidance_speed_mps);
    (creep ? creeps_ : avoids_) += 1;
  }
  follows_ += desired.reason == Reason::kFollow ? 1 : 0;
  return stage_.drive(obs.now, measured, desired);
}

std::vector<std::pair<std::string_view, double>> LineController::counters() const {
  const Overtake::Counters& c = overtake_.counters();
  return {{"stop_steps", stops_},
          {"avoid_steps", avoids_},
          {"creep_steps", creeps_},
          {"follow_steps", follows_},
          {"detection_steps", detections_},
          {"recoveries", recoveries_},
          {"overtake_starts", static_cast<double>(c.starts)},
          {"declined_overtakes", static_cast<double>(c.declined)},
          {"completed_passes", static_cast<double>(c.completed)},
          {"aborted_overtakes", static_cast<double>(c.aborted)},
          {"last_pass_side", static_cast<double>(c.last_side)},
          {"overtake_active", overtake_.passing() ? 1.0 : 0.0}};
}

}  // namespace pitwall::controllers
