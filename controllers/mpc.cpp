// SPDX-License-Identifier: Apache-2.0
#include "controllers/mpc.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "controllers/prediction.hpp"
#include "controllers/stability.hpp"
#include "core/check.hpp"
#include "core/math.hpp"
#include "core/text.hpp"

namespace pitwall::controllers {

namespace {

// What slack costs: so much that only an obstacle to all plans makes it, so little that the problem stays well scaled.
constexpr double kRoomPrice_per_m = 50.0;
constexpr double kRoomSlack_m = 0.02;
constexpr double kGripPrice_per_mps2 = 20.0;
constexpr double kGripSlack_mps2 = 0.3;
// Nothing can be done about the next stage, all about the last: of its slack a stage gets less the later it is.
constexpr double kLaterSlack = 0.85;
constexpr double kLeastSlack = 0.1;
constexpr std::size_t kSlacks = 2;
constexpr std::size_t kRowsPerStage = 6;

/// The regulator of (x, u_-1) for changes of the command per stage.
std::optional<Regulator> regulator_at(const MpcParameters& p, const LawSetup& setup, double speed_mps, Discrete& stage) {
  const LateralKind kind = possible(p.model, setup.car);
  const std::size_t n = states(kind);
  stage = zero_order_hold(lateral_model(kind, setup.car, speed_mps), p.stage_s);
  Discrete loop{Matrix(n + 1, n + 1), Matrix(n + 1, 1)};
  loop.a.set(0, 0, stage.a);
  loop.a.set(0, n, stage.b);
  loop.a(n, n) = loop.b(n, 0) = 1.0;
  loop.b.set(0, 0, stage.b);
  Matrix q(n + 1, n + 1);
  q(kStateD, kStateD) = 1.0 / (p.weights.lateral_m * p.weights.lateral_m);
  q(kStateE, kStateE) = 1.0 / (p.weights.heading_rad * p.weights.heading_rad);
  Matrix r(1, 1);
  const double change = p.weights.rate_radps * p.stage_s;
  r(0, 0) = 1.0 / (change * change);
  return regulator(loop, q, r);
}

}  // namespace

void MpcParameters::fields(FieldVisitor& f) {
  f.enumeration("mpc_model", model, kLateralKindNames, "motion that the plan counts on");
  f.enumeration("mpc_tyre", tyre, kSlipLawNames, "how side force grows with slip");
  f.group("mpc_weights", [this](FieldVisitor& g) { weights.fields(g); });
  f.integer("mpc_stages", stages, {"", 4, 40, "stages of the plan"});
  f.number("mpc_stage_s", stage_s, {"s", 0.01, 0.1, "length of a stage"});
  f.number("mpc_wall_margin_m", wall_margin_m, {"m", 0, 1, "between the padded body and a wall, where the soft bound begins"});
  f.number("mpc_grip_share", grip_share, {"", 0.2, 1, "of the friction octagon that plans may use"});
  f.integer("mpc_max_iterations", max_iterations, {"", 1, 1000, "rows that the solver may take in or drop in one tick"});
}

Status validate(const MpcParameters& p, const LawSetup& setup, std::string_view what) {
  if (const Status status = check_fields(what, p); !status) return status;
  if (p.tyre == SlipLaw::kMagicFormula && !(setup.car.magic_front_b > 0.0 && setup.car.magic_rear_b > 0.0)) {
    return Error{std::string(what) + ": mpc_tyre magic_formula needs the car's magic_front_b and magic_rear_b, which are 0"};
  }
  if (p.stage_s + 1e-9 < setup.control_period_s) {
    return Error{std::string(what) + ": mpc_stage_s " + format_exact(p.stage_s) + " must not be below the control period of " +
                 format_exact(setup.control_period_s) + " s (control_rate_hz)"};
  }
  for (std::size_t i = 0; i < SpeedTable::rows_up_to(setup.max_speed_mps); ++i) {
    Discrete stage;
    if (regulator_at(p, setup, SpeedTable::speed_of(i), stage)) continue;
    return Error{std::string(what) + ": no terminal cost at " + format_number(SpeedTable::speed_of(i), 3) +
                 " m/s with mpc_weights.lateral_m " + format_exact(p.weights.lateral_m) + ", heading_rad " +
                 format_exact(p.weights.heading_rad) + ", rate_radps " + format_exact(p.weights.rate_radps) + ", mpc_stage_s " +
                 format_exact(p.stage_s)};
  }
  return {};
}

MpcLaw::MpcLaw(const MpcParameters& parameters, const LawSetup& setup)
    : p_(parameters),
      setup_(setup),
      kind_(possible(parameters.model, setup.car)),
      n_(states(kind_)),
      stages_(static_cast<std::size_t>(parameters.stages)),
      side_(setup.car, parameters.tyre),
      rolled_(side_),
      solver_(stages_ + kSlacks, kRowsPerStage * stages_ + kSlacks),
      stage_(stages_ + 1),
      free_((stages_ + 1) * n_),
      to_((stages_ + 1) * n_ * stages_),
      hessian_((stages_ + kSlacks) * (stages_ + kSlacks)),
      gradient_(stages_ + kSlacks),
      rows_((kRowsPerStage * stages_ + kSlacks) * (stages_ + kSlacks)),
      lower_(kRowsPerStage * stages_ + kSlacks),
      upper_(kRowsPerStage * stages_ + kSlacks),
      weighted_(stages_),
      command_(stages_),
      state_((stages_ + 1) * n_) {
  for (std::size_t k = 0; k < SpeedTable::rows_up_to(setup.max_speed_mps); ++k) {
    Discrete stage;
    const auto found = regulator_at(p_, setup, SpeedTable::speed_of(k), stage);
    PITWALL_CHECK(found.has_value(), SpeedTable::speed_of(k));
    const std::size_t n = n_;
    std::vector<double> hold;
    std::vector<double> behind;
    for (std::size_t i = 0; i < n * n; ++i) hold.push_back(stage.a(i / n, i % n));
    for (std::size_t i = 0; i < n; ++i) hold.push_back(stage.b(i, 0));
    for (std::size_t i = 0; i < (n + 1) * (n + 1); ++i) behind.push_back(found->cost(i / (n + 1), i % (n + 1)));
    for (std::size_t i = 0; i <= n; ++i) behind.push_back(found->gain(0, i));
    hold_.add(hold);
    behind_.add(behind);
    rolling_.add(std::array{lateral_model(LateralKind::kKinematic, setup.car, SpeedTable::speed_of(k)).a(kStateE, 2)});
  }
}

void MpcLaw::reset() {
  planned_ = fell_back_ = false;
  side_.forget();
  failures_ = 0;
}

double MpcLaw::octagon(double longitudinal_share) {
  // Corners at every 45 degrees of the unit circle: the two faces beside the lateral axis.
  constexpr double kHalf = 0.70710678118654752440;
  const double x = std::min(1.0, std::abs(longitudinal_share));
  return x <= kHalf ? 1.0 - x * (1.0 - kHalf) / kHalf : (1.0 - x) * kHalf / (1.0 - kHalf);
}

double MpcLaw::steer(const LawInput& in) {
  fell_back_ = false;
  // v_y and r are what the steering has made of them.
  side_.follow(in.now, in.speed_mps, in.wheel_rad);
  if (!(std::abs(in.speed_mps) > kStanding_mps)) return in.commanded_rad;
  roll_on(in);
  look_ahead(in);
  condense(in.commanded_rad);
  add_rows(in.commanded_rad);
  status_ = solver_.solve({hessian_, gradient_, rows_, lower_, upper_}, {.max_iterations = static_cast<int>(p_.max_iterations)});
  if (status_ != qp::Status::kSolved) return fall_back(in);
  keep_plan(in);
  return command_[0];
}

// From now to when the command that is about to be given begins to act.
void MpcLaw::roll_on(const LawInput& in) {
  rolled_.put(side_.lateral_mps(), side_.yaw_rate_radps());
  const RolledOn at = controllers::roll_on(in, setup_, kind_, rolled_);
  start_s_m_ = at.s_m;
  start_speed_mps_ = at.speed_mps;
  free_[kStateD] = at.lateral_m;
  free_[kStateE] = at.heading_rad;
  if (kind_ == LateralKind::kDynamic) {
    free_[kStateVy] = rolled_.lateral_mps();
    free_[kStateR] = rolled_.yaw_rate_radps();
  }
  free_[n_ - 1] = at.wheel_rad;
}

void MpcLaw::look_ahead(const LawInput& in) {
  const LawLine& line = *setup_.line;
  const double faster = start_speed_mps_ - line.speed_at(start_s_m_);
  const double beside = setup_.car.padded_body().half_width_m + p_.wall_margin_m;
  double s = start_s_m_;
  for (std::size_t i = 0; i <= stages_; ++i) {
    Stage& stage = stage_[i];
    stage.speed_mps = std::max(kSlowest_mps, line.speed_at(s) + faster);
    stage.turn = side_.turns().at(stage.speed_mps, curvature_at(line, in.shift, s));
    stage.left_m = stage.right_m = math::kInfinity;
    if (line.room_known()) {
      const double shift = in.shift(s);
      stage.left_m = line.room_left_at(s) - beside - shift;
      stage.right_m = line.room_right_at(s) - beside + shift;
    }
    const SpeedTable::Row hold = hold_.at(stage.speed_mps);
    for (std::size_t q = 0; q < n_ * n_; ++q) stage.a[q] = hold[q];
    for (std::size_t q = 0; q < n_; ++q) stage.b[q] = hold[n_ * n_ + q];
    if (i > 0) stage_[i - 1].longitudinal_mps2 = (stage.speed_mps - stage_[i - 1].speed_mps) / p_.stage_s;
    s += stage.speed_mps * p_.stage_s;
  }
  stage_[stages_].longitudinal_mps2 = stage_[stages_ - 1].longitudinal_mps2;
}

std::array<double, MpcLaw::kMostStates> MpcLaw::at_rest(const SteadyTurn& turn) const {
  if (kind_ == LateralKind::kKinematic) return {0.0, turn.heading_rad, turn.wheel_rad};
  return {0.0, turn.heading_rad, turn.lateral_mps, turn.yaw_rate_radps, turn.wheel_rad};
}

// States as a function of the changes du of the command, and the cost of both.
void MpcLaw::condense(double commanded_rad) {
  const std::size_t n = n_;
  const std::size_t inputs = stages_;
  const std::size_t size = inputs + kSlacks;
  const double q_d = 2.0 / (p_.weights.lateral_m * p_.weights.lateral_m);
  const double q_e = 2.0 / (p_.weights.heading_rad * p_.weights.heading_rad);
  const double change = p_.weights.rate_radps * p_.stage_s;
  const SpeedTable::Row behind = behind_.at(start_speed_mps_);
  const std::size_t gains = (n + 1) * (n + 1);
  too_far_m_ =
      p_.weights.too_far_m(free_[kStateD], std::max(kSlowest_mps, start_speed_mps_), behind[gains + kStateD], behind[gains + kStateE]);
  std::fill(hessian_.begin(), hessian_.end(), 0.0);
  std::fill(gradient_.begin(), gradient_.end(), 0.0);
  std::fill_n(to_.begin(), n * inputs, 0.0);
  for (std::size_t i = 0; i < inputs; ++i) {
    const Stage& stage = stage_[i];
    const auto rest = at_rest(stage.turn);
    const double* x = &free_[i * n];
    const double* from = &to_[i * n * inputs];
    double* next = &free_[(i + 1) * n];
    double* to = &to_[(i + 1) * n * inputs];
    for (std::size_t r = 0; r < n; ++r) {
      // The steady turn of the place is a state of rest.
      next[r] = rest[r] + stage.b[r] * (commanded_rad - stage.turn.wheel_rad);
      for (std::size_t c = 0; c < n; ++c) next[r] += stage.a[r * n + c] * (x[c] - rest[c]);
      double* row = &to[r * inputs];
      std::fill_n(row, inputs, 0.0);
      for (std::size_t k = 0; k <= i; ++k) row[k] = stage.b[r];
      for (std::size_t c = 0; c < n; ++c) {
        const double a = stage.a[r * n + c];
        for (std::size_t k = 0; k < i; ++k) row[k] += a * from[c * inputs + k];
      }
    }
    hessian_[i * size + i] += 2.0 / (change * change);
    if (i + 1 == inputs) break;
    const auto target = at_rest(stage_[i + 1].turn);
    add_square(q_d, next[kStateD] - target[kStateD] - too_far_m_, &to[kStateD * inputs], i + 1);
    add_square(q_e, next[kStateE] - target[kStateE], &to[kStateE * inputs], i + 1);
  }
  add_terminal(commanded_rad);
  hessian_[inputs * size + inputs] = 2.0 / (kRoomSlack_m * kRoomSlack_m);
  hessian_[(inputs + 1) * size + inputs + 1] = 2.0 / (kGripSlack_mps2 * kGripSlack_mps2);
  gradient_[inputs] = kRoomPrice_per_m;
  gradient_[inputs + 1] = kGripPrice_per_mps2;
}

// weight / 2 (value + row du)^2, of the first `count` inputs; the solver reads the lower half.
void MpcLaw::add_square(double weight, double value, const double* row, std::size_t count) {
  const std::size_t size = stages_ + kSlacks;
  for (std::size_t r = 0; r < count; ++r) {
    const double w = weight * row[r];
    gradient_[r] += w * value;
    for (std::size_t c = 0; c <= r; ++c) hessian_[r * size + c] += w * row[c];
  }
}

void MpcLaw::add_terminal(double commanded_rad) {
  const std::size_t n = n_ + 1;
  const std::size_t inputs = stages_;
  const std::size_t size = inputs + kSlacks;
  const Stage& stage = stage_[inputs];
  const SpeedTable::Row cost = behind_.at(stage.speed_mps);
  const auto rest = at_rest(stage.turn);
  const double* x = &free_[inputs * n_];
  const double* to = &to_[inputs * n_ * inputs];
  std::array<double, kMostStates + 1> off{};
  for (std::size_t i = 0; i < n_; ++i) off[i] = x[i] - rest[i];
  off[kStateD] -= too_far_m_;
  off[n_] = commanded_rad - stage.turn.wheel_rad;
  // P times (sensitivities, value), one row of P at a time.
  for (std::size_t i = 0; i < n; ++i) {
    double value = 0.0;
    std::fill(weighted_.begin(), weighted_.end(), 0.0);
    for (std::size_t c = 0; c < n; ++c) {
      const double p = 2.0 * cost[i * n + c];
      value += p * off[c];
      for (std::size_t k = 0; k < inputs; ++k) weighted_[k] += p * (c < n_ ? to[c * inputs + k] : 1.0);
    }
    for (std::size_t r = 0; r < inputs; ++r) {
      const double t = i < n_ ? to[i * inputs + r] : 1.0;
      gradient_[r] += t * value;
      for (std::size_t c = 0; c <= r; ++c) hessian_[r * size + c] += t * weighted_[c];
    }
  }
}

void MpcLaw::add_rows(double commanded_rad) {
  const std::size_t inputs = stages_;
  const std::size_t size = inputs + kSlacks;
  const double grip = p_.grip_share * side_.turns().grip_mps2();
  const double right_lock = std::min(setup_.car.steering_max_right_rad, commanded_rad);
  const double left_lock = std::max(setup_.car.steering_max_left_rad, commanded_rad);
  std::fill(rows_.begin(), rows_.end(), 0.0);
  std::size_t m = 0;
  const auto row = [&](double low, double high) {
    lower_[m] = low;
    upper_[m] = high;
    return &rows_[m++ * size];
  };
  // value + factor row du within [low, high], the bounds softened by slack `soft`.
  double share = 1.0;
  const auto soften = [&](double value, double factor, const double* sensitivity, std::size_t count, double low, double high,
                          std::size_t soft) {
    for (const double sign : {1.0, -1.0}) {
      double* a = sign > 0.0 ? row(low - value, math::kInfinity) : row(-math::kInfinity, high - value);
      for (std::size_t k = 0; k < count; ++k) a[k] = factor * sensitivity[k];
      a[inputs + soft] = sign * share;
    }
  };
  for (std::size_t i = 1; i <= inputs; ++i) {
    const Stage& stage = stage_[i];
    const double* x = &free_[i * n_];
    const double* to = &to_[i * n_ * inputs];
    soften(x[kStateD], 1.0, &to[kStateD * inputs], i, -stage.right_m, stage.left_m, 0);
    const double bound =
        p_.tyre == SlipLaw::kLinear ? math::kInfinity : grip * octagon(stage.longitudinal_mps2 / side_.turns().grip_mps2());
    const bool slips = kind_ == LateralKind::kDynamic;
    // v r; a rolling car's yaw rate is in proportion to its wheels' angle.
    const std::size_t turning = slips ? kStateR : n_ - 1;
    const double factor = slips ? stage.speed_mps : stage.speed_mps * rolling_.at(stage.speed_mps)[0];
    soften(factor * x[turning], factor, &to[turning * inputs], i, -bound, bound, 1);
    double* lock = row(right_lock - commanded_rad, left_lock - commanded_rad);
    std::fill_n(lock, i, 1.0);
    const double most = setup_.steering_rate_radps * (i == 1 ? setup_.control_period_s : p_.stage_s);
    row(-most, most)[i - 1] = 1.0;
    share = std::max(kLeastSlack, kLaterSlack * share);
  }
  row(0.0, math::kInfinity)[inputs] = 1.0;
  row(0.0, math::kInfinity)[inputs + 1] = 1.0;
}

void MpcLaw::keep_plan(const LawInput& in) {
  const std::span<const double> du = solver_.solution();
  double command = in.commanded_rad;
  for (std::size_t i = 0; i < stages_; ++i) command_[i] = command += du[i];
  for (std::size_t i = 0; i <= stages_; ++i) {
    for (std::size_t r = 0; r < n_; ++r) {
      double x = free_[i * n_ + r];
      const double* to = &to_[(i * n_ + r) * stages_];
      for (std::size_t k = 0; k < i; ++k) x += to[k] * du[k];
      state_[i * n_ + r] = x;
    }
  }
  room_slack_m_ = du[stages_];
  grip_slack_mps2_ = du[stages_ + 1];
  failures_ = 0;
  planned_ = true;
  planned_at_ = in.now;
  plans_ += 1;
  iterations_sum_ += solver_.iterations();
  most_iterations_ = std::max(most_iterations_, static_cast<double>(solver_.iterations()));
  room_ticks_ += room_slack_m_ > 1e-3 ? 1 : 0;
  grip_ticks_ += grip_slack_mps2_ > 1e-2 ? 1 : 0;
}

double MpcLaw::fall_back(const LawInput& in) {
  ++failures_;
  if (failures_ > 1 || !planned_) {
    failed_ += 1;
    return std::numeric_limits<double>::quiet_NaN();
  }
  fell_back_ = true;
  fallbacks_ += 1;
  const double stages = std::ceil((in.now - planned_at_).seconds() / p_.stage_s - 1e-9);
  return command_[std::min(static_cast<std::size_t>(std::max(0.0, stages)), stages_ - 1)];
}

double MpcLaw::delay_margin_s(double speed_mps) const {
  const SpeedTable::Row behind = behind_.at(speed_mps);
  const auto k = [&](std::size_t i) { return behind[(n_ + 1) * (n_ + 1) + i]; };
  const std::array<double, 1> sent{k(n_) - 1.0};
  FeedbackGains gains{.lateral = k(kStateD), .heading = k(kStateE), .wheel = k(n_ - 1), .sent = sent};
  if (kind_ == LateralKind::kDynamic) {
    gains.lateral_velocity = k(kStateVy);
    gains.yaw_rate = k(kStateR);
  }
  return controllers::delay_margin_s(gains, setup_.car, speed_mps, setup_.control_period_s, setup_.car.steering_delay_s);
}

std::vector<std::pair<std::string_view, double>> MpcLaw::counters() const {
  return {{"mpc_plans", plans_},
          {"mpc_iterations_mean", plans_ > 0.0 ? iterations_sum_ / plans_ : 0.0},
          {"mpc_iterations_max", most_iterations_},
          {"mpc_fallbacks", fallbacks_},
          {"mpc_failures", failed_},
          {"mpc_room_slack_ticks", room_ticks_},
          {"mpc_grip_slack_ticks", grip_ticks_}};
}

}  // namespace pitwall::controllers
