// SPDX-License-Identifier: Apache-2.0
// The suite `faults` passes, and each of its stops would not without the watchdog that gives it.
#include <doctest/doctest.h>

#include "core/files.hpp"
#include "scenarios/resolve.hpp"
#include "scenarios/run.hpp"

using namespace pitwall;
using namespace pitwall::scenarios;

namespace {

ValidationOptions on_one_track(const std::string& scenario, std::vector<std::string> assignments = {}) {
  ValidationOptions options;
  options.data = data_folder();
  options.scenario = scenario;
  options.tracks = {"larkfield"};
  options.assignments = std::move(assignments);
  return options;
}

Outcome outcome_of(const ResolvedRun& run) {
  auto outcome = run_scenario(run, [] { return false; });
  REQUIRE(outcome.ok());
  return *std::move(outcome);
}

struct Disabled {
  const char* scenario;
  std::vector<std::string> assignments;
};

}  // namespace

TEST_CASE("the suite faults passes: no contact, stops in time, back on the line") {
  const auto runs = resolve(on_one_track("faults"));
  REQUIRE(runs.ok());
  std::vector<bool> kinds(sim::kFaultKindNames.size(), false);
  for (const ResolvedRun& run : *runs) {
    CAPTURE(run.scenario.id);
    REQUIRE(run.faults.size() == 1);
    kinds[static_cast<std::size_t>(run.faults[0].kind)] = true;
    const Outcome outcome = outcome_of(run);
    CHECK(outcome.passed);
    CHECK_FALSE(outcome.collision);
    REQUIRE(outcome.faults.size() == 1);
    CHECK(outcome.faults[0].passed);
    CHECK(outcome.faults[0].began_s.has_value());
    if (run.faults[0].expect == Expect::kNothing) continue;
    CHECK(outcome.faults[0].answered_s.value() <= outcome.faults[0].allowed_s.value());
  }
  for (const bool kind : kinds) CHECK(kind);
}

TEST_CASE("without its watchdog each fault that one answers fails its criterion") {
  const std::string pure = "pure_pursuit.";
  const std::string gap = "gap_follow.";
  // 2 s is longer than the faults last: the watchdog never acts. Lost and stale poses are also caught as frozen ones.
  const std::vector<Disabled> all = {
      {"pure_pose_frozen", {pure + "pose_frozen_time_s=5"}},
      {"pure_pose_stale", {pure + "pose_timeout_s=2", pure + "pose_frozen_time_s=5"}},
      {"pure_pose_loss", {pure + "pose_timeout_s=2", pure + "pose_frozen_time_s=5"}},
      {"pure_scan_loss", {pure + "scan_timeout_s=2"}},
      {"pure_odometry_loss", {pure + "odometry_timeout_s=2"}},
      {"pure_joy_loss", {pure + "joy_timeout_s=2"}},
      {"pure_deadman_released", {pure + "enable_deadman=false"}},
      {"pure_command_loss", {"world.command_timeout_s=0"}},
      {"gap_scan_loss", {"world.command_timeout_s=0"}},
      {"gap_odometry_loss", {gap + "odometry_timeout_s=2"}},
      {"gap_joy_loss", {gap + "joy_timeout_s=2"}},
      {"gap_deadman_released", {gap + "enable_deadman=false"}},
      {"gap_command_loss", {"world.command_timeout_s=0"}},
  };
  for (const Disabled& without : all) {
    CAPTURE(without.scenario);
    const auto runs = resolve(on_one_track(without.scenario, without.assignments));
    REQUIRE(runs.ok());
    const Outcome outcome = outcome_of(runs->front());
    CHECK_FALSE(outcome.passed);
    REQUIRE(outcome.faults.size() == 1);
    CHECK_FALSE(outcome.faults[0].passed);
    REQUIRE(outcome.failure.has_value());
    CHECK(outcome.failure->what.find("commanded at its deadline") != std::string::npos);
  }
}

TEST_CASE("every stop of the suite is one that the test above takes the watchdog from") {
  const auto runs = resolve(on_one_track("faults"));
  REQUIRE(runs.ok());
  int stops = 0;
  for (const ResolvedRun& run : *runs) stops += run.faults[0].expect == Expect::kStop ? 1 : 0;
  CHECK(stops == 13);
}
