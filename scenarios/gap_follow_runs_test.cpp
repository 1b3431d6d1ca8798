// SPDX-License-Identifier: Apache-2.0
// gap_follow in profile `car`, as its sweeps drive it: the indoor layouts, and cars among cars.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/files.hpp"
#include "scenarios/gap_sweeps.hpp"
#include "scenarios/run.hpp"

namespace pitwall::scenarios {
namespace {

constexpr std::int64_t kSeeds = 6;

ValidationOptions options_on(const std::string& tracks, std::int64_t seeds = kSeeds) {
  ValidationOptions options;
  options.data = data_folder();
  options.tracks = {tracks};
  options.repeat_seeds = seeds;
  return options;
}

std::vector<Outcome> driven(const Result<std::vector<ResolvedRun>>& runs) {
  REQUIRE_MESSAGE(runs.ok(), (runs.ok() ? "" : runs.error().message));
  std::vector<Outcome> outcomes;
  for (const ResolvedRun& run : *runs) {
    const auto outcome = run_scenario(run, [] { return false; });
    REQUIRE(outcome.ok());
    outcomes.push_back(*outcome);
  }
  return outcomes;
}

std::vector<Outcome> three_cars(bool aware, const std::vector<double>& speeds_mps, std::int64_t seeds, double laps) {
  ValidationOptions options = options_on("indoor_wide", seeds);
  options.assignments = {std::string("enable_opponent_awareness=") + (aware ? "true" : "false")};
  return driven(gap_multi_runs(options, {speeds_mps, laps}));
}

double followed_steps(const std::vector<Outcome>& outcomes) {
  double steps = 0.0;
  for (const Outcome& o : outcomes) {
    for (const auto& [name, value] : o.counters) steps += name == "follow_steps" ? value : 0.0;
  }
  return steps;
}

TEST_CASE("gap_follow comes round every indoor layout, corridors of 1.4 to 2.6 m, 6 of 6 seeds without contact") {
  const std::vector<GapSweepRow> rows = gap_sweep_rows(driven(gap_sweep_runs(options_on("indoor"), 1.0)));
  REQUIRE(rows.size() == 4);
  for (const GapSweepRow& row : rows) {
    CAPTURE(row.track);
    CHECK(row.runs == kSeeds);
    CHECK(row.passed == kSeeds);
    CHECK(row.contacts == 0);
    CHECK(row.min_clearance_m > 0.1);
  }
}

TEST_CASE("three cars of 1.8, 3.5 and 3.5 m/s that know of each other: no contact in 6 of 6 seeds") {
  const std::vector<GapMultiRow> rows = gap_multi_rows(three_cars(true, {1.8, 3.5, 3.5}, kSeeds, 2.0));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].passed == kSeeds);
  CHECK(rows[0].wall == 0);
  CHECK(rows[0].car_car == 0);
  CHECK(rows[0].stalls == 0);
}

TEST_CASE("behind a slower car awareness follows it, and switched off nothing does") {
  CHECK(followed_steps(three_cars(true, {3.5, 1.8, 3.5}, 2, 3.0)) > 10.0);
  CHECK(followed_steps(three_cars(false, {3.5, 1.8, 3.5}, 2, 3.0)) == 0.0);
}

}  // namespace
}  // namespace pitwall::scenarios
