// SPDX-License-Identifier: Apache-2.0
// Whether a car that mapped its course raced on it: every phase in its order, the time, and the distances by the truth of the world.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "scenarios/course_driver.hpp"
#include "scenarios/course_spec.hpp"
#include "scenarios/outcome.hpp"
#include "sim/world.hpp"

namespace pitwall::scenarios {

/// Call after_step() after every World::step().
class CourseJudge {
 public:
  CourseJudge(const CourseSpec& spec, std::shared_ptr<const CourseState> state) : spec_(spec), state_(std::move(state)) {}
  void after_step(const sim::World& world);

  /// All phases done, and everything that the spec asks of the racing.
  [[nodiscard]] bool raced() const { return done_ && !wrong_; }
  /// What can no longer come right.
  [[nodiscard]] const std::optional<std::string>& wrong() const { return wrong_; }
  /// "phase 'line cleaned' missing", or how long it has raced.
  [[nodiscard]] std::string missing() const;
  [[nodiscard]] CourseOutcome report() const;

 private:
  [[nodiscard]] std::optional<std::string> falls_short() const;
  [[nodiscard]] bool in_order() const;

  CourseSpec spec_;
  std::shared_ptr<const CourseState> state_;
  std::optional<Vec2> last_;
  double distance_m_ = 0.0;
  double raced_m_ = 0.0;
  double raced_s_ = 0.0;
  bool done_ = false;
  std::optional<std::string> wrong_;
};

}  // namespace pitwall::scenarios
