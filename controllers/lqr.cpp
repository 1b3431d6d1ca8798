// SPDX-License-Identifier: Apache-2.0
#include "controllers/lqr.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "controllers/lateral_model.hpp"
#include "controllers/stability.hpp"
#include "core/check.hpp"
#include "core/text.hpp"

namespace pitwall::controllers {

namespace {

// More stages of preview than this change nothing, and cost time.
constexpr std::size_t kMostStages = 15;

std::size_t memory_of(const LawSetup& setup) {
  const double periods = setup.car.steering_delay_s / setup.control_period_s;
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(periods - 1e-9)));
}

/// The regulator for changes of the command.
std::optional<Regulator> regulator_at(const LqrParameters& p, const LawSetup& setup, double speed_mps, Discrete& loop) {
  const LateralKind kind = possible(p.model, setup.car);
  const std::size_t n = states(kind);
  const double h = setup.control_period_s;
  loop = delayed_hold(lateral_model(kind, setup.car, speed_mps), h, setup.car.steering_delay_s, 1);
  const std::size_t size = loop.a.rows();
  // u = u_-1 + du.
  for (std::size_t i = 0; i < size; ++i) loop.a(i, n) += loop.b(i, 0);
  Matrix q(size, size);
  q(kStateD, kStateD) = 1.0 / (p.weights.lateral_m * p.weights.lateral_m);
  q(kStateE, kStateE) = 1.0 / (p.weights.heading_rad * p.weights.heading_rad);
  Matrix r(1, 1);
  const double change = p.weights.rate_radps * h;
  r(0, 0) = 1.0 / (change * change);
  return regulator(loop, q, r);
}

}  // namespace

void LqrParameters::fields(FieldVisitor& f) {
  f.enumeration("lqr_model", model, kLateralKindNames, "motion that the gains are designed for");
  f.enumeration("lqr_tyre", tyre, kSlipLawNames, "how side force grows with slip in the steady turn");
  f.group("lqr_weights", [this](FieldVisitor& g) { weights.fields(g); });
  f.number("lqr_preview_s", preview_s, {"s", 0, 2, "how far ahead changes of curvature are answered"});
}

Status validate(const LqrParameters& p, const LawSetup& setup, std::string_view what) {
  if (const Status status = check_fields(what, p); !status) return status;
  if (p.tyre == SlipLaw::kMagicFormula && !(setup.car.magic_front_b > 0.0 && setup.car.magic_rear_b > 0.0)) {
    return Error{std::string(what) + ": lqr_tyre magic_formula needs the car's magic_front_b and magic_rear_b, which are 0"};
  }
  for (std::size_t i = 0; i < SpeedTable::rows_up_to(setup.max_speed_mps); ++i) {
    Discrete loop;
    if (regulator_at(p, setup, SpeedTable::speed_of(i), loop)) continue;
    return Error{std::string(what) + ": no stabilising gains at " + format_number(SpeedTable::speed_of(i), 3) +
                 " m/s with lqr_weights.lateral_m " + format_exact(p.weights.lateral_m) + ", heading_rad " +
                 format_exact(p.weights.heading_rad) + ", rate_radps " + format_exact(p.weights.rate_radps) + " at " +
                 format_number(1.0 / setup.control_period_s, 4) + " Hz"};
  }
  return {};
}

void LqrLaw::reset() {
  known_ = false;
  side_.forget();
}

LqrLaw::LqrLaw(const LqrParameters& parameters, const LawSetup& setup)
    : setup_(setup),
      kind_(possible(parameters.model, setup.car)),
      n_(states(kind_)),
      memory_(memory_of(setup)),
      weights_(parameters.weights),
      side_(setup.car, parameters.tyre),
      sent_(memory_, 0.0) {
  const auto periods = static_cast<std::size_t>(std::round(parameters.preview_s / setup.control_period_s));
  stride_ = std::max<std::size_t>(1, (periods + kMostStages - 1) / kMostStages);
  stages_ = periods / stride_;
  for (std::size_t k = 0; k < SpeedTable::rows_up_to(setup.max_speed_mps); ++k) {
    Discrete loop;
    const auto found = regulator_at(parameters, setup, SpeedTable::speed_of(k), loop);
    PITWALL_CHECK(found.has_value(), SpeedTable::speed_of(k));
    residual_ = std::max(residual_, found->residual);
    std::vector<double> gains;
    for (std::size_t i = 0; i < n_ + memory_; ++i) gains.push_back(found->gain(0, i));
    gain_.add(gains);
    tabulate_preview(parameters, *found, loop);
  }
}

