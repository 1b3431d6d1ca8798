// SPDX-License-Identifier: Apache-2.0
#include "controllers/overtake.hpp"

#include <algorithm>
#include <cmath>

#include "controllers/line_following.hpp"
#include "core/math.hpp"

namespace pitwall::controllers {

namespace {

constexpr double kSlope = 0.25;
constexpr double kStep_m = 0.2;
// Second derivatives of the shift: one that takes 6 m, and one that the rack can still follow in a corner.
constexpr double kGentlest_per_m = 0.06;
constexpr double kTightest_per_m = 0.30;
// The shift answers to the room this far ahead, so that it is out of a narrowing before the car is in it.
constexpr double kRoomAhead_m = 1.5;
// Bodies count as side by side while their centres are nearer than a car length and this.
constexpr double kLongitudinalSlack_m = 0.2;
// The car follows its shift by about this much late.
constexpr double kLag_m = 0.3;
// A plan that fails this often in a row has failed; a single failure may be noise.
constexpr int kUnfitTicks = 6;
constexpr int kFitTicks = 3;
// Speed at which a car that has room still moves past one that stands in its way.
constexpr double kSlowestPass_mps = 0.4;
// An opponent slower than this may be about to stand for good.
constexpr double kMayStand_mps = 0.5;

/// Reads the corridor at arc lengths that only grow, without searching.
class Walker {
 public:
  Walker(const Corridor& corridor, double s_m)
      : c_(corridor), path_(*corridor.path), s_(path_.wrap_s(s_m)), segment_(path_.segment_at(s_)) {
    measure();
  }

  void step(double ds) {
    s_ += ds;
    while (s_ >= end_) {
      if (segment_ + 1 < path_.segments()) {
        ++segment_;
      } else if (path_.closed()) {
        s_ -= path_.length_m();
        segment_ = 0;
      } else {
        s_ = end_;
        break;
      }
      measure();
    }
  }
  [[nodiscard]] double speed() const { return mix(c_.speed_mps); }
  [[nodiscard]] double room(int side) const { return mix(side > 0 ? c_.free_left_m : c_.free_right_m); }
  [[nodiscard]] double curvature() const {
    const double a = path_.vertex_curvature(segment_);
    return a + share() * (path_.vertex_curvature(next_) - a);
  }
  [[nodiscard]] bool at_end() const { return !path_.closed() && s_ >= path_.length_m(); }

 private:
  void measure() {
    next_ = segment_ + 1 < path_.size() ? segment_ + 1 : 0;
    begin_ = path_.s_of(segment_);
    end_ = segment_ + 1 < path_.size() ? path_.s_of(segment_ + 1) : path_.length_m();
  }
  [[nodiscard]] double share() const { return (s_ - begin_) / (end_ - begin_); }
  [[nodiscard]] double mix(std::span<const double> values) const { return values[segment_] + share() * (values[next_] - values[segment_]); }

