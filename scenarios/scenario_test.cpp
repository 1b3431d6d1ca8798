// SPDX-License-Identifier: Apache-2.0
#include "scenarios/scenario.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>

#include "core/files.hpp"
#include "scenarios/resolve.hpp"
#include "scenarios/run.hpp"
#include "scenarios/runner.hpp"

using namespace pitwall;
using namespace pitwall::scenarios;

namespace {

ValidationOptions short_gap_run(const std::string& track) {
  ValidationOptions options;
  options.data = data_folder();
  options.scenario = "gap";
  options.tracks = {track};
  options.timeout_s = 2.0;
  return options;
}

Result<std::vector<NamedScenario>> suite_of(const std::string& text, const std::vector<std::string>& assignments = {}) {
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "pitwall_scenario_test.yaml";
  REQUIRE(write_file(file, text).ok());
  auto suite = load_suite(file, assignments);
  std::filesystem::remove(file);
  return suite;
}

Outcome run_once(const ResolvedRun& run) {
  auto outcome = run_scenario(run, [] { return false; });
  REQUIRE(outcome.ok());
  return *std::move(outcome);
}

const std::string kOneCar = "a:\n  cars:\n    ego: {controller: gap_follow}\n";

}  // namespace

TEST_CASE("the suite that ships loads, with the criteria of gap, pure and traffic") {
  const auto suite = load_suite(data_folder() / "suites/validation.yaml", {});
  REQUIRE(suite.ok());
  REQUIRE(suite->size() == 3);
  CHECK((*suite)[0].name == "gap");
  CHECK((*suite)[0].scenario.criteria.laps_at_least == 1.0);
  CHECK((*suite)[1].scenario.criteria.cross_track_below_m == 0.5);
  CHECK((*suite)[2].scenario.criteria.passes_at_least == 1);
  CHECK((*suite)[2].scenario.tracks == OnTracks::kFirst);
  const auto cars = load_cars((*suite)[2].scenario);
  REQUIRE(cars.ok());
  CHECK((*cars)[0].name == "ego");
  CHECK((*cars)[1].start_s_m == 6.0);
  CHECK_FALSE((*cars)[1].sensing_errors);
}

TEST_CASE("an unknown key of a scenario is refused with file, line and the nearest name") {
  const auto suite = suite_of(kOneCar + "  timeout: 3\n");
  REQUIRE_FALSE(suite.ok());
  CHECK(suite.error().message.find(".yaml:4") != std::string::npos);
  CHECK(suite.error().message.find("did you mean 'a.timeout_s'") != std::string::npos);
}

TEST_CASE("an unknown controller and a car without a controller are refused") {
  CHECK(suite_of("a:\n  cars:\n    ego: {controller: gap_folow}\n").error().message.find("did you mean 'gap_follow'") != std::string::npos);
  CHECK_FALSE(suite_of("a:\n  cars:\n    ego: {start_s_m: 1}\n").ok());
  CHECK_FALSE(suite_of("a: {timeout_s: 3}\n").ok());
  CHECK_FALSE(suite_of("a: 3\n").ok());
}

TEST_CASE("--set reaches every scenario, and a typing error in it is refused") {
  const auto suite = suite_of(kOneCar, {"timeout_s=3.5", "world.seed=9", "cars.ego.start_s_m=2"});
  REQUIRE(suite.ok());
  CHECK(suite->front().scenario.timeout_s == 3.5);
  CHECK(suite->front().scenario.world.seed == 9);
  CHECK(load_cars(suite->front().scenario)->front().start_s_m == 2.0);
  CHECK(suite_of(kOneCar, {"word.seed=9"}).error().message.find("did you mean 'a.world'") != std::string::npos);
}

TEST_CASE("seeds and tracks multiply, quick keeps the first track") {
  ValidationOptions options = short_gap_run("indoor_oval");
  options.tracks = {"indoor_oval", "indoor_wide"};
  options.repeat_seeds = 3;
  options.seed = 100;
  auto runs = resolve(options);
  REQUIRE(runs.ok());
  REQUIRE(runs->size() == 6);
  CHECK((*runs)[0].scenario.world.seed == 100);
  CHECK((*runs)[1].scenario.track == "indoor_wide");
  CHECK((*runs)[5].scenario.world.seed == 102);
  options.quick = true;
  CHECK(resolve(options)->size() == 3);
}