void LqrLaw::tabulate_preview(const LqrParameters& parameters, const Regulator& regulator, const Discrete& loop) {
  const double change = parameters.weights.rate_radps * setup_.control_period_s;
  const double r = 1.0 / (change * change) + (loop.b.transposed() * regulator.cost * loop.b)(0, 0);
  const Matrix closed = loop.a - loop.b * regulator.gain;
  Matrix reached = loop.b;
  std::vector<double> stages;
  for (std::size_t i = 0; i < stages_; ++i) {
    std::array<double, kChanges> mean{};
    for (std::size_t q = 0; q < stride_; ++q) {
      const Matrix row = (1.0 / (r * static_cast<double>(stride_))) * (reached.transposed() * regulator.cost);
      reached = closed * reached;
      mean[0] += row(0, kStateE);
      if (kind_ == LateralKind::kDynamic) {
        mean[1] += row(0, kStateVy);
        mean[2] += row(0, kStateR);
      }
      // In the steady turn wheels and all commands have one angle.
      for (std::size_t m = n_ - 1; m < n_ + memory_; ++m) mean[3] += row(0, m);
    }
    stages.insert(stages.end(), mean.begin(), mean.end());
  }
  ahead_.add(stages);
}

void LqrLaw::follow(const LawInput& in) {
  side_.follow(in.now, in.speed_mps, in.wheel_rad);
  if (!known_) {
    for (std::size_t i = 0; i < memory_; ++i) {
      sent_[i] = i < in.queued.size() ? in.queued[in.queued.size() - 1 - i].steering_rad : in.acting_rad;
    }
  } else {
    for (std::size_t i = memory_ - 1; i > 0; --i) sent_[i] = sent_[i - 1];
  }
  sent_[0] = in.commanded_rad;
  known_ = true;
}

SteadyTurn LqrLaw::steady_at(const LawInput& in, double s_m, double speed_mps) const {
  const double curvature = in.shift.none() ? setup_.line->curvature_at(s_m) : setup_.line->at(s_m, in.shift).curvature_per_m;
  return side_.turns().at(speed_mps, curvature);
}

// The sum of G_i w_i over the way ahead, at the speeds that the profile will ask for.
double LqrLaw::answer_to_changes(const LawInput& in, const SteadyTurn& here) const {
  const double stage_s = static_cast<double>(stride_) * setup_.control_period_s;
  const double faster = in.speed_mps - setup_.line->speed_at(in.fix.on_line.s_m);
  const SpeedTable::Row g = ahead_.at(in.speed_mps);
  double s = in.fix.on_line.s_m;
  double v = in.speed_mps;
  SteadyTurn now = here;
  double sum = 0.0;
  for (std::size_t i = 0; i < stages_; ++i) {
    s += v * stage_s;
    v = std::max(kSlowest_mps, setup_.line->speed_at(s) + faster);
    const SteadyTurn next = steady_at(in, s, v);
    const std::size_t k = i * kChanges;
    sum += g[k] * (now.heading_rad - next.heading_rad) + g[k + 1] * (now.lateral_mps - next.lateral_mps) +
           g[k + 2] * (now.yaw_rate_radps - next.yaw_rate_radps) + g[k + 3] * (now.wheel_rad - next.wheel_rad);
    now = next;
  }
  return sum;
}

double LqrLaw::steer(const LawInput& in) {
  follow(in);
  if (!(std::abs(in.speed_mps) > kStanding_mps)) return in.commanded_rad;
  const double s = in.fix.on_line.s_m;
  const SteadyTurn turn = steady_at(in, s, std::max(0.0, in.speed_mps));
  const double line_heading = in.shift.none() ? setup_.line->heading_at(s) : setup_.line->at(s, in.shift).heading_rad;
  const SpeedTable::Row k = gain_.at(in.speed_mps);
  const double d = in.lateral_error_m();
  const double near_d = d - weights_.too_far_m(d, in.speed_mps, k[kStateD], k[kStateE]);
  double change = k[kStateD] * near_d + k[kStateE] * wrap_angle(in.T_map_base.yaw - line_heading - turn.heading_rad) +
                  k[n_ - 1] * (in.wheel_rad - turn.wheel_rad);
  if (kind_ == LateralKind::kDynamic) {
    change += k[kStateVy] * (side_.lateral_mps() - turn.lateral_mps) + k[kStateR] * (side_.yaw_rate_radps() - turn.yaw_rate_radps);
  }
  for (std::size_t m = 0; m < memory_; ++m) change += k[n_ + m] * (sent_[m] - turn.wheel_rad);
  return side_.within_grip(in.commanded_rad - change - answer_to_changes(in, turn), in.speed_mps);
}

std::vector<double> LqrLaw::gains_at(double speed_mps) const {
  const SpeedTable::Row k = gain_.at(speed_mps);
  std::vector<double> gains;
  for (std::size_t i = 0; i < n_ + memory_; ++i) gains.push_back(k[i]);
  return gains;
}

double LqrLaw::delay_margin_s(double speed_mps) const {
  const std::vector<double> k = gains_at(speed_mps);
  std::vector<double> sent(k.begin() + static_cast<std::ptrdiff_t>(n_), k.end());
  sent[0] -= 1.0;
  FeedbackGains gains{.lateral = k[kStateD], .heading = k[kStateE], .wheel = k[n_ - 1], .sent = sent};
  if (kind_ == LateralKind::kDynamic) {
    gains.lateral_velocity = k[kStateVy];
    gains.yaw_rate = k[kStateR];
  }
  return controllers::delay_margin_s(gains, setup_.car, speed_mps, setup_.control_period_s);
}

}  // namespace pitwall::controllers
