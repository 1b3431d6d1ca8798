// SPDX-License-Identifier: Apache-2.0
#include "localization/odometry_gate.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "core/math.hpp"

namespace pitwall::localization {

namespace {
// What the wheels did is asked for at the stamps of the poses, and over a gap.
constexpr Duration kWheelsKept = from_milliseconds(10'000);

Pose2 sum(const Pose2& a, const Pose2& b) { return {a.x + b.x, a.y + b.y, a.yaw + b.yaw}; }
}  // namespace

void MotionEnvelope::fields(FieldVisitor& f) {
  f.number("max_speed_mps", max_speed_mps, {"m/s", 0.01, 100, "fastest"});
  f.number("max_yaw_rate_radps", max_yaw_rate_radps, {"rad/s", 0.01, 100, "fastest turn"});
  f.number("max_curvature_per_m", max_curvature_per_m, {"1/m", 0, 100, "yaw rate over speed; 0: turns on the spot"});
  f.number("max_lateral_mps2", max_lateral_mps2, {"m/s^2", 0, 100, "yaw rate times speed; 0: no limit"});
}

MotionEnvelope MotionEnvelope::differential(double wheel_speed_mps, double separation_m) {
  return {wheel_speed_mps, 2.0 * wheel_speed_mps / separation_m, 0.0, 0.0};
}

MotionEnvelope MotionEnvelope::ackermann(const CarParameters& car, double friction) {
  MotionEnvelope e;
  e.max_speed_mps = std::max(car.speed_max_mps, -car.speed_min_mps);
  e.max_curvature_per_m = math::tan(std::max(car.steering_max_left_rad, -car.steering_max_right_rad)) / car.wheelbase_m;
  e.max_lateral_mps2 = friction * math::kStandardGravity_mps2;
  // The sharpest turn that grip allows.
  e.max_yaw_rate_radps = std::min(e.max_speed_mps * e.max_curvature_per_m, std::sqrt(e.max_lateral_mps2 * e.max_curvature_per_m));
  return e;
}

double MotionEnvelope::yaw_rate_at(double speed_mps) const {
  double rate = max_yaw_rate_radps;
  if (max_curvature_per_m > 0.0) rate = std::min(rate, speed_mps * max_curvature_per_m);
  if (max_lateral_mps2 > 0.0 && speed_mps > 0.0) rate = std::min(rate, max_lateral_mps2 / speed_mps);
  return rate;
}

void OdometryGateParameters::fields(FieldVisitor& f) {
  f.nested("envelope", envelope);
  f.number("tolerance", tolerance, {"", 1, 10, "on the envelope"});
  f.number("slack_m", slack_m, {"m", 0, 1, "added to the bound of a step"});
  f.number("slack_rad", slack_rad, {"rad", 0, 1, "added to the bound of a turn"});
  f.number("max_gap_s", max_gap_s, {"s", 0.01, 10, "a longer step is made by the wheels"});
  f.number("window_s", window_s, {"s", 0, 10, "over which the pose must not outrun the wheels; 0: not tested"});
  f.number("window_share", window_share, {"", 0.01, 10, "of the speed bound by which it may"});
  f.number("catch_up_s", catch_up_s, {"s", 0, 10, "how long what the pose fell behind the wheels is remembered; 0: not"});
  f.number("window_yaw_share", window_yaw_share, {"", 0.01, 10, "of the yaw bound by which it may"});
}

OdometryGateParameters OdometryGateParameters::for_differential(double wheel_speed_mps, double separation_m) {
  OdometryGateParameters p;
  p.envelope = MotionEnvelope::differential(wheel_speed_mps, separation_m);
  return p;
}

OdometryGateParameters OdometryGateParameters::for_car(const CarParameters& car, double friction) {
  OdometryGateParameters p;
  p.envelope = MotionEnvelope::ackermann(car, friction);
  // Six standard deviations of the difference of two poses.
  const double six = 6.0 * std::sqrt(2.0);
  p.slack_m = std::min(1.0, six * car.pose_noise_xy_m);
  p.slack_rad = std::min(1.0, six * car.pose_noise_yaw_rad);
  return p;
}

std::string_view to_string(GateVerdict verdict) {
  static constexpr std::array<std::string_view, 8> kNames{"first",    "accepted", "too_fast",     "too_sharp",
                                                          "too_long", "gap",      "out_of_order", "not_finite"};
  return kNames[static_cast<std::size_t>(verdict)];
}

OdometryGate::OdometryGate(const OdometryGateParameters& parameters) : parameters_(parameters), wheels_(kWheelsKept) {
  const Status status = check_fields("odometry_gate", parameters);
  PITWALL_CHECK(status.ok(), status.error().message);
  window_.reserve(1024);
}

double OdometryGate::way_bound_m(double dt_s) const {
  return parameters_.envelope.max_speed_mps * parameters_.tolerance * dt_s + parameters_.slack_m;
}

double OdometryGate::turn_bound_rad(double way_m, double dt_s) const {
  return parameters_.envelope.yaw_rate_at(way_m / dt_s) * parameters_.tolerance * dt_s + parameters_.slack_rad;
}

GateVerdict OdometryGate::judge(const Pose2& step, double dt_s) const {
  if (dt_s > parameters_.max_gap_s) return GateVerdict::kGap;
  const double way = norm(step.position());
  if (way > way_bound_m(dt_s)) return GateVerdict::kTooFast;
  if (std::abs(step.yaw) > turn_bound_rad(way, dt_s)) return GateVerdict::kTooSharp;
  return GateVerdict::kAccepted;
}

Pose2 OdometryGate::clamped(const Pose2& step, double dt_s) const {
  const double way = norm(step.position());
  const double share = std::min(1.0, way_bound_m(dt_s) / std::max(way, 1e-300));
  const double turn = turn_bound_rad(share * way, dt_s);
  return {share * step.x, share * step.y, std::clamp(step.yaw, -turn, turn)};
}

bool OdometryGate::outran_wheels(Time stamp, const Pose2& step, const std::optional<Pose2>& wheels) {
  if (parameters_.window_s == 0.0) return false;
  const Time begin = stamp - from_seconds(parameters_.window_s);
  window_.erase(window_.begin(), std::find_if(window_.begin(), window_.end(), [begin](const WindowStep& s) { return s.end > begin; }));
  // Without wheels there is nothing to outrun.
  if (!wheels) {
    window_.clear();
    return false;
  }
  window_.push_back({stamp, step, *wheels});
  Pose2 pose;
  Pose2 rolled;
  for (const WindowStep& s : window_) {
    pose = sum(pose, s.pose);
    rolled = sum(rolled, s.wheels);
  }
  const double bound_m = parameters_.window_share * parameters_.tolerance * parameters_.envelope.max_speed_mps * parameters_.window_s;
  const double bound_rad =
      parameters_.window_yaw_share * parameters_.tolerance * parameters_.envelope.max_yaw_rate_radps * parameters_.window_s;
  return norm(pose.position()) - norm(rolled.position()) > bound_m || std::abs(pose.yaw) - std::abs(rolled.yaw) > bound_rad;
}

GatedPose OdometryGate::add_pose(Time stamp, const Pose2& T_raw_base) {
  GatedPose out;
  out.stamp = stamp;
  out.T_odom_base = last_out_;
  ++counts_.poses;
  const auto counted = [&](GateVerdict verdict) {
    out.verdict = verdict;
    ++counts_.verdicts[static_cast<std::size_t>(verdict)];
    return out;
  };
  if (!is_finite(T_raw_base)) return counted(GateVerdict::kNotFinite);
  if (any_ && stamp <= last_stamp_) return counted(GateVerdict::kOutOfOrder);
  if (!any_) {
    any_ = true;
    last_stamp_ = stamp;
    last_raw_ = last_out_ = out.T_odom_base = T_raw_base;
    return counted(GateVerdict::kFirst);
  }
  const double dt_s = (stamp - last_stamp_).seconds();
  const std::optional<Pose2> rolled = wheels_.between(last_stamp_, stamp);
  out.step_raw = increment(last_raw_, T_raw_base);
  out.step_taken = out.step_raw;
  GateVerdict verdict = judge(out.step_raw, dt_s);
  // A jump that was replaced does not count against the steps after it; one that was too long by the window does, as long as it is in it.
  const Pose2 counted_step = verdict == GateVerdict::kAccepted ? out.step_raw : rolled.value_or(Pose2{});
  if (outran_wheels(stamp, counted_step, rolled) && verdict == GateVerdict::kAccepted) verdict = GateVerdict::kTooLong;
  if (verdict == GateVerdict::kAccepted) {
    out.T_odom_base = corrected_ ? correction_ * T_raw_base : T_raw_base;
  } else {
    out.by_wheels = rolled.has_value();
    // Without wheels no more than the longest step that is believed.
    // Where the plain step of the wheels would lose what the pose was about to catch up.
    const Pose2 made_up = rolled ? Pose2{rolled->x + behind_m_, rolled->y, rolled->yaw} : Pose2{};
    out.step_taken = rolled ? clamped(made_up, dt_s) : clamped(out.step_raw, std::min(dt_s, parameters_.max_gap_s));
    out.T_odom_base = last_out_ * out.step_taken;
    correction_ = out.T_odom_base * inverse(T_raw_base);
    corrected_ = true;
    counts_.without_wheels += rolled ? 0 : 1;
    counts_.absorbed_m += distance(out.step_raw.position(), out.step_taken.position());
    counts_.absorbed_rad += std::abs(wrap_angle(out.step_raw.yaw - out.step_taken.yaw));
  }
  if (rolled && parameters_.catch_up_s > 0.0) {
    behind_m_ = std::max(0.0, 1.0 - dt_s / parameters_.catch_up_s) * behind_m_ + rolled->x - out.step_taken.x;
  }
  out.velocity = {out.step_taken.x / dt_s, out.step_taken.y / dt_s, out.step_taken.yaw / dt_s};
  last_stamp_ = stamp;
  last_raw_ = T_raw_base;
  last_out_ = out.T_odom_base;
  return counted(verdict);
}

}  // namespace pitwall::localization
