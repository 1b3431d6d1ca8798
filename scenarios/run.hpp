// SPDX-License-Identifier: Apache-2.0
// One run: assemble the world that a resolved scenario describes, step it to its end, judge it. The only place where a
// car, a track, a plant, sensors and a controller come together.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/controller.hpp"
#include "core/result.hpp"
#include "scenarios/outcome.hpp"
#include "scenarios/resolve.hpp"
#include "sim/world.hpp"

namespace pitwall::scenarios {

/// The controller of each car, as made, for a world or for a replay.
Result<std::vector<std::unique_ptr<Controller>>> make_controllers(const ResolvedRun& run);

/// What is to stand in for a controller, such as a stopwatch around it.
using AroundController = std::function<std::unique_ptr<Controller>(std::unique_ptr<Controller>)>;

/// The world of a run at t = 0. Bad combinations (a start pose in a wall, parameters out of range) are errors.
Result<sim::World> assemble(const ResolvedRun& run, const AroundController& around_car_0 = {});

/// The line that the cars follow.
const tracks::Path& followed_path(const ResolvedRun& run);

struct CourseState;
/// How far the car under test has come with the course that it maps; null where it maps none.
std::shared_ptr<const CourseState> course_of(const sim::World& world);

/// Who accompanies a run from outside; each may be empty. An error of `begin` or `end` is the run's.
struct RunHooks {
  AroundController around;  ///< the controller of the car under test; not for one that maps a course
  std::function<Status(sim::World&)> begin;
  std::function<void(const sim::World&)> after_step;
  std::function<Status(sim::World&)> end;
};

/// Runs to the end: criteria met, contact, off the map, a controller that failed, or the timeout. `interrupted` is asked
/// now and then and ends the run early. Errors are bad input; whatever happens in the world is an Outcome.
Result<Outcome> run_scenario(const ResolvedRun& run, const std::function<bool()>& interrupted, const RunHooks& hooks);
Result<Outcome> run_scenario(const ResolvedRun& run, const std::function<bool()>& interrupted);

}  // namespace pitwall::scenarios
