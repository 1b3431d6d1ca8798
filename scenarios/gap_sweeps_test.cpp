// SPDX-License-Identifier: Apache-2.0
#include "scenarios/gap_sweeps.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/files.hpp"
#include "scenarios/run.hpp"

namespace pitwall::scenarios {
namespace {

ValidationOptions options_on(const std::string& track) {
  ValidationOptions options;
  options.data = data_folder();
  options.tracks = {track};
  return options;
}

Outcome lap(const char* track, double time_s, double clearance_m) {
  Outcome o;
  o.track = track;
  o.passed = true;
  o.lap_time_s = time_s;
  o.min_clearance_m = clearance_m;
  o.track_length_m = 30.0;
  return o;
}

std::string error_of(const Result<std::vector<ResolvedRun>>& runs) { return runs.ok() ? std::string() : runs.error().message; }

TEST_CASE("a name without a group is a parameter of gap_follow") {
  CHECK(gap_assignment("safety_margin_m=0.1") == "gap_follow.safety_margin_m=0.1");
  CHECK(gap_assignment("world.seed=3") == "world.seed=3");
  CHECK(gap_assignment("enable_x") == "gap_follow.enable_x");
  CHECK(gap_assignment("x=1.5") == "gap_follow.x=1.5");
}

TEST_CASE("rows: finished laps alone have times, the clearance is the smallest, a stall is told from a contact") {
  Outcome crash = lap("b", 5.0, 0.0);
  crash.passed = false;
  crash.collision = true;
  Outcome stuck = lap("a", 99.0, 0.3);
  stuck.passed = false;
  stuck.failure = Failure{"ego stalled: less than 0.5 m", 20.0, 3.0, {}};
  stuck.stop_steps = 400;
  const auto rows = gap_sweep_rows({lap("a", 12.0, 0.25), crash, lap("a", 14.0, 0.2), stuck});
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].track == "a");
  CHECK(rows[0].runs == 3);
  CHECK(rows[0].passed == 2);
  CHECK(rows[0].contacts == 0);
  CHECK(rows[0].stalls == 1);
  CHECK(rows[0].mean_lap_s == doctest::Approx(13.0));
  CHECK(rows[0].best_lap_s == 12.0);
  CHECK(rows[0].stops_s == doctest::Approx(10.0 / 3.0));
  CHECK(rows[0].min_clearance_m == 0.2);
  CHECK(human_line(rows[0]).find("pass 2/3  contact 0  lap 13.00/12.00 s  stops 3.3 s  min clearance 0.20 m  stalled 1") !=
        std::string::npos);
  CHECK(human_line(rows[1]).find("pass 0/1  contact 1  lap -") != std::string::npos);
  CHECK(json_line(rows[1]).find("\"mean_lap_s\":null") != std::string::npos);
}

TEST_CASE("several cars: contacts of walls and of cars apart, a contact of two cars counted once") {
  Outcome o = lap("a", 12.0, 0.2);
  o.cars = {{"car1", 1, 30.0, 1, 1, 0, 0.0}, {"car2", 2, 45.0, 0, 1, 2, 0.0}};
  const auto rows = gap_multi_rows({o, o});
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].wall == 2);
  CHECK(rows[0].car_car == 2);
  CHECK(rows[0].passes == 4);
  CHECK(human_line(rows[0]).find("pass 2/2  wall 2  car-car 2  passes 4  stalls 0  laps 1.00 1.50") != std::string::npos);
}

TEST_CASE("every car has its own speed and its place on the lap") {
  const auto runs = gap_multi_runs(options_on("indoor_wide"), {{1.8, 3.5, 3.0}, 1.0});
  REQUIRE_MESSAGE(runs.ok(), error_of(runs));
  REQUIRE(runs->size() == 1);
  const ResolvedRun& run = runs->front();
  REQUIRE(run.cars.size() == 3);
  const double third = run.track->centre->path.length_m() / 3.0;
  const char* speeds[] = {"1.8", "3.5", "3"};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(run.cars[i].start_s_m == doctest::Approx(third * static_cast<double>(i)));
    const Node* speed =
        parameters_of(run.scenario, run.cars[i]).find("max_speed_mps") != nullptr ? run.cars[i].parameters.find("max_speed_mps") : nullptr;
    REQUIRE(speed != nullptr);
    CHECK(speed->scalar == speeds[i]);
  }
}

TEST_CASE("bad speeds, cars that do not fit and unknown parameters are named") {
  CHECK(error_of(gap_multi_runs(options_on("indoor_wide"), {{}, 1.0})).find("at least one") != std::string::npos);
  CHECK(error_of(gap_multi_runs(options_on("indoor_wide"), {{0.1}, 1.0})).find("0.3 .. 10") != std::string::npos);
  CHECK(error_of(gap_multi_runs(options_on("indoor_wide"), {{NAN}, 1.0})).find("--speeds") != std::string::npos);
  CHECK(error_of(gap_multi_runs(options_on("indoor_oval"), {std::vector<double>(40, 1.0), 1.0})).find("do not fit") != std::string::npos);
  ValidationOptions options = options_on("indoor_oval");
  options.assignments = {"safety_margn_m=0.1"};
  CHECK(error_of(gap_sweep_runs(options, 1.0)).find("safety_margin_m") != std::string::npos);
}

TEST_CASE("a car that is told to stand has stalled after ten seconds, and the run ends") {
  ValidationOptions options = options_on("indoor_oval");
  // It sees no gap that is deep enough.
  options.assignments = {"min_gap_distance_m=5", "fallback_min_gap_distance_m=3", "forward_stop_clearance_m=1",
                         "emergency_stop_clearance_m=0.4"};
  auto runs = gap_sweep_runs(options, 1.0);
  REQUIRE_MESSAGE(runs.ok(), error_of(runs));
  const auto outcome = run_scenario(runs->front(), [] { return false; });
  REQUIRE(outcome.ok());
  if (outcome->passed) return;
  REQUIRE(outcome->failure);
  CHECK(outcome->failure->what.find("stalled") != std::string::npos);
  CHECK(outcome->sim_time_s < 60.0);
  REQUIRE(outcome->cars.size() == 1);
  CHECK(outcome->cars[0].longest_stall_s >= 10.0);
}

}  // namespace
}  // namespace pitwall::scenarios