TEST_CASE("a wrong track, car, scenario or line is refused by name") {
  ValidationOptions options = short_gap_run("indor_oval");
  CHECK(resolve(options).error().message.find("indoor_oval") != std::string::npos);
  options = short_gap_run("indoor_oval");
  options.car = "rb22";
  CHECK(resolve(options).error().message.find("unknown car") != std::string::npos);
  options = short_gap_run("indoor_oval");
  options.scenario = "gaps";
  CHECK(resolve(options).error().message.find("did you mean 'gap'") != std::string::npos);
  options = short_gap_run("indoor_oval");
  options.raceline = LineChoice::kOptimized;
  CHECK(resolve(options).error().message.find("no optimised line") != std::string::npos);
}

TEST_CASE("a resolved scenario leaves nothing open and runs again to the same hash") {
  const auto runs = resolve(short_gap_run("indoor_oval"));
  REQUIRE(runs.ok());
  const Outcome first = run_once(runs->front());
  Scenario resolved = runs->front().scenario;
  CHECK(resolved.resolved());
  CHECK(resolved.world.surface_friction > 0.0);
  resolved.trace_hash = first.trace_hash;
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "pitwall_resolved_test.yaml";
  REQUIRE(write_file(file, to_suite_yaml(resolved, "gap")).ok());
  ValidationOptions again;
  again.data = data_folder();
  again.scenario = file.string();
  const auto rerun = resolve(again);
  REQUIRE(rerun.ok());
  REQUIRE(rerun->size() == 1);
  CHECK(rerun->front().expected_trace_hash == first.trace_hash);
  CHECK(run_once(rerun->front()).trace_hash == first.trace_hash);
  again.seed = 3;
  CHECK(resolve(again).error().message.find("pins everything") != std::string::npos);
  std::filesystem::remove(file);
}

TEST_CASE("the hash of a run depends on the seed and on nothing else that is not in the scenario") {
  ValidationOptions options = short_gap_run("indoor_oval");
  const auto runs = resolve(options);
  options.seed = 12346;
  const auto other = resolve(options);
  REQUIRE(runs.ok());
  REQUIRE(other.ok());
  const std::string hash = run_once(runs->front()).trace_hash;
  CHECK(run_once(runs->front()).trace_hash == hash);
  CHECK(run_once(other->front()).trace_hash != hash);
}

TEST_CASE("a timeout is a failure that says what is missing") {
  const auto runs = resolve(short_gap_run("indoor_oval"));
  REQUIRE(runs.ok());
  const Outcome outcome = run_once(runs->front());
  CHECK_FALSE(outcome.passed);
  REQUIRE(outcome.failure.has_value());
  CHECK(outcome.failure->what.find("timeout") != std::string::npos);
  CHECK(outcome.sim_time_s == 2.0);
}

TEST_CASE("an interrupted run is neither passed nor failed") {
  const auto runs = resolve(short_gap_run("indoor_oval"));
  REQUIRE(runs.ok());
  const auto outcome = run_scenario(runs->front(), [] { return true; });
  REQUIRE(outcome.ok());
  CHECK(outcome->interrupted);
  CHECK_FALSE(outcome->passed);
}

TEST_CASE("driving into the wall fails with place and partner") {
  ValidationOptions options = short_gap_run("indoor_oval");
  options.timeout_s = 20.0;
  // Too fast to stop within the 1.8 m corridor, and headed for its outer wall.
  options.assignments = {"cars.ego.start_heading_rad=-0.8", "cars.ego.start_speed_mps=10"};
  options.fidelity = plant::Fidelity::kPlant;
  const auto runs = resolve(options);
  REQUIRE(runs.ok());
  const Outcome outcome = run_once(runs->front());
  CHECK(outcome.collision);
  REQUIRE(outcome.failure.has_value());
  CHECK(outcome.failure->what.find("touched the wall") != std::string::npos);
  REQUIRE(outcome.contact.has_value());
  CHECK(outcome.contact->partner == "wall");
  CHECK(outcome.contact->closing_speed_mps > 0.1);
}

TEST_CASE("beside the middle of a corridor the mean offset is the car's own") {
  ValidationOptions options = short_gap_run("larkfield");
  options.timeout_s = 0.1;
  options.assignments = {"cars.ego.start_lateral_m=0.3"};
  const auto runs = resolve(options);
  REQUIRE(runs.ok());
  const Outcome outcome = run_once(runs->front());
  CHECK(outcome.corridor_samples > 0);
  CHECK(outcome.mean_corridor_offset_m == doctest::Approx(0.3).epsilon(0.1));
  CHECK(outcome.max_cross_track_m == doctest::Approx(0.3).epsilon(0.02));
  CHECK(outcome.min_clearance_m == doctest::Approx(1.1 - 0.3 - 0.155).epsilon(0.1));
}

