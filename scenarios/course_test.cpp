// SPDX-License-Identifier: Apache-2.0
// Courses that are mapped first and raced on then, in short: the whole suite is the CTest `validation_course`.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/files.hpp"
#include "scenarios/course_driver.hpp"
#include "scenarios/course_judge.hpp"
#include "scenarios/replay_run.hpp"
#include "scenarios/run.hpp"
#include "tests/support/temp_folder.hpp"
#include "tracks/track.hpp"

namespace pitwall::scenarios {
namespace {

Result<std::vector<ResolvedRun>> runs_of(const std::string& scenario, std::vector<std::string> assignments,
                                         const std::string& track = "indoor_oval") {
  ValidationOptions options;
  options.data = data_folder();
  options.scenario = scenario;
  options.tracks = {track};
  options.assignments = std::move(assignments);
  return resolve(options);
}

Outcome outcome_of(const std::string& scenario, const std::vector<std::string>& assignments, const std::string& track = "indoor_oval") {
  const auto runs = runs_of(scenario, assignments, track);
  REQUIRE_MESSAGE(runs.ok(), (runs.ok() ? "" : runs.error().message));
  const auto outcome = run_scenario(runs->front(), [] { return false; });
  REQUIRE(outcome.ok());
  return *outcome;
}

/// One mapping lap and 8 s of racing at up to 4 m/s.
const std::vector<std::string> kShort{"course.mapping_laps=1", "course.race_s=8", "course.raced_at_least_m=15",
                                      "course.distance_at_least_m=35"};

std::vector<std::string> shortly(std::vector<std::string> more) {
  more.insert(more.begin(), kShort.begin(), kShort.end());
  return more;
}

}  // namespace

TEST_CASE(
    "course: every phase comes, in its order; mapping keeps to 1 m/s; the map is where the world is; a second run has the same hash") {
  const Outcome outcome = outcome_of("course_solo", kShort);
  CHECK_MESSAGE(outcome.passed, (outcome.failure ? outcome.failure->what : ""));
  REQUIRE(outcome.course);
  double before_s = 0.0;
  for (const auto& [phase, at_s] : outcome.course->phases) {
    REQUIRE_MESSAGE(at_s, phase);
    CHECK(*at_s >= before_s);
    before_s = *at_s;
  }
  const auto& phases = outcome.course->phases;
  CHECK(phases.back().first == "racing");
  CHECK(*phases.back().second - *phases[phases.size() - 2].second >= 2.0);  // the transition stop
  // A lap of 26 m at no more than 1 m/s, and a little more where speeds are measured 3 % low.
  CHECK(*phases[static_cast<std::size_t>(CoursePhase::kLapsMapped)].second > 25.0);
  CHECK(outcome.course->laps_mapped == 1);
  CHECK(outcome.course->raced_s >= 8.0);
  CHECK(outcome.course->raced_m > 15.0);
  CHECK(outcome.max_pose_error_m < 0.12);
  CHECK(outcome.trace_hash == outcome_of("course_solo", kShort).trace_hash);
}

TEST_CASE("course: a recording replays to the bit, the SLAM included, and holds what the car made") {
  const TempFolder temp("course");
  const auto runs = runs_of("course_solo", shortly({"course.race_s=3", "course.raced_at_least_m=1", "course.distance_at_least_m=0"}));
  REQUIRE(runs.ok());
  const auto outcome = run_verified(runs->front(), {temp.path() / "run", "here"}, [] { return false; });
  REQUIRE_MESSAGE(outcome.ok(), (outcome.ok() ? "" : outcome.error().message));
  CHECK_MESSAGE(outcome->passed, outcome->replay);
  CHECK(outcome->replay.find("ego (course): identical") == 0);
  CHECK(tracks::load_map(temp.path() / "run" / "map.yaml").ok());
  const auto line = tracks::load_line(temp.path() / "run" / "raceline_profiled.csv");
  REQUIRE(line.ok());
  CHECK(std::fabs(line->path.length_m() - outcome->course->line_length_m) < 0.01);
  CHECK(tracks::load_line(temp.path() / "run" / "raceline_raw.csv").ok());
}

TEST_CASE("course: a car that stands in the way is on the map, and is passed while racing") {
  const Outcome outcome = outcome_of("course_obstacle", kShort);
  CHECK_MESSAGE(outcome.passed, (outcome.failure ? outcome.failure->what : ""));
  CHECK(outcome.course->line_clearance_m > 0.155);
}

TEST_CASE("course: slow cars ahead neither hold the SLAM back nor are touched") {
  // Between walls 1.5 m apart the car ahead is all that tells the way along: a SLAM that takes it for a wall believes to stand.
  const Outcome outcome =
      outcome_of("course_traffic", shortly({"course.mapping_laps=2", "course.raced_at_least_m=1", "course.race_s=3"}), "asb_10000");
  CHECK_MESSAGE(outcome.passed, (outcome.failure ? outcome.failure->what : ""));
  CHECK(outcome.max_pose_error_m < 0.2);
  CHECK(outcome.course->line_length_m > 47.0);
  CHECK(outcome.course->line_length_m < 52.0);
}

TEST_CASE("course: what is raced counts, not what was driven in all") {
  const Outcome outcome = outcome_of("course_solo", {"course.mapping_laps=1", "course.race_s=8", "speed.v_max_mps=0.6"});
  CHECK_FALSE(outcome.passed);
  REQUIRE(outcome.failure);
  CHECK_MESSAGE(outcome.failure->what.find("raced ") == 0, outcome.failure->what);
  CHECK(outcome.failure->what.find("at least 25 m") != std::string::npos);
  const Outcome in_all = outcome_of("course_solo", shortly({"course.distance_at_least_m=200"}));
  REQUIRE(in_all.failure);
  CHECK_MESSAGE(in_all.failure->what.find("driven in all ") == 0, in_all.failure->what);
}

TEST_CASE("course: a phase that is missing is named") {
  const Outcome late = outcome_of("course_solo", {"timeout_s=10"});
  CHECK_FALSE(late.passed);
  REQUIRE(late.failure);
  CHECK_MESSAGE(late.failure->what.find("phase 'laps mapped' missing") != std::string::npos, late.failure->what);
  // A lap that needs more clearance than the car has had: a map, but no line.
  const Outcome refused = outcome_of("course_solo", shortly({"pure_pursuit.min_speed_mps=2.9", "pure_pursuit.max_speed_mps=2.5"}));
  REQUIRE(refused.failure);
  CHECK_MESSAGE(refused.failure->what.find("phase 'profile loaded' missing: no race controller: ") == 0, refused.failure->what);
  CHECK(refused.sim_time_s < 60.0);
  CHECK(refused.course->raced_m == 0.0);
}

TEST_CASE("course: what cannot be one is refused") {
  const auto refusal = [](std::vector<std::string> assignments) {
    const auto runs = runs_of("course_solo", std::move(assignments));
    return runs.ok() ? std::string("not refused") : runs.error().message;
  };
  CHECK(refusal({"localization=truth"}).find("no other poses than 'scan'") != std::string::npos);
  CHECK(refusal({"cars.ego.controller=pure_pursuit"}).find("a course is mapped by 'gap_follow', not 'pure_pursuit'") != std::string::npos);
  CHECK(refusal({"course.race_controller=pure_persuit"}).find("did you mean 'pure_pursuit'") != std::string::npos);
}

}  // namespace pitwall::scenarios
