// SPDX-License-Identifier: Apache-2.0
#include "scenarios/course_spec.hpp"

#include "controllers/make.hpp"
#include "core/check.hpp"
#include "core/text.hpp"

namespace pitwall::scenarios {

void CourseSpec::fields(FieldVisitor& f) {
  f.integer("mapping_laps", mapping_laps, {"", 0, 100, "laps to map the course with; 0: the track's own map and line"});
  f.number("mapping_max_speed_mps", mapping_max_speed_mps, {"m/s", 0.3, 10, "while mapping"});
  f.number("transition_stop_s", transition_stop_s, {"s", 0, 60, "stands before it races"});
  f.text("race_controller", race_controller, "that races on the line made");
  f.number("race_s", race_s, {"s", 0.1, 1e5, "to race"});
  f.number("distance_at_least_m", distance_at_least_m, {"m", 0, 1e6, "driven in all"});
  f.number("raced_at_least_m", raced_at_least_m, {"m", 0, 1e6, "driven while racing"});
}

Result<Node> gap_follow_at_most(const Node& parameters, double speed_mps) {
  Result<Node> all = controllers::complete_parameters("gap_follow", parameters);
  if (!all) return all;
  for (const char* key : {"min_speed_mps", "corner_speed_mps", "corner_speed_wide_mps", "max_speed_mps"}) {
    Node* value = all->find(key);
    PITWALL_CHECK(value != nullptr, key);
    const auto said = parse_double(value->scalar);
    if (said && *said > speed_mps) *value = Node(format_exact(speed_mps));
  }
  return all;
}

}  // namespace pitwall::scenarios
