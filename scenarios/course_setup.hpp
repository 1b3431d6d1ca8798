// SPDX-License-Identifier: Apache-2.0
// The car under test of a scenario with a course: it maps with its own controller and races with another.
#pragma once

#include <memory>

#include "core/controller.hpp"
#include "core/geometry.hpp"
#include "core/result.hpp"
#include "core/steering_table.hpp"
#include "scenarios/resolve.hpp"

namespace pitwall::scenarios {

/// A CourseDriver. `tyres` are for the law `map`, else null; `T_map_start` is where the car starts. Errors: parameters of the controller
/// that maps; those of the one that races come up once there is a line.
Result<std::unique_ptr<Controller>> make_course_driver(const ResolvedRun& run, std::shared_ptr<const SteeringTable> tyres,
                                                       const Pose2& T_map_start);

}  // namespace pitwall::scenarios
