// SPDX-License-Identifier: Apache-2.0
#include "plant/plant.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/check.hpp"
#include "core/math.hpp"
#include "core/text.hpp"

namespace pitwall::plant {
namespace {

constexpr double kStockSwitchSpeed_mps = 7.319;  // where the stock motor runs out of torque
constexpr double kShortestStep_s = 5e-5;
constexpr double kAirDensity_kgpm3 = 1.2;
constexpr double kAtLimit = 0.99;
constexpr double kStanding_mps = 0.05;
constexpr double kAtRest = 1e-10;  // m/s and rad/s: where decay is cut off, long before the numbers turn denormal

bool finite(const State& s) {
  return std::isfinite(s.x) && std::isfinite(s.y) && std::isfinite(s.steering) && std::isfinite(s.speed) && std::isfinite(s.yaw) &&
         std::isfinite(s.yaw_rate) && std::isfinite(s.slip);
}

bool finite(const SlipState& s) {
  // The sum of finite numbers of this size is finite, and nothing hides a NaN.
  return std::isfinite(s.x + s.y + s.yaw + s.vx + s.vy + s.yaw_rate + s.steering + s.front_m + s.rear_m + s.integral_mps2);
}

SingleTrack model_of(const CarParameters& car, double surface_friction) {
  SingleTrack model;
  model.lf = car.lf_m();
  model.lr = car.lr_m();
  model.mass = car.mass_kg;
  model.yaw_inertia = car.yaw_inertia_kgm2;
  model.cog_height = car.cog_height_m;
  model.stiffness_front = car.cornering_stiffness_front;
  model.stiffness_rear = car.cornering_stiffness_rear;
  model.friction = surface_friction;
  return model;
}

AxleTyre tyre_of(Tyre law, double friction, double stiffness, const MagicFormula& curve) {
  AxleTyre tyre;
  tyre.law = law;
  tyre.grip = friction;
  tyre.stiffness = friction * stiffness;
  if (law == Tyre::kMagicFormula) {
    tyre.curve = curve;
    tyre.grip = friction * curve.d;
    tyre.stiffness = tyre.grip * curve.b * curve.c;
  }
  return tyre;
}

MagicFormula front_curve(const CarParameters& car) { return {car.magic_front_b, car.magic_front_c, car.magic_front_d, car.magic_front_e}; }
MagicFormula rear_curve(const CarParameters& car) { return {car.magic_rear_b, car.magic_rear_c, car.magic_rear_d, car.magic_rear_e}; }

SlipModel slip_model_of(const CarParameters& car, const Options& options, double friction) {
  SlipModel model;
  model.lf = car.lf_m();
  model.lr = car.lr_m();
  model.mass = car.mass_kg;
  model.yaw_inertia = car.yaw_inertia_kgm2;
  model.cog_height = car.cog_height_m;
  model.drive_front_share = car.drive_front_share;
  model.cornering_reserve = options.cornering_reserve;
  model.rolling_resistance = car.rolling_resistance;
  model.drag_per_m = 0.5 * kAirDensity_kgpm3 * car.drag_area_m2 / car.mass_kg;
  model.relaxation_m = car.relaxation_length_m;
  model.front = tyre_of(options.tyre, friction, car.cornering_stiffness_front, front_curve(car));
  model.rear = tyre_of(options.tyre, friction, car.cornering_stiffness_rear, rear_curve(car));
  model.prepare();
  return model;
}

double acceleration_limit(const CarParameters& car, const Options& options, const SlipModel& slip_model, double friction) {
  if (options.friction == Friction::kEnvelope) return std::min(car.acceleration_max_mps2, friction * kGravity);
  if (options.tyre == Tyre::kLinear) return car.acceleration_max_mps2;
  return std::min(car.acceleration_max_mps2, std::max(slip_model.front.grip, slip_model.rear.grip) * kGravity);
}

/// Longest step that resolves tyres, servo and speed loop (Runge-Kutta is stable up to 2.78 over the rate).
double longest_step(const CarParameters& car, const Options& options, const SingleTrack& model, const SlipModel& slip_model) {
  double fastest = slip_model.fastest_rate();
  if (options.tyre == Tyre::kLinear) {
    fastest = std::max(fastest_rate(model, acceleration_limit(car, options, slip_model, model.friction)), kRollingRelaxation_per_s);
  }
  fastest = std::max({fastest, car.speed_loop_accel_gain_per_s, car.speed_loop_brake_gain_per_s});
  if (options.servo == Servo::kFirstOrder) fastest = std::max(fastest, car.steering_servo_gain_per_s);
  return std::min(options.step_max_s, 2.0 / fastest);
}

Status refuse_unknown_curve(const CarParameters& car, const Options& options) {
  if (options.tyre != Tyre::kMagicFormula) return {};
  struct Given {
    std::string_view key;
    double value;
  };
  for (const Given& given :
       {Given{"magic_front_b", car.magic_front_b}, Given{"magic_front_c", car.magic_front_c}, Given{"magic_front_d", car.magic_front_d},
        Given{"magic_rear_b", car.magic_rear_b}, Given{"magic_rear_c", car.magic_rear_c}, Given{"magic_rear_d", car.magic_rear_d}}) {
    if (given.value > 0.0) continue;
    return Error{"car." + std::string(given.key) + " = " + format_number(given.value, 5) +
                 ": tyre magic_formula needs a car with a measured curve; allowed: above 0"};
  }
  // Sideways the slip is 1. A curve that has changed its sign by then would push.
  for (const auto& [key, curve] :
       {std::pair{std::string_view("magic_front_c"), front_curve(car)}, std::pair{std::string_view("magic_rear_c"), rear_curve(car)}}) {
    if (magic_share(curve, 1.0) >= 0.0) continue;
    return Error{"car." + std::string(key) + " = " + format_number(curve.c, 5) +
                 ": the curve pushes instead of holding once the tyre slides sideways; allowed: less, or a larger magic_*_e"};
  }
  return {};
}

Status refuse_nonsense(const CarParameters& car, const Options& options, const SingleTrack& model, const SlipModel& slip_model) {
  const double a_max = acceleration_limit(car, options, slip_model, model.friction);
  const double least_arm = std::min(model.lf, model.lr);
  if (a_max * model.cog_height >= kGravity * least_arm) {
    return Error{"car.cog_height_m = " + format_number(model.cog_height, 5) + ": the car would tip over at " + format_number(a_max, 4) +
                 " m/s^2; allowed: below " + format_number(kGravity * least_arm / a_max, 4) + " m"};
  }
  const double critical = critical_speed(model, false);
  if (critical <= car.speed_max_mps) {
    return Error{"car.cornering_stiffness_front = " + format_number(model.stiffness_front, 5) +
                 " against cornering_stiffness_rear = " + format_number(model.stiffness_rear, 5) + ": no stable straight driving above " +
                 format_number(critical, 4) + " m/s, and speed_max_mps is " + format_number(car.speed_max_mps, 4)};
  }
  const double step = longest_step(car, options, model, slip_model);
  if (step < kShortestStep_s) {
    return Error{"car.yaw_inertia_kgm2 = " + format_number(model.yaw_inertia, 5) +
                 ": too small for mass and tyres, the motion would need steps of " + format_number(step * 1e6, 3) +
                 " us; allowed: 50 us or longer"};
  }
  return {};
}

}  // namespace

Vec2 base_to_cog(const Pose2& T_map_base, double lr_m) { return T_map_base.position() + lr_m * unit_vector(T_map_base.yaw); }

Vec2 cog_to_base(Vec2 p_map_cog, double yaw, double lr_m) { return p_map_cog - lr_m * unit_vector(yaw); }

Result<Plant> Plant::make(const CarParameters& car, const Options& options, double surface_friction) {
  if (const Status status = check_fields("car", car); !status) return status.error();
  if (const Status status = check_fields("plant", options); !status) return status.error();
  if (!(std::isfinite(surface_friction) && surface_friction >= 0.01 && surface_friction <= 3.0)) {
    return Error{"surface friction = " + format_number(surface_friction, 5) + ": allowed: 0.01 .. 3"};
  }
  if (const Status status = refuse_unknown_curve(car, options); !status) return status.error();
  const SlipModel slip_model = slip_model_of(car, options, surface_friction);
  SingleTrack model = model_of(car, surface_friction);
  if (options.tyre == Tyre::kMagicFormula) {
    model.stiffness_front = slip_model.front.stiffness / surface_friction;
    model.stiffness_rear = slip_model.rear.stiffness / surface_friction;
  }
  if (const Status status = refuse_nonsense(car, options, model, slip_model); !status) return status.error();
  return Plant(car, options, model, slip_model);
}

Plant::Plant(const CarParameters& car, const Options& options, const SingleTrack& model, const SlipModel& slip_model)
    : car_(car),
      options_(options),
      model_(model),
      slip_model_(slip_model),
      first_friction_(model.friction),
      servo_(car, options.servo),
      loop_(car),
      steering_delay_(from_seconds(options.servo_delay_s + (options.transport_delay ? car.steering_delay_s : 0.0))),
      speed_delay_(from_seconds(options.transport_delay ? car.speed_delay_s : 0.0)),
      input_hold_(from_seconds(options.input_hold_s)),
      step_max_s_(longest_step(car, options, model, slip_model)) {
  if (options.stock_constraints) loop_.stock_switch_mps = kStockSwitchSpeed_mps;
  reset({}, 0.0);
}

void Plant::reset(const Pose2& T_map_base, double speed_mps) {
  PITWALL_CHECK(std::isfinite(T_map_base.x) && std::isfinite(T_map_base.y) && std::isfinite(T_map_base.yaw) && std::isfinite(speed_mps),
                T_map_base.x, T_map_base.y, T_map_base.yaw, speed_mps);
  const Vec2 cog = base_to_cog(T_map_base, model_.lr);
  const double speed = std::clamp(speed_mps, car_.speed_min_mps, car_.speed_max_mps);
  state_ = {};
  state_.x = cog.x;
  state_.y = cog.y;
  state_.yaw = wrap_angle(T_map_base.yaw);
  state_.speed = speed;
  body_ = {};
  body_.x = cog.x;
  body_.y = cog.y;
  body_.yaw = state_.yaw;
  body_.vx = speed;
  known_ = {};
  steering_line_.clear();
  speed_line_.clear();
  steering_target_ = 0.0;
  speed_target_ = speed;
  ramped_target_ = speed;
  last_issued_ = {};
  any_issued_ = false;
  next_decision_ = {};
  any_decision_ = false;
  held_ = {};
  steering_held_ = false;
  set_battery(1.0);
  if (model_.friction != first_friction_) set_surface_friction(first_friction_);
  friction_ = {};
  friction_.limit_mps2 = model_.friction * kGravity;
  friction_.min_lateral_budget_mps2 = friction_.limit_mps2;
}

void Plant::set_motion(const Pose2& T_map_base, Vec2 base_velocity, double yaw_rate_radps) {
  PITWALL_CHECK(std::isfinite(T_map_base.x) && std::isfinite(T_map_base.y) && std::isfinite(T_map_base.yaw) &&
                    std::isfinite(base_velocity.x) && std::isfinite(base_velocity.y) && std::isfinite(yaw_rate_radps),
                T_map_base.x, T_map_base.y, T_map_base.yaw, base_velocity.x, base_velocity.y, yaw_rate_radps);
  const Vec2 cog = base_to_cog(T_map_base, model_.lr);
  const Vec2 velocity{base_velocity.x, base_velocity.y + model_.lr * yaw_rate_radps};
  state_.x = body_.x = cog.x;
  state_.y = body_.y = cog.y;
  state_.yaw = body_.yaw = wrap_angle(T_map_base.yaw);
  state_.yaw_rate = body_.yaw_rate = yaw_rate_radps;
  const double sign = velocity.x < 0.0 ? -1.0 : 1.0;
  state_.speed = sign * norm(velocity);
  state_.slip = math::atan2(sign * velocity.y, sign * velocity.x);
  body_.vx = velocity.x;
  body_.vy = velocity.y;
  body_.front_m = body_.rear_m = 0.0;
}

CommandStatus Plant::command(double steering_rad, double speed_mps, Time issued) {
  if (!std::isfinite(steering_rad) || !std::isfinite(speed_mps)) return CommandStatus::kNotFinite;
  if (any_issued_ && issued < last_issued_) return CommandStatus::kOutOfOrder;
  if (steering_line_.full() || speed_line_.full()) return CommandStatus::kTooMany;
  steering_line_.push(servo_.target(steering_rad), issued + steering_delay_);
  speed_line_.push(std::clamp(speed_mps, car_.speed_min_mps, car_.speed_max_mps), issued + speed_delay_);
  last_issued_ = issued;
  any_issued_ = true;
  return CommandStatus::kAccepted;
}

void Plant::set_surface_friction(double friction) {
  model_.friction = std::clamp(friction, 0.01, 3.0);
  slip_model_ = slip_model_of(car_, options_, model_.friction);
  step_max_s_ = longest_step(car_, options_, model_, slip_model_);
  friction_.limit_mps2 = model_.friction * kGravity;
}

void Plant::set_battery(double voltage_share) {
  const double share = std::clamp(voltage_share, 0.05, 1.0);
  const SpeedLoop full(car_);
  loop_.power_per_mass = share * full.power_per_mass;
  loop_.free_speed_mps = share * full.free_speed_mps;
}

double Plant::servo_rate(double angle_rad) const { return steering_held_ ? 0.0 : servo_.rate(steering_target_, angle_rad); }

void Plant::step(Time from, Duration dt) {
  PITWALL_CHECK(dt.ns > 0, dt.ns);
  const Time end = from + dt;
  Time now = from;
  take_due(now);
  hold_inputs(now);
  step_begins_ = true;
  if (!slides()) note_envelope();
  while (now < end) {
    const Time until = next_event(now, end);
    integrate((until - now).seconds());
    now = until;
    if (now < end) {
      take_due(now);
      hold_inputs(now);
    }
  }
}

/// The next instant after `now`, at the latest `end`, at which a target changes or a held input is decided anew.
Time Plant::next_event(Time now, Time end) const {
  Time next = end;
  for (const DelayLine* line : {&steering_line_, &speed_line_}) {
    if (!line->empty() && line->next_due() > now) next = std::min(next, line->next_due());
  }
  if (input_hold_.ns > 0) next = std::min(next, next_decision_);
  return next;
}

void Plant::take_due(Time now) {
  while (!steering_line_.empty() && steering_line_.next_due() <= now) steering_target_ = steering_line_.pop();
  while (!speed_line_.empty() && speed_line_.next_due() <= now) speed_target_ = speed_line_.pop();
}

void Plant::hold_inputs(Time now) {
  if (input_hold_.ns == 0) return;
  if (any_decision_ && now < next_decision_) return;
  any_decision_ = false;
  held_ = slides() ? decide(body_.steering, body_.vx, body_.vx, body_.integral_mps2, 0.0) : drive(state_, 0.0);
  any_decision_ = true;
  next_decision_ = now + input_hold_;
}

/// The speed target `ahead_s` after the start of the piece that is being integrated.
double Plant::target_in(double ahead_s) const {
  if (car_.speed_ramp_mps2 == 0.0) return speed_target_;
  const double reach = car_.speed_ramp_mps2 * ahead_s;
  return ramped_target_ + std::clamp(speed_target_ - ramped_target_, -reach, reach);
}

Plant::Drive Plant::decide(double steering, double speed, double body_speed, double integral, double ahead_s) const {
  if (any_decision_) {
    Drive out = held_;
    out.effective_steering = steering;
    return out;
  }
  Drive out;
  out.effective_steering = steering;
  out.lateral_budget = friction_.limit_mps2;
  out.input.steering_rate = servo_rate(steering);
  const SpeedLoop::Demand demand = loop_.demand(target_in(ahead_s), speed, body_speed, integral);
  out.input.acceleration = demand.acceleration;
  out.integral_rate = demand.integral_rate;
  return out;
}

/// The friction envelope.
void Plant::cap(Drive& drive, double steering, double speed) const {
  const double limit = friction_.limit_mps2;
  const double v2 = speed * speed;
  const double reserve = options_.cornering_reserve * limit;
  const double demanded = std::abs(math::tan(steering)) * v2 / model_.wheelbase();
  const double claimed = std::min(demanded, reserve);
  const double coupling = car_.longitudinal_grip_coupling;
  const double charged_max = std::sqrt(limit * limit - claimed * claimed);
  const double a_max = coupling * limit > charged_max ? charged_max / coupling : limit;
  drive.input.acceleration = std::clamp(drive.input.acceleration, -a_max, a_max);
  const double charged = coupling * drive.input.acceleration;
  drive.lateral_budget = std::max(reserve, std::sqrt(std::max(0.0, limit * limit - charged * charged)));
  if (demanded > drive.lateral_budget) {
    drive.effective_steering = std::copysign(math::atan(model_.wheelbase() * drive.lateral_budget / v2), steering);
  }
}

Plant::Drive Plant::drive(const State& state, double ahead_s) const {
  const double held_speed = options_.stock_constraints ? state.speed : state.speed * math::cos(state.slip);
  Drive out = decide(state.steering, state.speed, held_speed, 0.0, ahead_s);
  if (options_.friction == Friction::kEnvelope) cap(out, state.steering, state.speed);
  return out;
}

State Plant::rate(const State& state, double ahead_s) const {
  const Drive now = drive(state, ahead_s);
  State seen = state;
  seen.steering = now.effective_steering;
  // Of the wheels' rate only rolling geometry takes notice, and there the cap does not bind on any floor worth the name.
  State out = derivative(seen, now.input, model_);
  out.steering = now.input.steering_rate;
  if (options_.stock_constraints && ((state.steering >= car_.steering_max_left_rad && out.steering > 0.0) ||
                                     (state.steering <= car_.steering_max_right_rad && out.steering < 0.0))) {
    out.steering = 0.0;
  }
  return out;
}

SlipInput Plant::slip_input(const SlipState& state, double ahead_s) const {
  SlipInput input;
  if (any_decision_) {
    input.steering_rate = held_.input.steering_rate;
    input.acceleration = held_.input.acceleration;
    input.integral_rate = held_.integral_rate;
  } else {
    const SpeedLoop::Demand demand = loop_.demand(target_in(ahead_s), state.vx, state.vx, state.integral_mps2);
    input.steering_rate = servo_rate(state.steering);
    input.acceleration = demand.acceleration;
    input.integral_rate = demand.integral_rate;
  }
  if (options_.friction == Friction::kEnvelope) {
    Drive drive;
    drive.effective_steering = state.steering;
    drive.input.acceleration = input.acceleration;
    cap(drive, state.steering, std::sqrt(state.vx * state.vx + state.vy * state.vy));
    const auto [s, c] = math::sincos(drive.effective_steering);
    input.sin_steering = s;
    input.cos_steering = c;
    input.acceleration = drive.input.acceleration;
    return input;
  }
  input.sin_steering = known_.of.sin;
  input.cos_steering = known_.of.cos;
  const double change = state.steering - known_.angle;
  if (change != 0.0) {
    const auto [s, c] = sincos_of_change(change);
    input.sin_steering = known_.of.sin * c + known_.of.cos * s;
    input.cos_steering = known_.of.cos * c - known_.of.sin * s;
  }
  return input;
}

/// The rate limit of the servo lets go at an instant that is known beforehand: the step is split there, so that its order is kept.
void Plant::integrate(double span_s) {
  const double limited = slides() && input_hold_.ns == 0 ? servo_.limited_for_s(steering_target_, steering_rad()) : 0.0;
  if (limited > 1e-9 && limited < span_s - 1e-9) {
    integrate_smooth(limited);
    integrate_smooth(span_s - limited);
  } else {
    integrate_smooth(span_s);
  }
}

void Plant::integrate_smooth(double span_s) {
  double longest = step_max_s_;
  if (slides()) {
    // Rolling relaxes the carcass at V / sigma.
    const double fast = std::abs(body_.vx) + std::abs(body_.vy) + model_.wheelbase() * std::abs(body_.yaw_rate);
    if (fast * longest > 1.2 * slip_model_.relaxation_m) longest = 1.2 * slip_model_.relaxation_m / fast;
  }
  const int pieces = std::max(1, static_cast<int>(std::ceil(std::min(span_s / longest, 1e6) - 1e-9)));
  const double h = span_s / pieces;
  for (int i = 0; i < pieces; ++i) {
    if (slides()) {
      advance_sliding(h);
    } else {
      advance_linear(h);
    }
    ramped_target_ = target_in(h);
  }
}

void Plant::advance_linear(double h) {
  state_ = step_rk4(state_, h, [this](const State& s) { return rate(s, 0.0); });
  // A held servo rate can run past a lock; the rack cannot.
  if (!options_.stock_constraints) state_.steering = std::clamp(state_.steering, car_.steering_max_right_rad, car_.steering_max_left_rad);
  state_.yaw = wrap_angle(state_.yaw);
}

void Plant::advance_sliding(double h) {
  if (known_.angle != body_.steering) known_ = {body_.steering, sincos_of_change(body_.steering)};
  AxleForces forces;
  const SlipState before = body_;
  body_ = step_rk4(
      before, h, slip_model_, [this](const SlipState& s, double t) { return slip_input(s, t); }, forces);
  body_.steering = std::clamp(body_.steering, car_.steering_max_right_rad, car_.steering_max_left_rad);
  if (std::abs(body_.yaw) > math::kPi) body_.yaw = wrap_angle(body_.yaw);
  note_tyres(forces, h);
  if (speed_target_ == 0.0 && ramped_target_ == 0.0) come_to_rest();
}

void Plant::come_to_rest() {
  // A motor controller forgets its integral where it is told to stand.
  if (std::abs(body_.vx) < kStanding_mps) body_.integral_mps2 = 0.0;
  if (std::abs(body_.vx) < kAtRest && std::abs(body_.vy) < kAtRest && std::abs(body_.yaw_rate) < kAtRest &&
      std::abs(body_.front_m) < kAtRest && std::abs(body_.rear_m) < kAtRest) {
    body_.vx = body_.vy = body_.yaw_rate = body_.front_m = body_.rear_m = 0.0;
  }
}

void Plant::note_envelope() {
  const Drive now = drive(state_, 0.0);
  const double per_tangent = state_.speed * state_.speed / model_.wheelbase();
  const double demanded = std::abs(math::tan(state_.steering)) * per_tangent;
  const double allowed = std::abs(math::tan(now.effective_steering)) * per_tangent;
  ++friction_.steps;
  if (now.effective_steering != state_.steering) ++friction_.limited_steps;
  friction_.max_demanded_lateral_mps2 = std::max(friction_.max_demanded_lateral_mps2, demanded);
  friction_.max_allowed_lateral_mps2 = std::max(friction_.max_allowed_lateral_mps2, allowed);
  friction_.min_lateral_budget_mps2 = std::min(friction_.min_lateral_budget_mps2, now.lateral_budget);
}

/// `forces` are those at the start of a piece of h seconds.
void Plant::note_tyres(const AxleForces& forces, double h) {
  const double front = forces.front.utilisation();
  const double rear = forces.rear.utilisation();
  friction_.front.peak_utilisation = std::max(friction_.front.peak_utilisation, front);
  friction_.rear.peak_utilisation = std::max(friction_.rear.peak_utilisation, rear);
  if (front >= kAtLimit) friction_.front.at_limit_s += h;
  if (rear >= kAtLimit) friction_.rear.at_limit_s += h;
  if (!step_begins_) return;
  step_begins_ = false;
  ++friction_.steps;
  if (std::max(front, rear) >= kAtLimit) ++friction_.limited_steps;
  const double v2 = body_.vx * body_.vx + body_.vy * body_.vy;
  const auto [s, c] = known_.of;
  const double demanded = std::abs(s / c) * v2 / model_.wheelbase();
  const double along = (forces.front.along_n * c - forces.front.across_n * s + forces.rear.along_n) / slip_model_.mass;
  const double across = (forces.front.along_n * s + forces.front.across_n * c + forces.rear.across_n) / slip_model_.mass;
  const double limit = friction_.limit_mps2;
  const double budget = std::sqrt(std::max(0.0, limit * limit - along * along));
  friction_.max_demanded_lateral_mps2 = std::max(friction_.max_demanded_lateral_mps2, demanded);
  friction_.max_allowed_lateral_mps2 = std::max(friction_.max_allowed_lateral_mps2, std::abs(across));
  friction_.min_lateral_budget_mps2 = std::min(friction_.min_lateral_budget_mps2, budget);
}

Pose2 Plant::base_pose() const {
  const Vec2 cog = slides() ? Vec2{body_.x, body_.y} : Vec2{state_.x, state_.y};
  const Vec2 p = cog_to_base(cog, yaw(), model_.lr);
  return {p.x, p.y, yaw()};
}

Vec2 Plant::base_velocity() const {
  if (slides()) return {body_.vx, body_.vy - model_.lr * body_.yaw_rate};
  const auto [s, c] = math::sincos(state_.slip);
  return {state_.speed * c, state_.speed * s - model_.lr * state_.yaw_rate};
}

AxleForces Plant::forces() const { return slides() ? axle_forces(body_, slip_input(body_, 0.0), slip_model_) : AxleForces{}; }

double Plant::wheel_speed_mps() const {
  if (!slides()) return speed_mps();
  const SlipInput input = slip_input(body_, 0.0);
  const AxleForces now = axle_forces(body_, input, slip_model_);
  const auto rolling = [](const AxleForce& axle, const AxleTyre& tyre, double along, double across) {
    const double left = std::sqrt(std::max(0.0, axle.limit_n * axle.limit_n - axle.across_n * axle.across_n));
    const double slip = slip_ratio(tyre, tyre.stiffness * axle.load_n, left, axle.along_n);
    return along + std::sqrt(along * along + across * across) * slip;
  };
  const double left = body_.vy + slip_model_.lf * body_.yaw_rate;
  const double front = rolling(now.front, slip_model_.front, body_.vx * input.cos_steering + left * input.sin_steering,
                               left * input.cos_steering - body_.vx * input.sin_steering);
  const double rear = rolling(now.rear, slip_model_.rear, body_.vx, body_.vy - slip_model_.lr * body_.yaw_rate);
  if (slip_model_.drive_front_share <= 0.0) return rear;
  if (slip_model_.drive_front_share >= 1.0) return front;
  return 0.5 * (front + rear);
}

double Plant::effective_steering_rad() const {
  if (options_.friction != Friction::kEnvelope) return steering_rad();
  const State polar = state();
  Drive now = drive(polar, 0.0);
  return now.effective_steering;
}

double Plant::acceleration_mps2() const {
  if (!slides()) return drive(state_, 0.0).input.acceleration;
  const AxleForces now = forces();
  return (now.front.along_n + now.rear.along_n) / slip_model_.mass;
}

double Plant::lateral_acceleration_mps2() const {
  const State polar = state();
  return polar.speed * polar.yaw_rate;
}

State Plant::state() const {
  if (!slides()) return state_;
  const double sign = body_.vx < 0.0 ? -1.0 : 1.0;
  State polar;
  polar.x = body_.x;
  polar.y = body_.y;
  polar.steering = body_.steering;
  polar.speed = sign * std::sqrt(body_.vx * body_.vx + body_.vy * body_.vy);
  polar.yaw = body_.yaw;
  polar.yaw_rate = body_.yaw_rate;
  polar.slip = math::atan2(sign * body_.vy, sign * body_.vx);
  return polar;
}

bool Plant::finite() const { return slides() ? plant::finite(body_) : plant::finite(state_); }

}  // namespace pitwall::plant
