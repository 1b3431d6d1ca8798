// SPDX-License-Identifier: Apache-2.0
#include "plant/plant.hpp"

#include <algorithm>
#include <cmath>

#include "core/check.hpp"
#include "core/math.hpp"
#include "core/text.hpp"

namespace pitwall::plant {
namespace {

constexpr double kBangBangDeadZone_rad = 1e-4;
constexpr double kStockSwitchSpeed_mps = 7.319;  // where the stock motor runs out of torque
constexpr double kShortestStep_s = 5e-5;

bool finite(const State& s) {
  return std::isfinite(s.x) && std::isfinite(s.y) && std::isfinite(s.steering) && std::isfinite(s.speed) && std::isfinite(s.yaw) &&
         std::isfinite(s.yaw_rate) && std::isfinite(s.slip);
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

double acceleration_limit(const CarParameters& car, const Options& options, double friction) {
  const double grip = friction * kGravity;
  return options.friction_envelope ? std::min(car.acceleration_max_mps2, grip) : car.acceleration_max_mps2;
}

/// Longest step that resolves tyres, servo and speed loop (Runge-Kutta is stable up to 2.78 over the rate).
double longest_step(const CarParameters& car, const Options& options, const SingleTrack& model) {
  double fastest = std::max(fastest_rate(model, acceleration_limit(car, options, model.friction)), kRollingRelaxation_per_s);
  fastest = std::max({fastest, car.speed_loop_accel_gain_per_s, car.speed_loop_brake_gain_per_s});
  if (options.servo == Servo::kFirstOrder) fastest = std::max(fastest, car.steering_servo_gain_per_s);
  return std::min(options.step_max_s, 2.0 / fastest);
}

Status refuse_nonsense(const CarParameters& car, const Options& options, const SingleTrack& model) {
  const double a_max = acceleration_limit(car, options, model.friction);
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
  const double step = longest_step(car, options, model);
  if (step < kShortestStep_s) {
    return Error{"car.yaw_inertia_kgm2 = " + format_number(model.yaw_inertia, 5) +
                 ": too small for mass and tyres, the motion would need steps of " + format_number(step * 1e6, 3) +
                 " us; allowed: 50 us or longer"};
  }
  return {};
}

}  // namespace

void Options::fields(FieldVisitor& f) {
  f.enumeration("servo", servo, kServoNames, "steering servo model");
  f.flag("transport_delay", transport_delay, "the car's command delays act");
  f.number("servo_delay_s", servo_delay_s, {"s", 0, 1, "further delay of the steering command"});
  f.number("input_hold_s", input_hold_s, {"s", 0, 1, "servo rate and acceleration are held this long; 0: continuous"});
  f.flag("friction_envelope", friction_envelope, "steering and acceleration are capped by mu g");
  f.number("cornering_reserve", cornering_reserve, {"", 0, 0.95, "share of mu g on which steering has the first claim"});
  f.flag("stock_drive_limit", stock_drive_limit, "forward drive falls as 1/v above 7.319 m/s");
  f.number("step_max_s", step_max_s, {"s", 0.0001, 0.05, "longest piece of integration"});
}

Options Options::of(Fidelity fidelity) {
  Options options;
  if (fidelity == Fidelity::kLegacy) {
    options.servo = Servo::kBangBang;
    options.transport_delay = false;
    options.servo_delay_s = 0.025;
    options.input_hold_s = 0.025;
    options.friction_envelope = false;
    options.stock_drive_limit = true;
  }
  return options;
}

CarParameters car_of(Fidelity fidelity, const CarParameters& car) {
  if (fidelity != Fidelity::kLegacy) return car;
  CarParameters stock = car;
  stock.wheelbase_m = 0.324;
  stock.cog_front_fraction = 0.5;
  stock.width_m = 0.31;
  stock.length_m = 0.58;
  stock.body_width_m = stock.width_m;
  stock.body_length_m = stock.length_m;
  stock.mass_kg = 3.74;
  stock.yaw_inertia_kgm2 = 0.04712;
  stock.cog_height_m = 0.074;
  stock.cornering_stiffness_front = 4.718;
  stock.cornering_stiffness_rear = 5.4562;
  stock.surface_friction = 1.0489;
  stock.steering_max_left_rad = 0.4189;
  stock.steering_max_right_rad = -0.4189;
  stock.steering_rate_max_radps = 3.2;
  stock.speed_max_mps = 20.0;
  stock.speed_min_mps = -5.0;
  stock.acceleration_max_mps2 = 9.51;
  stock.speed_loop_accel_gain_per_s = 10.0 * 9.51 / 20.0;
  stock.speed_loop_brake_gain_per_s = 10.0 * 9.51 / 5.0;
  stock.lidar_beams = 819;
  return stock;
}

void DelayLine::push(double value, Time due) {
  PITWALL_CHECK(!full());
  items_[(first_ + size_) % kCommandsUnderWay] = {value, due};
  ++size_;
}

double DelayLine::pop() {
  PITWALL_CHECK(!empty());
  const double value = items_[first_].value;
  first_ = (first_ + 1) % kCommandsUnderWay;
  --size_;
  return value;
}

Vec2 base_to_cog(const Pose2& T_map_base, double lr_m) { return T_map_base.position() + lr_m * unit_vector(T_map_base.yaw); }

Vec2 cog_to_base(Vec2 p_map_cog, double yaw, double lr_m) { return p_map_cog - lr_m * unit_vector(yaw); }

Result<Plant> Plant::make(const CarParameters& car, const Options& options, double surface_friction) {
  if (const Status status = check_fields("car", car); !status) return status.error();
  if (const Status status = check_fields("plant", options); !status) return status.error();
  if (!(std::isfinite(surface_friction) && surface_friction >= 0.01 && surface_friction <= 3.0)) {
    return Error{"surface friction = " + format_number(surface_friction, 5) + ": allowed: 0.01 .. 3"};
  }
  const SingleTrack model = model_of(car, surface_friction);
  if (const Status status = refuse_nonsense(car, options, model); !status) return status.error();
  return Plant(car, options, model);
}

Plant::Plant(const CarParameters& car, const Options& options, const SingleTrack& model)
    : car_(car),
      options_(options),
      model_(model),
      steering_delay_(from_seconds(options.servo_delay_s + (options.transport_delay ? car.steering_delay_s : 0.0))),
      speed_delay_(from_seconds(options.transport_delay ? car.speed_delay_s : 0.0)),
      input_hold_(from_seconds(options.input_hold_s)),
      step_max_s_(longest_step(car, options, model)) {
  reset({}, 0.0);
}

void Plant::reset(const Pose2& T_map_base, double speed_mps) {
  PITWALL_CHECK(std::isfinite(T_map_base.x) && std::isfinite(T_map_base.y) && std::isfinite(T_map_base.yaw) && std::isfinite(speed_mps),
                T_map_base.x, T_map_base.y, T_map_base.yaw, speed_mps);
  const Vec2 cog = base_to_cog(T_map_base, model_.lr);
  state_ = {};
  state_.x = cog.x;
  state_.y = cog.y;
  state_.yaw = wrap_angle(T_map_base.yaw);
  state_.speed = std::clamp(speed_mps, car_.speed_min_mps, car_.speed_max_mps);
  steering_line_.clear();
  speed_line_.clear();
  steering_target_ = 0.0;
  speed_target_ = state_.speed;
  last_issued_ = {};
  any_issued_ = false;
  next_decision_ = {};
  any_decision_ = false;
  held_ = {};
  friction_ = {};
  friction_.limit_mps2 = model_.friction * kGravity;
  friction_.min_lateral_budget_mps2 = friction_.limit_mps2;
}

void Plant::set_motion(const Pose2& T_map_base, Vec2 base_velocity, double yaw_rate_radps) {
  PITWALL_CHECK(std::isfinite(T_map_base.x) && std::isfinite(T_map_base.y) && std::isfinite(T_map_base.yaw) &&
                    std::isfinite(base_velocity.x) && std::isfinite(base_velocity.y) && std::isfinite(yaw_rate_radps),
                T_map_base.x, T_map_base.y, T_map_base.yaw, base_velocity.x, base_velocity.y, yaw_rate_radps);
  const Vec2 cog = base_to_cog(T_map_base, model_.lr);
  state_.x = cog.x;
  state_.y = cog.y;
  state_.yaw = wrap_angle(T_map_base.yaw);
  state_.yaw_rate = yaw_rate_radps;
  const Vec2 velocity{base_velocity.x, base_velocity.y + model_.lr * yaw_rate_radps};
  const double sign = velocity.x < 0.0 ? -1.0 : 1.0;
  state_.speed = sign * norm(velocity);
  state_.slip = math::atan2(sign * velocity.y, sign * velocity.x);
}

CommandStatus Plant::command(double steering_rad, double speed_mps, Time issued) {
  if (!std::isfinite(steering_rad) || !std::isfinite(speed_mps)) return CommandStatus::kNotFinite;
  if (any_issued_ && issued < last_issued_) return CommandStatus::kOutOfOrder;
  if (steering_line_.full() || speed_line_.full()) return CommandStatus::kTooMany;
  steering_line_.push(std::clamp(steering_rad, car_.steering_max_right_rad, car_.steering_max_left_rad), issued + steering_delay_);
  speed_line_.push(std::clamp(speed_mps, car_.speed_min_mps, car_.speed_max_mps), issued + speed_delay_);
  last_issued_ = issued;
  any_issued_ = true;
  return CommandStatus::kAccepted;
}

void Plant::step(Time from, Duration dt) {
  PITWALL_CHECK(dt.ns > 0, dt.ns);
  const Time end = from + dt;
  Time now = from;
  take_due(now);
  hold_inputs(now);
  note_friction();
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
  held_ = drive(state_).input;
  any_decision_ = true;
  next_decision_ = now + input_hold_;
}

double Plant::servo_rate(double steering) const {
  const double error = steering_target_ - steering;
  const double limit = car_.steering_rate_max_radps;
  if (options_.servo == Servo::kFirstOrder) return std::clamp(car_.steering_servo_gain_per_s * error, -limit, limit);
  if (std::abs(error) <= kBangBangDeadZone_rad) return 0.0;
  return error > 0.0 ? limit : -limit;
}

double Plant::loop_acceleration(double speed, double body_speed) const {
  const double error = speed_target_ - body_speed;
  // Accelerating means |v| grows: from rest in either direction, and in reverse as forwards.
  const bool accelerating = body_speed == 0.0 || (error > 0.0) == (body_speed > 0.0);
  const double gain = accelerating ? car_.speed_loop_accel_gain_per_s : car_.speed_loop_brake_gain_per_s;
  double upper = car_.acceleration_max_mps2;
  if (options_.stock_drive_limit && speed > kStockSwitchSpeed_mps) upper *= kStockSwitchSpeed_mps / speed;
  return std::clamp(gain * error, -car_.acceleration_max_mps2, upper);
}

Plant::Drive Plant::drive(const State& state) const {
  Drive out;
  out.effective_steering = state.steering;
  out.lateral_budget = friction_.limit_mps2;
  if (any_decision_) {
    out.input = held_;
  } else {
    out.input.steering_rate = servo_rate(state.steering);
    out.input.acceleration = loop_acceleration(state.speed, state.speed * math::cos(state.slip));
  }
  if (!options_.friction_envelope) return out;

  const double limit = friction_.limit_mps2;
  const double v2 = state.speed * state.speed;
  const double reserve = options_.cornering_reserve * limit;
  const double demanded = std::abs(math::tan(state.steering)) * v2 / model_.wheelbase();
  const double claimed = std::min(demanded, reserve);
  const double coupling = car_.longitudinal_grip_coupling;
  const double charged_max = std::sqrt(limit * limit - claimed * claimed);
  const double a_max = coupling * limit > charged_max ? charged_max / coupling : limit;
  out.input.acceleration = std::clamp(out.input.acceleration, -a_max, a_max);
  const double charged = coupling * out.input.acceleration;
  out.lateral_budget = std::max(reserve, std::sqrt(std::max(0.0, limit * limit - charged * charged)));
  if (demanded > out.lateral_budget) {
    out.effective_steering = std::copysign(math::atan(model_.wheelbase() * out.lateral_budget / v2), state.steering);
  }
  return out;
}

State Plant::rate(const State& state) const {
  const Drive now = drive(state);
  State seen = state;
  seen.steering = now.effective_steering;
  // Of the wheels' rate only rolling geometry takes notice, and there the cap does not bind on any floor worth the name.
  State out = derivative(seen, now.input, model_);
  out.steering = now.input.steering_rate;
  return out;
}

void Plant::integrate(double span_s) {
  const int pieces = std::max(1, static_cast<int>(std::ceil(span_s / step_max_s_ - 1e-9)));
  const double h = span_s / pieces;
  for (int i = 0; i < pieces; ++i) {
    state_ = step_rk4(state_, h, [this](const State& s) { return rate(s); });
    // A held servo rate can run past a lock; the rack cannot.
    state_.steering = std::clamp(state_.steering, car_.steering_max_right_rad, car_.steering_max_left_rad);
    state_.yaw = wrap_angle(state_.yaw);
  }
}

void Plant::note_friction() {
  const Drive now = drive(state_);
  const double per_tangent = state_.speed * state_.speed / model_.wheelbase();
  const double demanded = std::abs(math::tan(state_.steering)) * per_tangent;
  const double allowed = std::abs(math::tan(now.effective_steering)) * per_tangent;
  ++friction_.steps;
  if (now.effective_steering != state_.steering) ++friction_.limited_steps;
  friction_.max_demanded_lateral_mps2 = std::max(friction_.max_demanded_lateral_mps2, demanded);
  friction_.max_allowed_lateral_mps2 = std::max(friction_.max_allowed_lateral_mps2, allowed);
  friction_.min_lateral_budget_mps2 = std::min(friction_.min_lateral_budget_mps2, now.lateral_budget);
}

Pose2 Plant::base_pose() const {
  const Vec2 p = cog_to_base({state_.x, state_.y}, state_.yaw, model_.lr);
  return {p.x, p.y, state_.yaw};
}

Vec2 Plant::base_velocity() const {
  const auto [s, c] = math::sincos(state_.slip);
  return {state_.speed * c, state_.speed * s - model_.lr * state_.yaw_rate};
}

double Plant::speed_mps() const { return base_velocity().x; }

bool Plant::finite() const { return plant::finite(state_); }

}  // namespace pitwall::plant
