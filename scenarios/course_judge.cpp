// SPDX-License-Identifier: Apache-2.0
#include "scenarios/course_judge.hpp"

#include "core/text.hpp"

namespace pitwall::scenarios {

void CourseJudge::after_step(const sim::World& world) {
  const Vec2 here = world.car(0).T_map_base.position();
  const double step_m = last_ ? distance(*last_, here) : 0.0;
  last_ = here;
  distance_m_ += step_m;
  const auto& racing = state_->reached[static_cast<std::size_t>(CoursePhase::kRacing)];
  if (racing) {
    raced_m_ += step_m;
    raced_s_ = (world.now() - *racing).seconds();
  }
  if (!wrong_ && !state_->failed.empty()) wrong_ = missing() + ": " + state_->failed;
  if (done_ || raced_s_ < spec_.race_s) return;
  done_ = true;
  if (!wrong_) wrong_ = falls_short();
}

bool CourseJudge::in_order() const {
  for (std::size_t i = 1; i < state_->reached.size(); ++i) {
    if (!state_->reached[i] || *state_->reached[i] < *state_->reached[i - 1]) return false;
  }
  return true;
}

std::optional<std::string> CourseJudge::falls_short() const {
  if (state_->missing() || !in_order()) return "the phases of the course are not in order: " + missing();
  const auto far = [](const char* what, double m, double least_m) {
    return std::string(what) + " " + format_number(m, 4) + " m, at least " + format_number(least_m, 4) + " m are needed";
  };
  if (raced_m_ < spec_.raced_at_least_m) return far("raced", raced_m_, spec_.raced_at_least_m);
  if (distance_m_ < spec_.distance_at_least_m) return far("driven in all", distance_m_, spec_.distance_at_least_m);
  return std::nullopt;
}

std::string CourseJudge::missing() const {
  if (const auto phase = state_->missing()) {
    std::string what = "phase '" + std::string(*phase) + "' missing";
    if (state_->has(CoursePhase::kLapsMapped) || state_->laps == nullptr) return what;
    const std::size_t closed = state_->laps->closed().size();
    return what + " (lap " + std::to_string(closed + 1) + " of " + std::to_string(spec_.mapping_laps) +
           " not closed: " + join(state_->laps->current().missing, "; ") + ")";
  }
  return "raced " + format_number(raced_m_, 4) + " m in " + format_number(raced_s_, 4) + " of " + format_number(spec_.race_s, 4) + " s";
}

CourseOutcome CourseJudge::report() const {
  CourseOutcome outcome;
  for (std::size_t i = 0; i < kCoursePhases.size(); ++i) {
    const auto& at = state_->reached[i];
    outcome.phases.emplace_back(std::string(kCoursePhases[i]), at ? std::optional<double>(at->seconds()) : std::nullopt);
  }
  outcome.distance_m = distance_m_;
  outcome.raced_m = raced_m_;
  outcome.raced_s = raced_s_;
  outcome.scans_dropped = state_->scans_dropped;
  if (state_->laps != nullptr) outcome.laps_mapped = static_cast<std::int64_t>(state_->laps->closed().size());
  if (state_->course && state_->course->line) {
    outcome.line_length_m = state_->course->line->path.length_m();
    outcome.line_clearance_m = state_->course->line->clearance_m;
  }
  return outcome;
}

}  // namespace pitwall::scenarios