TEST_CASE("an overtaken car is one completed pass of the car under test, none of the other") {
  ValidationOptions options = short_gap_run("larkfield");
  options.scenario = "traffic";
  options.timeout_s = 20.0;
  const auto runs = resolve(options);
  REQUIRE(runs.ok());
  const Outcome outcome = run_once(runs->front());
  CHECK(outcome.completed_passes == 1);
  CHECK_FALSE(outcome.collision);
  CHECK_FALSE(outcome.opponent_collision);
  CHECK(outcome.accumulated_progress_m > 46.0);
}

TEST_CASE("a start in a wall is refused by name") {
  ValidationOptions options = short_gap_run("indoor_oval");
  options.assignments = {"cars.ego.start_lateral_m=0.9"};
  const auto runs = resolve(options);
  REQUIRE(runs.ok());
  const auto outcome = run_scenario(runs->front(), [] { return false; });
  REQUIRE_FALSE(outcome.ok());
  CHECK(outcome.error().message.find("ego") != std::string::npos);
}

TEST_CASE("what a run throws, on any of the workers, arrives at the caller with the name of the run") {
  ValidationOptions options = short_gap_run("indoor_oval");
  options.repeat_seeds = 4;
  const auto runs = resolve(options);
  REQUIRE(runs.ok());
  for (const int jobs : {1, 3}) {
    std::vector<std::int64_t> finished;
    const auto throws_third = [](const ResolvedRun& run, const std::function<bool()>&) -> Result<Outcome> {
      if (run.scenario.world.seed == 12347) throw std::runtime_error("out of order");
      Outcome outcome;
      outcome.seed = run.scenario.world.seed;
      return outcome;
    };
    const std::atomic<bool> stop{false};
    const auto go = [&] {
      return run_all(
                 *runs, jobs, stop, [&](const Finished& one) { finished.push_back(one.outcome.seed); }, throws_third)
          .ok();
    };
    CHECK_THROWS_WITH_AS(go(), "gap_solo on indoor_oval, seed 12347: out of order", std::runtime_error);
    REQUIRE(finished.size() >= 2);
    CHECK(finished[0] == 12345);
    CHECK(finished[1] == 12346);
  }
}

TEST_CASE("what is said twice, or has already been decided, is refused") {
  ValidationOptions options = short_gap_run("indoor_oval");
  options.assignments = {" timeout_s = 3"};
  CHECK_FALSE(resolve(options).ok());
  options.timeout_s.reset();
  CHECK(resolve(options).ok());
  options.assignments = {"car=rb1"};
  CHECK(resolve(options).ok());
  options.car = "rb2";  // as from PITWALL_CAR: only a wish
  const auto wished = resolve(options);
  REQUIRE(wished.ok());
  CHECK(wished->front().scenario.car == "rb1");
  options.car_given = true;
  CHECK_FALSE(resolve(options).ok());
}

TEST_CASE("seeds end at the largest one") {
  ValidationOptions options = short_gap_run("indoor_oval");
  options.seed = kLargestSeed - 1;
  options.repeat_seeds = 2;
  const auto runs = resolve(options);
  REQUIRE(runs.ok());
  CHECK(run_once(runs->back()).seed == kLargestSeed);
  options.repeat_seeds = 3;
  CHECK_FALSE(resolve(options).ok());
}

TEST_CASE("an interrupt while runs are resolved keeps those there are") {
  ValidationOptions options = short_gap_run("indoor_oval");
  options.repeat_seeds = 100;
  int asked = 0;
  options.interrupted = [&] { return ++asked > 3; };
  const auto runs = resolve(options);
  REQUIRE(runs.ok());
  CHECK(runs->size() == 3);
}

TEST_CASE("a scenario without cars is refused with its place") {
  const auto suite = suite_of(kOneCar + "b:\n  timeout_s: 3\n");
  REQUIRE_FALSE(suite.ok());
  CHECK(suite.error().message.find("pitwall_scenario_test.yaml:4: b.cars is missing") != std::string::npos);
}

TEST_CASE("a name that cannot be part of a file's is refused with its place") {
  for (const std::string name : {"../x", "a/b", ".x", "''", "\"a\\nb\"", "' a'"}) {
    const auto suite = suite_of(kOneCar + "  id: " + name + "\n");
    REQUIRE_FALSE(suite.ok());
    CHECK(suite.error().message.find("pitwall_scenario_test.yaml:4: id = ") != std::string::npos);
  }
  CHECK(suite_of(kOneCar + "  id: Zür ich-2.5_b\n").ok());
  CHECK_FALSE(suite_of("a:\n  cars:\n    x/y: {controller: gap_follow}\n").ok());
}
