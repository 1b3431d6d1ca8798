// SPDX-License-Identifier: Apache-2.0
#include "scenarios/fault_judge.hpp"

#include <algorithm>
#include <cmath>

#include "core/text.hpp"

namespace pitwall::scenarios {

FaultJudge::FaultJudge(const std::vector<FaultSpec>& specs, const sim::World& world, double lidar_period_s)
    : specs_(specs), cases_(specs.size()) {
  for (std::size_t k = 0; k < specs_.size(); ++k) {
    const Controller* controller = world.controller(world.surroundings().faults[k].car);
    const std::optional<Duration> period = controller == nullptr ? std::nullopt : controller->trigger().period;
    ticks_.push_back(period.value_or(from_seconds(lidar_period_s)));
  }
}

std::string FaultJudge::fail(std::size_t k, const std::string& what) {
  cases_[k].judged = true;
  cases_[k].failed = true;
  return "fault '" + specs_[k].name + "': " + what;
}

std::optional<std::string> FaultJudge::after_step(const sim::World& world, double cross_track_m) {
  std::optional<std::string> first;
  for (std::size_t k = 0; k < specs_.size(); ++k) {
    const sim::FaultRecord& record = world.fault_records()[k];
    Case& c = cases_[k];
    if (c.judged) continue;
    std::optional<std::string> wrong;
    if (!record.begun) {
      c.was_driving = world.car(world.surroundings().faults[k].car).driven_speed_mps != 0.0;
      if (record.over) wrong = fail(k, "never acted");
    } else if (specs_[k].expect == Expect::kStop) {
      wrong = judge_stop(k, world);
    } else if (specs_[k].expect == Expect::kRecover) {
      wrong = judge_recovery(k, world, cross_track_m);
    } else {
      c.max_cross_track_m = std::max(c.max_cross_track_m, std::abs(cross_track_m));
      c.judged = record.over || world.now() > record.ended + from_seconds(1.0);
    }
    if (wrong && !first) first = wrong;
  }
  return first;
}

std::optional<std::string> FaultJudge::judge_stop(std::size_t k, const sim::World& world) {
  const sim::FaultRecord& record = world.fault_records()[k];
  const sim::CarState& car = world.car(world.surroundings().faults[k].car);
  Case& c = cases_[k];
  if (!c.was_driving) return fail(k, "the car was not driving when it began");
  c.deadline = record.last_good + from_seconds(specs_[k].within_s) + ticks_[k];
  const bool zero = car.driven_speed_mps == 0.0;
  if (zero && !c.answered) {
    c.answered = car.driven_since;
    c.reason = car.command_timed_out ? "command_timeout" : std::string(name(car.command.reason));
  }
  if (c.stopped && !zero) ++c.resumed;
  c.stopped = zero;
  if (world.now() <= c.deadline) return std::nullopt;
  if (!c.answered || *c.answered > c.deadline) {
    return fail(k, "speed " + format_number(car.driven_speed_mps, 3) + " m/s commanded at its deadline, " +
                       format_number((c.deadline - record.last_good).seconds(), 4) + " s after the last good input");
  }
  if (!zero && !record.over && specs_[k].kind != sim::FaultKind::kPoseFrozen) return fail(k, "the car was driven again while it lasted");
  c.judged = record.over;
  return std::nullopt;
}

std::optional<std::string> FaultJudge::judge_recovery(std::size_t k, const sim::World& world, double cross_track_m) {
  const sim::FaultRecord& record = world.fault_records()[k];
  Case& c = cases_[k];
  const double off = std::abs(cross_track_m);
  c.max_cross_track_m = std::max(c.max_cross_track_m, off);
  c.deadline = record.ended + from_seconds(specs_[k].within_s);
  if (off >= specs_[k].back_within_m) {
    c.answered.reset();
  } else if (!c.answered && world.now() >= record.ended) {
    c.answered = world.now();
  }
  if (world.now() < c.deadline) return std::nullopt;
  c.judged = true;
  if (off < specs_[k].back_within_m) return std::nullopt;
  return fail(k, format_number(off, 3) + " m from the line " + format_number(specs_[k].within_s, 3) + " s after its end, allowed below " +
                     format_number(specs_[k].back_within_m, 3) + " m");
}

bool FaultJudge::done() const {
  return std::all_of(cases_.begin(), cases_.end(), [](const Case& c) { return c.judged; });
}

std::vector<FaultOutcome> FaultJudge::outcomes(const sim::World& world) const {
  std::vector<FaultOutcome> all;
  for (std::size_t k = 0; k < specs_.size(); ++k) {
    const sim::Fault& fault = world.surroundings().faults[k];
    const sim::FaultRecord& record = world.fault_records()[k];
    const Case& c = cases_[k];
    FaultOutcome out;
    out.name = fault.name;
    out.kind = std::string(sim::kFaultKindNames[static_cast<std::size_t>(fault.kind)]);
    out.car = world.name(fault.car);
    out.start_s = fault.start_s;
    out.length_s = fault.length_s;
    out.size = fault.size;
    out.seed = fault.seed;
    out.expect = std::string(kExpectations[static_cast<std::size_t>(specs_[k].expect)]);
    if (record.begun) {
      out.began_s = record.began.seconds();
      out.ended_s = record.ended.seconds();
      const Time from = specs_[k].expect == Expect::kStop ? record.last_good : record.ended;
      if (specs_[k].expect != Expect::kNothing) out.allowed_s = (c.deadline - from).seconds();
      if (c.answered) out.answered_s = std::max(0.0, (*c.answered - from).seconds());
    }
    out.answer = c.reason;
    out.resumed = c.resumed;
    out.max_cross_track_m = c.max_cross_track_m;
    out.passed = c.judged && !c.failed;
    all.push_back(std::move(out));
  }
  return all;
}

}  // namespace pitwall::scenarios
