// SPDX-License-Identifier: Apache-2.0
#include "controllers/excite.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "core/math.hpp"

namespace pitwall::controllers {
namespace {

/// How far from the path the car may be: to begin, and on the way.
constexpr double kOffPath_m = 1.0;
constexpr double kBackOnPath_m = 0.3;
constexpr double kFarthestOff_m = 3.0;
constexpr double kSearchBehind_m = 0.5;
constexpr double kSearchAhead_m = 1.5;
/// Speed at which the car creeps back where it stands too near the edge.
constexpr double kCreep_mps = 0.4;
constexpr double kLook_m = 8.0;
constexpr double kLookStep_m = 0.1;
/// Above the speed that the area leaves by this: stop, rather than slow down.
constexpr double kOverspeed_mps = 0.5;
/// What is left of a steering wave in a bend, and this far before it: there the lock is needed for the bend.
constexpr double kWaveInBend = 0.35;
constexpr double kBeforeBend_m = 0.6;
/// Towards the limit: how fast the speed rises, and where "wide" begins.
constexpr double kRamp_mps2 = 0.4;
constexpr double kWide_m = 0.25;
constexpr double kBackOff = 0.8;
/// A lasting distance from the path trims the steering: 1/m of curvature per m and per m of way, and at most this share of the lock.
constexpr double kTrim_per_m3 = 0.4;
constexpr double kTrimMost = 0.5;

/// A piece of a square wave.
struct Level {
  double size;
  double seconds;
};
/// Of the full angle: large ones reach the servo's rate limit, small ones do not. They come to nothing sideways.
constexpr std::array<Level, 8> kSteeringLevels{
    {{1.0, 0.5}, {-1.0, 0.5}, {0.3, 0.45}, {-0.3, 0.45}, {-0.9, 0.4}, {0.9, 0.4}, {0.5, 0.35}, {-0.5, 0.35}}};
/// Of the small step of speed; of different lengths, so that no delay looks like another.
constexpr std::array<Level, 6> kSpeedLevels{{{1.0, 0.7}, {-1.0, 0.6}, {0.5, 0.5}, {-1.0, 0.6}, {1.0, 0.5}, {-0.5, 0.7}}};
constexpr double kSmallStep_mps = 0.25;

template <std::size_t n>
double level_at(const std::array<Level, n>& levels, double t_s) {
  double period = 0.0;
  for (const Level& level : levels) period += level.seconds;
  double left = t_s - period * std::floor(t_s / period);
  for (const Level& level : levels) {
    if (left < level.seconds) return level.size;
    left -= level.seconds;
  }
  return levels.back().size;
}

/// A sine whose frequency rises evenly from the first to the last in that time, and so again.
double sweep_at(double t_s, double duration_s, double first_hz, double last_hz) {
  const double t = t_s - duration_s * std::floor(t_s / duration_s);
  return math::sin(2.0 * math::kPi * t * (first_hz + 0.5 * (last_hz - first_hz) * t / duration_s));
}

LineToFollow line_of(const ExcitePlan& plan) {
  LineToFollow line;
  line.path = std::make_shared<const tracks::Path>(plan.path);
  line.speed_mps = plan.ceiling_mps;
  return line;
}

LineFollowingParameters following(const ExciteParameters& p) {
  LineFollowingParameters line;
  line.control_rate_hz = p.control_rate_hz;
  line.wall_clearance_m = 0.0;
  line.end_decel_mps2 = p.limits.gentle_mps2;
  return line;
}

}  // namespace

void ExciteParameters::fields(FieldVisitor& f) {
  watchdogs.fields(f);
  area.fields(f);
  limits.fields(f);
  f.enumeration("frame", frame, kExciteFrameNames, "whose pose of the car is driven by");
  f.number("control_rate_hz", control_rate_hz, {"Hz", 10, 200, "how often a command is given"});
  f.number("reaction_s", reaction_s, {"s", 0.05, 2, "from a pose to brakes that bite, at most"});
}

Status validate(const ExciteParameters& p, const CarParameters& car) {
  if (const Status status = check_fields("excite", p); !status) return status;
  const Result<ExcitePlan> plan = plan_excite(p.area, p.limits, car);
  return plan ? Status{} : plan.error();
}

Excite::Excite(const ExciteParameters& parameters, const CarParameters& car)
    : p_(parameters),
      car_(car),
      plan_(plan_excite(parameters.area, parameters.limits, car).value()),
      driver_(following(parameters), car, line_of(plan_)),
      watchdogs_(parameters.watchdogs, {.odometry = true, .pose = true}),
      lock_rad_(std::min(car.steering_max_left_rad, -car.steering_max_right_rad)) {}

void Excite::reset(const Observation& /*first*/) {
  driver_.reset();
  watchdogs_.reset();
  pose_ = {};
  stage_ = 0;
  stage_began_ = ramp_time_ = {};
  calm_ = out_ = wide_now_ = back_ = false;
  trim_per_m_ = 0.0;
  farthest_m_ = steering_rad_ = lateral_mps2_ = ramp_mps_ = limit_mps_ = 0.0;
  guard_stops_ = wide_ = stops_ = 0;
}

Observation Excite::in_area_frame(const Observation& obs) {
  Observation seen = obs;
  if (p_.frame == ExciteFrame::kOdometry && obs.odometry.message != nullptr) {
    const Odometry& odometry = *obs.odometry.message;
    pose_ = {odometry.stamp, odometry.position, odometry.orientation};
    seen.pose = {&pose_, obs.odometry.arrival, obs.odometry.sequence};
  } else if (obs.pose.message != nullptr) {
    pose_ = *obs.pose.message;
    seen.pose.message = &pose_;
  }
  const Pose2 T_area_base = inverse(p_.area.T_frame_area()) * pose_.pose();
  pose_.position = T_area_base.position();
  pose_.orientation = to_quaternion(T_area_base.yaw);
  return seen;
}

Command Excite::update(const Observation& obs) {
  const Observation seen = in_area_frame(obs);
  driver_.sense(seen);
  const Command command = decide(seen);
  stops_ += command.speed_mps == 0.0F ? 1 : 0;
  driver_.commanded(obs.now, command);
  return command;
}

Command Excite::drive(double steering_rad, double speed_mps) {
  Command command;
  command.steering_angle_rad = static_cast<float>(std::clamp(steering_rad, car_.steering_max_right_rad, car_.steering_max_left_rad));
  command.speed_mps = static_cast<float>(std::clamp(speed_mps, 0.0, std::min(p_.limits.max_speed_mps, car_.speed_max_mps)));
  steering_rad_ = static_cast<double>(command.steering_angle_rad);
  return command;
}

Command Excite::stop(Reason reason, Layer layer) {
  Command command = drive(steering_rad_, 0.0);
  command.reason = reason;
  command.layer = layer;
  return command;
}

bool Excite::in_area() const {
  const BodyRectangle body = car_.padded_body();
  for (const Vec2 corner : {Vec2{body.front_m, body.half_width_m}, Vec2{body.front_m, -body.half_width_m},
                            Vec2{body.rear_m, body.half_width_m}, Vec2{body.rear_m, -body.half_width_m}}) {
    const Vec2 p = driver_.pose() * corner;
    if (std::abs(p.x) > 0.5 * p_.area.length_m || std::abs(p.y) > 0.5 * p_.area.width_m) return false;
  }
  return true;
}

double Excite::free_way_m(double curvature_per_m, double margin_m) const {
  const BodyRectangle body = car_.padded_body();
  const double half_x = 0.5 * p_.area.length_m - margin_m;
  const double half_y = 0.5 * p_.area.width_m - margin_m;
  const Pose2& from = driver_.pose();
  double way = 0.0;
  for (double s = 0.0; s < kLook_m; s += kLookStep_m) {
    const double turn = curvature_per_m * s;
    const bool straight = std::abs(turn) < 1e-6;
    const Vec2 ahead = straight ? Vec2{s, 0.0} : (1.0 / curvature_per_m) * Vec2{math::sin(turn), 1.0 - math::cos(turn)};
    const Vec2 p = from * ahead;
    const Vec2 x = unit_vector(from.yaw + turn);
    const Vec2 side = body.half_width_m * perpendicular(x);
    for (const Vec2 end : {p + body.front_m * x, p + body.rear_m * x}) {
      if (std::abs(end.x) + std::abs(side.x) > half_x || std::abs(end.y) + std::abs(side.y) > half_y) return way;
    }
    way = s;
  }
  return way;
}

double Excite::area_speed_mps(double steering_rad, double margin_m) const {
  const double curvature = math::tan(steering_rad) / car_.wheelbase_m;
  const double way = std::min(free_way_m(curvature, margin_m), free_way_m(0.5 * curvature, margin_m));
  const double decel = std::max(p_.limits.gentle_mps2, 0.8 * lateral_mps2_);
  return stopping_speed_mps(way, decel, p_.reaction_s);
}

bool Excite::lost(double off_path_m, double speed_mps) {
  if (off_path_m < kBackOnPath_m) back_ = false;
  if (off_path_m < kOffPath_m && !back_) return false;
  // A car that slid off comes to rest first, and then goes back slowly.
  calm_ = true;
  back_ = back_ || speed_mps < kCreep_mps;
  return !back_ || off_path_m > kFarthestOff_m;
}

void Excite::enter_stage(Time now, double s_m) {
  if (stage_began_ != Time{} && s_m < plan_.stages[stage_].to_m) return;
  while (stage_ + 1 < plan_.stages.size() && s_m >= plan_.stages[stage_].to_m) ++stage_;
  const ExciteStage& stage = plan_.stages[stage_];
  stage_began_ = ramp_time_ = now;
  calm_ = back_;
  ramp_mps_ = 0.8 * stage.speed_mps;
  wide_now_ = false;
  if (stage.excitation == Excitation::kLimit) limit_mps_ = p_.limits.max_speed_mps;
  if (stage.excitation != Excitation::kBrakeInTurn) trim_per_m_ = 0.0;
}

bool Excite::runs_wide(double outside_m) {
  const bool wide = outside_m > (wide_now_ ? 0.5 * kWide_m : kWide_m);
  if (wide && !wide_now_) {
    wide_ += 1;
    limit_mps_ = std::min(limit_mps_, driver_.speed_mps());
  }
  wide_now_ = wide;
  return wide;
}

double Excite::limit_speed(Time now, double outside_m) {
  const double dt = std::clamp((now - ramp_time_).seconds(), 0.0, 0.1);
  ramp_time_ = now;
  const bool was_wide = wide_now_;
  // Back at once, and on until the car has its circle again: on a floor that has let go, more steering does not help.
  if (runs_wide(outside_m)) {
    ramp_mps_ = was_wide ? std::max(ramp_mps_ - kRamp_mps2 * dt, 0.5 * plan_.stages[stage_].speed_mps) : kBackOff * driver_.speed_mps();
  } else {
    ramp_mps_ = std::min(ramp_mps_ + kRamp_mps2 * dt, p_.limits.max_speed_mps);
  }
  return ramp_mps_;
}

double Excite::trim(double lateral_m) {
  const double most = kTrimMost * math::tan(lock_rad_) / car_.wheelbase_m;
  const double way = driver_.speed_mps() / p_.control_rate_hz;
  if (wide_now_) return trim_per_m_;
  trim_per_m_ = std::clamp(trim_per_m_ - kTrim_per_m3 * lateral_m * way, -most, most);
  return trim_per_m_;
}

double Excite::wave_share(double s_m) const {
  const tracks::Path& path = plan_.path;
  const double bend = std::max(std::abs(path.curvature_at(s_m)), std::abs(path.curvature_at(path.wrap_s(s_m + kBeforeBend_m))));
  return bend * plan_.radius_m > 0.1 ? kWaveInBend : 1.0;
}

Excite::Wish Excite::speed_steps(double t_s, double s_m) const {
  const ExciteStage& stage = plan_.stages[stage_];
  const double steady = stage.speed_mps - kSmallStep_mps;
  for (std::size_t i = 0; i < plan_.straights.size(); ++i) {
    const ExciteStraight& straight = plan_.straights[i];
    if (s_m < straight.from_m || s_m > 0.5 * (straight.from_m + straight.to_m)) continue;
    // In turn as fast as there is room for, and half of that.
    return {0.0, i % 2 == 0 ? straight.sprint_mps : 0.5 * (steady + straight.sprint_mps)};
  }
  return {0.0, steady + kSmallStep_mps * level_at(kSpeedLevels, t_s)};
}

Excite::Wish Excite::wish(Time now, double s_m, double lateral_m) {
  const ExciteStage& stage = plan_.stages[stage_];
  const double t = (now - stage_began_).seconds();
  const double outside_m = plan_.path.curvature_at(s_m) > 0.0 ? -lateral_m : lateral_m;
  if (calm_) return {0.0, 0.7 * stage.speed_mps};
  switch (stage.excitation) {
    case Excitation::kNone:
      break;
    case Excitation::kSteeringSteps:
      return {0.9 * lock_rad_ * wave_share(s_m) * level_at(kSteeringLevels, t), stage.speed_mps};
    case Excitation::kSteeringSweep:
      return {0.5 * lock_rad_ * wave_share(s_m) * sweep_at(t, stage.expected_s, 0.4, 3.0), stage.speed_mps};
    case Excitation::kSpeedSteps:
      return speed_steps(t, s_m);
    case Excitation::kSpeedSweep:
      return {0.0, stage.speed_mps + 0.3 * (sweep_at(t, stage.expected_s, 0.3, 2.5) - 1.0)};
    case Excitation::kLimit:
      return {0.0, limit_speed(now, outside_m)};
    case Excitation::kBrakeInTurn: {
      const double fast = runs_wide(outside_m) ? 0.0 : 0.85 * limit_mps_;
      const double phase = t - 1.8 * std::floor(t / 1.8);
      return {0.0, phase < 1.1 ? std::max(0.5 * stage.speed_mps, fast) : 0.4 * 0.85 * limit_mps_};
    }
  }
  return {0.0, stage.speed_mps};
}

Command Excite::decide(const Observation& obs) {
  if (const auto reason = watchdogs_.check(obs)) return stop(*reason, Layer::kWatchdog);
  if (!driver_.has_pose()) return stop(Reason::kPoseInvalid, Layer::kWatchdog);
  out_ = out_ || !in_area();
  if (out_) return stop(Reason::kOffLine, Layer::kWatchdog);
  const tracks::Projection at = plan_.path.project_near(driver_.pose().position(), farthest_m_, kSearchBehind_m, kSearchAhead_m);
  const double speed = driver_.speed_mps();
  if (lost(distance(at.foot, driver_.pose().position()), speed)) return stop(Reason::kOffLine, Layer::kSafety);
  farthest_m_ = std::max(farthest_m_, at.s_m);
  if (driver_.at_end(farthest_m_)) return stop(Reason::kEndOfPath, Layer::kLaw);
  enter_stage(obs.now, farthest_m_);

  const Lookahead lookahead{0.15, 0.6, 1.5, steering_delay_s(car_, 1.0 / p_.control_rate_hz)};
  const Target target =
      lookahead_target(plan_.path, driver_.pose().position(), at.s_m, lookahead.distance_m(speed, at.lateral_m), LineShift{});
  const double pursuit = steering_for(pursuit_curvature(driver_.pose(), target.point) + trim(at.lateral_m), car_.wheelbase_m);
  const Wish wanted = wish(obs.now, farthest_m_, at.lateral_m);

  // What the car shows of the floor: the pose's own turning, not what the wheels are asked for.
  const double yaw_rate = wrap_angle(driver_.pose_at(obs.now).yaw - driver_.pose_at(obs.now - from_seconds(0.2)).yaw) / 0.2;
  lateral_mps2_ = std::abs(yaw_rate * speed);
  double cap = area_speed_mps(pursuit, p_.area.margin_m);
  if (cap < kCreep_mps) cap = area_speed_mps(pursuit, 0.0) > kCreep_mps ? kCreep_mps : 0.0;
  if (speed > cap + kOverspeed_mps || cap == 0.0) {
    guard_stops_ += calm_ ? 0 : 1;
    calm_ = true;
    return stop(Reason::kForwardStop, Layer::kSafety);
  }
  // A wave that the area has no room for is left out.
  const bool room = area_speed_mps(pursuit + wanted.steering_rad, p_.area.margin_m) > speed;
  return drive(room ? pursuit + wanted.steering_rad : pursuit, std::min({wanted.speed_mps, driver_.allowed_speed_mps(farthest_m_), cap}));
}

std::vector<std::pair<std::string_view, double>> Excite::counters() const {
  return {{"stop_steps", stops_}, {"guard_stops", guard_stops_}, {"ran_wide", wide_}, {"progress_m", farthest_m_}};
}

}  // namespace pitwall::controllers
