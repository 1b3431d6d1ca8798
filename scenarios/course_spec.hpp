// SPDX-License-Identifier: Apache-2.0
// What a scenario says of a course that is mapped first and raced on then (key `course`).
#pragma once

#include <cstdint>
#include <string>

#include "core/fields.hpp"
#include "core/node.hpp"
#include "core/result.hpp"

namespace pitwall::scenarios {

struct CourseSpec {
  std::int64_t mapping_laps = 0;  ///< driven by the car's own controller, gap_follow; 0: no mapping, the track's own map and line
  double mapping_max_speed_mps = 1.0;
  double transition_stop_s = 2.0;
  std::string race_controller = "pure_pursuit";
  double race_s = 60.0;
  double distance_at_least_m = 40.0;  ///< in all
  double raced_at_least_m = 25.0;     ///< of it while racing: the distance in all hides a car that stands once it should race
  void fields(FieldVisitor& f);
  [[nodiscard]] bool wanted() const { return mapping_laps > 0; }
};

/// The parameters of gap_follow, every one, with no speed above that. Errors as of controllers::complete_parameters.
Result<Node> gap_follow_at_most(const Node& parameters, double speed_mps);

}  // namespace pitwall::scenarios