  const Corridor& c_;
  const tracks::Path& path_;
  double s_;
  std::size_t segment_;
  std::size_t next_ = 0;
  double begin_ = 0.0;
  double end_ = 0.0;
};

double speed_on_bend(const Corridor& corridor, double curvature, double d_m, double bend) {
  // The line at a constant distance d has radius R - d; a shift that turns adds its own curvature.
  const double factor = std::max(0.2, 1.0 - curvature * d_m);
  const double kappa = std::abs(curvature / factor + bend);
  const double v2 = corridor.max_speed_mps * corridor.max_speed_mps;
  return kappa * v2 <= corridor.lateral_mps2 ? corridor.max_speed_mps : std::sqrt(corridor.lateral_mps2 / kappa);
}

}  // namespace

void OvertakeParameters::fields(FieldVisitor& f) {
  f.flag("enable", enable, "pass slower cars; otherwise follow them");
  f.number("trigger_gap_m", trigger_gap_m, {"m", 0.5, 10, "between the bodies, at which a pass may begin"});
  f.number("closing_margin_mps", closing_margin_mps, {"m/s", 0, 2, "how much faster than the opponent the line must allow"});
  f.number("body_gap_m", body_gap_m, {"m", 0, 1, "between the bodies side by side, as planned"});
  f.number("least_body_gap_m", least_body_gap_m, {"m", 0, 1, "below it the opponent is in the way"});
  f.number("wall_gap_m", wall_gap_m, {"m", 0, 2, "from the body to the wall during a pass, as planned"});
  f.number("clear_margin_m", clear_margin_m, {"m", 0, 5, "lead of the centres at which a pass is over"});
  f.number("abort_unseen_s", abort_unseen_s, {"s", 0.1, 10, "a pass of an opponent unseen for longer is given up"});
  f.number("shift_accel_mps2", shift_accel_mps2, {"m/s^2", 0.2, 4, "lateral acceleration of the sideways shift alone"});
  f.number("horizon_m", horizon_m, {"m", 5, 200, "a pass that needs more track than this does not begin"});
  f.number("follow_gap_m", follow_gap_m, {"m", 0.2, 5, "between the bodies while following"});
  f.number("standing_gap_m", standing_gap_m, {"m", 0, 10, "further gap to one that stands: room to shift past it"});
  f.number("follow_decel_mps2", follow_decel_mps2, {"m/s^2", 0.5, 8, "braking that following counts on"});
}

double advance(Shift& shift, double target_m, double bend_per_m, double step_m) {
  // Below 2 cm a straight line to the target, or the square root would make it tremble.
  constexpr double kNear_per_m = 2.0;
  const double error = target_m - shift.d_m;
  const double size = std::abs(error);
  const double wanted = std::min({kSlope, std::sqrt(1.8 * bend_per_m * size), kNear_per_m * size});
  const double limit = bend_per_m * step_m;
  const double change = std::clamp(std::copysign(wanted, error) - shift.slope, -limit, limit);
  shift.slope += change;
  shift.d_m += shift.slope * step_m;
  return change / step_m;
}

Overtake::Overtake(const OvertakeParameters& parameters, double car_length_m, double car_width_m, double response_s)
    : parameters_(parameters), length_m_(car_length_m), width_m_(car_width_m), response_s_(response_s) {}

void Overtake::reset() { *this = Overtake(parameters_, length_m_, width_m_, response_s_); }

void Overtake::abandon() {
  Counters kept = counters_;
  kept.aborted += passing_ ? 1 : 0;
  reset();
  counters_ = kept;
}

double Overtake::bend(double speed_mps) const {
  return std::clamp(parameters_.shift_accel_mps2 / std::max(0.01, speed_mps * speed_mps), kGentlest_per_m, kTightest_per_m);
}

double Overtake::follow_limit(double rate_mps, double gap_m) const {
  // Behind a car that stands, the room that a shift at walking speed takes, or there would be no way past it.
  const double rest = parameters_.follow_gap_m + parameters_.standing_gap_m * std::clamp(1.0 - rate_mps / kMayStand_mps, 0.0, 1.0);
  if (gap_m < rest) return rate_mps * std::max(0.0, gap_m / rest);
  return rate_mps + stopping_speed_mps(gap_m - rest, parameters_.follow_decel_mps2, response_s_);
}

double Overtake::beside(const Opponent& o, int side) const {
  const double d = o.lateral_m + side * (width_m_ + parameters_.body_gap_m);
  // Where the line itself passes clear of the opponent there is nothing to shift.
  return side > 0 ? std::max(0.0, d) : std::min(0.0, d);
}

namespace {

/// The target shift brought within the room on its side, now and a little ahead.
double within_room(const Walker& here, const Walker& ahead, int side, double target_m, double keep_m) {
  if (side == 0) return target_m;
  const double room = std::max(0.0, std::min(here.room(side), ahead.room(side)) - keep_m);
  return side * std::min(std::abs(target_m), room);
}

}  // namespace

Overtake::Trial Overtake::try_pass(const Corridor& corridor, std::span<const Opponent> opponents, std::size_t target, int side, double s_m,
                                   double speed_mps) const {
  Trial trial;
  if (corridor.free_left_m.empty() || corridor.free_right_m.empty()) return trial;
  const tracks::Path& path = *corridor.path;
  const double keep = 0.5 * width_m_ + parameters_.wall_gap_m;
  const double in_the_way = width_m_ + parameters_.least_body_gap_m;
  std::array<double, OpponentTracker::kCapacity> lead{};  // of the car over each opponent
  const std::size_t count = std::min(opponents.size(), lead.size());
  for (std::size_t i = 0; i < count; ++i) lead[i] = lead_m(path, s_m, opponents[i].s_m);
  double wanted = beside(opponents[target], side);
  bool over = false;  // past it, on the way back to the line

  Walker here(corridor, s_m);
  Walker ahead(corridor, s_m + kRoomAhead_m);
  Shift shift = shift_;
  double v = std::max(kSlowestPass_mps, speed_mps);
  double c = passing_ ? bend_per_m_ : bend(v);
  trial.room_m = math::kInfinity;
  for (double driven = 0.0; driven < parameters_.horizon_m && !here.at_end(); driven += kStep_m) {
    c = std::min(c, bend(v));
    const double turned = advance(shift, within_room(here, ahead, side, wanted, keep), c, kStep_m);
    const double spare = here.room(side) - keep - side * shift.d_m;
    if (side * shift.d_m > 0.02) {
      if (spare < (over ? -0.5 * parameters_.wall_gap_m : -0.02)) return trial;
      if (!over) trial.room_m = std::min(trial.room_m, spare);
    }
    double limit = std::min({here.speed(), corridor.max_speed_mps, speed_on_bend(corridor, here.curvature(), shift.d_m, turned)});
    for (std::size_t i = 0; i < count; ++i) {
      const double apart = std::abs(shift.d_m - opponents[i].lateral_m);
      const double gap = -lead[i] - length_m_;
      if (apart < in_the_way && lead[i] < 0.0) {
        limit = std::min(limit, follow_limit(std::max(0.0, opponents[i].rate_mps), gap));
        if (gap < kLongitudinalSlack_m + kLag_m) return trial;
      }
      if (i == target && std::abs(lead[i]) < length_m_ + kLongitudinalSlack_m) trial.room_m = std::min(trial.room_m, apart - in_the_way);
    }
    v = std::max(kSlowestPass_mps, std::min(std::sqrt(v * v + 2.0 * corridor.accelerate_mps2 * kStep_m), limit));
    const double dt = kStep_m / v;
    for (std::size_t i = 0; i < count; ++i) {
      // Opponents take corners no faster than this line does.
      const double rate = std::max(0.0, std::min(opponents[i].rate_mps, speed_at(path, corridor.speed_mps, s_m + driven - lead[i])));
      lead[i] += kStep_m - rate * dt;
    }
    trial.length_m = driven + kStep_m;
    if (!over && lead[target] >= parameters_.clear_margin_m) {
      over = true;
      wanted = 0.0;
      c = bend(v);
    }
    if (over && std::abs(shift.d_m) < 0.1) {
      trial.fits = true;
      return trial;
    }
    here.step(kStep_m);
    ahead.step(kStep_m);
  }
  return trial;
}

double Overtake::follow_cap(const Corridor& corridor, std::span<const Opponent> opponents, double s_m, double lateral_m,
                            std::int32_t& decisive) const {
  const double in_the_way = width_m_ + parameters_.least_body_gap_m;
  const double heading_for = passing_ ? target_lateral_m_ : 0.0;
  double cap = math::kInfinity;
  for (const Opponent& o : opponents) {
    const double lead = lead_m(*corridor.path, o.s_m, s_m);
    if (lead < 0.3 * length_m_) continue;
    const bool blocks = std::abs(o.lateral_m - lateral_m) < in_the_way || std::abs(o.lateral_m - heading_for) < in_the_way;
    if (!blocks) continue;
    const double gap = lead - length_m_;
    double limit = follow_limit(std::max(0.0, o.rate_mps), gap);
    // The plan of a pass counts on moving on, however slowly.
    if (passing_ && gap > kLongitudinalSlack_m) limit = std::max(limit, kSlowestPass_mps);
    if (limit < cap) {
      cap = limit;
      decisive = o.id;
    }
  }
  return cap;
}

bool Overtake::preview(const Corridor& corridor, int side, double target_m, double bend_per_m, double& speed_cap_mps) {
  const double keep = 0.5 * width_m_ + parameters_.wall_gap_m;
  const double least = 0.5 * width_m_ + 0.4 * parameters_.wall_gap_m;
  Walker here(corridor, shift_s_m_);
  Walker ahead(corridor, shift_s_m_ + kRoomAhead_m);
  Shift shift = shift_;
  bool clear = true;
  for (std::size_t i = 0; i < kPreviewSize; ++i) {
    preview_[i] = shift.d_m;
    if (!corridor.free_left_m.empty() && std::abs(shift.d_m) > 0.05) {
      clear = clear && std::abs(shift.d_m) + least <= here.room(shift.d_m > 0.0 ? +1 : -1);
    }
    const double turned = advance(shift, within_room(here, ahead, side, target_m, keep), bend_per_m, kPreviewStep_m);
    const double v = speed_on_bend(corridor, here.curvature(), shift.d_m, turned);
    speed_cap_mps = std::min(speed_cap_mps, std::sqrt(v * v + 2.0 * corridor.brake_mps2 * kPreviewStep_m * static_cast<double>(i)));
    here.step(kPreviewStep_m);
    ahead.step(kPreviewStep_m);
  }
  return clear;
}

void Overtake::lay_out(const Corridor& corridor, double s_m, double target_m, double& speed_cap_mps) {
  const double keep = 0.5 * width_m_ + parameters_.wall_gap_m;
  const int side = passing_ && !corridor.free_left_m.empty() ? side_ : 0;
  // From where the shift was last known to where the car is now; then ahead.
  double moved = placed_ ? corridor.path->s_difference(s_m, shift_s_m_) : 0.0;
  if (std::abs(moved) > 2.0) moved = 0.0;
  if (!placed_ || moved >= 0.0) {
    Walker here(corridor, s_m - moved);
    Walker ahead(corridor, s_m - moved + kRoomAhead_m);
    while (moved > 1e-6) {
      const double step = std::min(kPreviewStep_m, moved);
      advance(shift_, within_room(here, ahead, side, target_m, keep), bend_per_m_, step);
      here.step(step);
      ahead.step(step);
      moved -= step;
    }
    shift_s_m_ = s_m;
    placed_ = true;
  }
  if (!passing_ && std::abs(shift_.d_m) < 2e-3 && std::abs(shift_.slope) < 2e-3) {
    shift_ = {};
    shifted_ = false;
    return;
  }
  shifted_ = true;
  // Where a wall comes nearer faster than the shift gives way, a tighter curve at a lower speed.
  for (;;) {
    double cap = speed_cap_mps;
    if (preview(corridor, side, target_m, bend_per_m_, cap) || bend_per_m_ >= kTightest_per_m) {
      speed_cap_mps = cap;
      return;
    }
    bend_per_m_ = std::min(1.5 * bend_per_m_, kTightest_per_m);
  }
}

void Overtake::begin_or_decline(const Corridor& corridor, std::span<const Opponent> opponents, std::size_t nearest, Time now, double s_m,
                                double speed_mps) {
  const Opponent& o = opponents[nearest];
  const double gap = lead_m(*corridor.path, o.s_m, s_m) - length_m_;
  const bool wanted = parameters_.enable && gap <= parameters_.trigger_gap_m && (now - o.seen).seconds() < 0.3 &&
                      speed_at(*corridor.path, corridor.speed_mps, s_m) - o.rate_mps > parameters_.closing_margin_mps;
  if (!wanted) {
    fit_ticks_ = 0;
    if (gap > parameters_.trigger_gap_m + 1.0) declining_ = false;
    return;
  }
  const Trial left = try_pass(corridor, opponents, nearest, +1, s_m, speed_mps);
  const Trial right = try_pass(corridor, opponents, nearest, -1, s_m, speed_mps);
  if (!left.fits && !right.fits) {
    if (!declining_) ++counters_.declined;
    declining_ = true;
    fit_ticks_ = 0;
    return;
  }
  if (++fit_ticks_ < kFitTicks) return;
  side_ = left.fits && (!right.fits || left.room_m >= right.room_m) ? +1 : -1;
  passing_ = true;
  declining_ = false;
  unfit_ticks_ = fit_ticks_ = 0;
  target_id_ = o.id;
  target_lateral_m_ = beside(o, side_);
  ++counters_.starts;
  counters_.last_side = side_;
}

Manoeuvre Overtake::update(const Corridor& corridor, std::span<const Opponent> opponents, Time now, double s_m, double lateral_m,
                           double speed_mps) {
  const tracks::Path& path = *corridor.path;
  Manoeuvre manoeuvre;
  const bool was_passing = passing_;
  if (passing_) {
    const auto target = std::find_if(opponents.begin(), opponents.end(), [&](const Opponent& o) { return o.id == target_id_; });
    if (target == opponents.end() || (now - target->seen).seconds() > parameters_.abort_unseen_s) {
      passing_ = false;
      ++counters_.aborted;
    } else {
      const double lead = lead_m(path, s_m, target->s_m);
      const auto index = static_cast<std::size_t>(target - opponents.begin());
      // Smoothed: the track of an opponent trembles by a centimetre or two.
      target_lateral_m_ += 0.15 * (beside(*target, side_) - target_lateral_m_);
      unfit_ticks_ = try_pass(corridor, opponents, index, side_, s_m, speed_mps).fits ? 0 : unfit_ticks_ + 1;
      if (lead >= parameters_.clear_margin_m) {
        passing_ = false;
        ++counters_.completed;
      } else if (unfit_ticks_ >= kUnfitTicks && lead < -(length_m_ + kLongitudinalSlack_m)) {
        passing_ = false;
        ++counters_.aborted;
      } else if (unfit_ticks_ >= kUnfitTicks && lead < 0.0 && target->rate_mps > 0.5) {
        // Beside it with no room ahead: let it go, then fall in behind.
        manoeuvre.speed_cap_mps = std::max(0.2, target->rate_mps - 0.7);
        manoeuvre.opponent = target->id;
      }
    }
  }
  if (!passing_) {
    const double in_the_way = width_m_ + parameters_.least_body_gap_m;
    std::size_t nearest = opponents.size();
    double nearest_lead = math::kInfinity;
    for (std::size_t i = 0; i < opponents.size(); ++i) {
      const double lead = lead_m(path, opponents[i].s_m, s_m);
      if (lead < 0.3 * length_m_ || lead >= nearest_lead || std::abs(opponents[i].lateral_m) >= in_the_way) continue;
      nearest = i;
      nearest_lead = lead;
    }
    if (nearest < opponents.size()) {
      begin_or_decline(corridor, opponents, nearest, now, s_m, speed_mps);
    } else {
      declining_ = false;
    }
  }
  // A shift keeps the curve it began with, gentler where the car gains speed: a curve that tightened as the car slowed for
  // it would slow the car further.
  bend_per_m_ = was_passing == passing_ ? std::min(bend_per_m_, bend(speed_mps)) : bend(speed_mps);
  lay_out(corridor, s_m, passing_ ? target_lateral_m_ : 0.0, manoeuvre.speed_cap_mps);
  const double cap = follow_cap(corridor, opponents, s_m, lateral_m, manoeuvre.opponent);
  manoeuvre.speed_cap_mps = std::min(manoeuvre.speed_cap_mps, cap);
  if (passing_) {
    manoeuvre.mode = Mode::kPass;
    manoeuvre.opponent = target_id_;
  } else if (cap < speed_at(path, corridor.speed_mps, s_m)) {
    manoeuvre.mode = Mode::kFollow;
  }
  return manoeuvre;
}

double Overtake::shift_at(const tracks::Path& path, double s_m) const {
  if (!shifted_) return 0.0;
  const double at =
      std::clamp(path.s_difference(path.wrap_s(s_m), shift_s_m_) / kPreviewStep_m, 0.0, static_cast<double>(kPreviewSize - 1));
  const auto i = std::min(static_cast<std::size_t>(at), kPreviewSize - 2);
  return preview_[i] + (at - static_cast<double>(i)) * (preview_[i + 1] - preview_[i]);
}

}  // namespace pitwall::controllers
