// SPDX-License-Identifier: Apache-2.0
#include "scenarios/incidents.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/files.hpp"
#include "scenarios/resolve.hpp"
#include "scenarios/run.hpp"

using namespace pitwall;
using namespace pitwall::scenarios;

namespace {

// Straight along y = 0, with vertices close enough that the heading there is 0.
tracks::Path oval() {
  std::vector<Vec2> points;
  for (int k = 0; k <= 20; ++k) points.push_back({0.5 * k, 0.0});
  for (const Vec2 p : {Vec2{14, 4}, Vec2{10, 8}, Vec2{0, 8}, Vec2{-6, 4}}) points.push_back(p);
  return tracks::Path::make(points, true).value();
}

Scenario with(const std::string& obstacles, const std::string& faults) {
  Scenario scenario;
  scenario.id = "a";
  scenario.cars = parse_yaml("{ego: {controller: pure_pursuit}, other: {controller: line_follower}}", "t").value();
  if (!obstacles.empty()) scenario.obstacles = parse_yaml(obstacles, "t").value();
  if (!faults.empty()) scenario.faults = parse_yaml(faults, "t").value();
  return scenario;
}

sim::Surroundings place(const Scenario& scenario, std::int64_t seed = 1) {
  return surroundings_of(load_obstacles(scenario).value(), load_faults(scenario).value(), load_cars(scenario).value(), oval(), seed);
}

ValidationOptions quick(const std::vector<std::string>& assignments) {
  ValidationOptions options;
  options.data = data_folder();
  options.scenario = "pure";
  options.tracks = {"indoor_wide"};
  options.timeout_s = 3.0;
  options.assignments = assignments;
  return options;
}

}  // namespace

TEST_CASE("an obstacle lies at its place beside the line, turned against its heading; a post is square") {
  const auto placed = place(
      with("{a: {s_m: 4, lateral_m: 0.5, heading_rad: 0.3, length_m: 0.4, width_m: 0.2}, b: {shape: post, s_m: 2, width_m: 0.1}}", ""));
  REQUIRE(placed.obstacles.size() == 2);
  CHECK(placed.obstacles[0].T_map_centre.x == doctest::Approx(4.0));
  CHECK(placed.obstacles[0].T_map_centre.y == doctest::Approx(0.5));
  CHECK(placed.obstacles[0].T_map_centre.yaw == doctest::Approx(0.3));
  CHECK(placed.obstacles[0].length_m == 0.4);
  CHECK(placed.obstacles[1].length_m == 0.1);
  CHECK(placed.obstacles[1].width_m == 0.1);
}

TEST_CASE("a crowd is drawn within its spread from the seed: the same again, another for another seed, nobody else moved") {
  const std::string crowd = "crowd: {count: 50, s_m: 5, s_spread_m: 3, lateral_m: 0.2, lateral_spread_m: 0.4, speed_mps: 1, travel_m: 2}";
  const auto placed = place(with("{" + crowd + "}", ""));
  const auto again = place(with("{other: {s_m: 1}, " + crowd + "}", ""));
  const auto reseeded = place(with("{" + crowd + "}", ""), 2);
  REQUIRE(placed.obstacles.size() == 50);
  double least = 100.0;
  double most = 0.0;
  for (std::size_t i = 0; i < 50; ++i) {
    const sim::Obstacle& o = placed.obstacles[i];
    CHECK(o.T_map_centre.x >= 2.0);
    CHECK(o.T_map_centre.x <= 8.0);
    CHECK(std::abs(o.T_map_centre.y - 0.2) <= 0.4);
    CHECK(o.phase_m <= 4.0);
    CHECK(o.T_map_centre == again.obstacles[i + 1].T_map_centre);
    CHECK_FALSE(o.T_map_centre == reseeded.obstacles[i].T_map_centre);
    least = std::min(least, o.T_map_centre.x);
    most = std::max(most, o.T_map_centre.x);
  }
  CHECK(most - least > 4.0);
}

TEST_CASE("a fault's start is drawn within its spread, its place found on the line, its car by name, its seed the run's if not given") {
  const auto placed = place(with("",
                                 "{a: {kind: scan_loss, car: other, start_s: 2, start_spread_s: 3}, b: {kind: slippery_patch, size: 0.5, "
                                 "radius_m: 1, tightest_bend: true, at_s_m: 0, seed: 9}}"),
                            7);
  REQUIRE(placed.faults.size() == 2);
  CHECK(placed.faults[0].car == 1);
  CHECK(placed.faults[0].start_s >= 2.0);
  CHECK(placed.faults[0].start_s < 5.0);
  CHECK(placed.faults[0].seed == 7);
  CHECK(placed.faults[1].seed == 9);
  const tracks::Path line = oval();
  double tightest = 0.0;
  for (std::size_t i = 0; i < line.size(); ++i) tightest = std::max(tightest, std::abs(line.vertex_curvature(i)));
  bool at_it = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (std::abs(line.vertex_curvature(i)) == tightest && distance(line.points()[i], placed.faults[1].place) < 1e-9) at_it = true;
  }
  CHECK(at_it);
}

TEST_CASE("wrong keys, kinds, cars and deadlines of obstacles and faults are refused by name") {
  const auto fault_error = [](const std::string& text) { return load_faults(with("", text)).error().message; };
  CHECK(fault_error("{a: {kind: scan_los}}").find("scan_loss") != std::string::npos);
  CHECK(fault_error("{a: {kind: scan_loss, strat_s: 1}}").find("start_s") != std::string::npos);
  CHECK(fault_error("{a: {kind: scan_loss, car: othr}}").find("did you mean 'other'") != std::string::npos);
  CHECK(fault_error("{a: {kind: scan_loss, length_s: 0.5, expect: stop, within_s: 0.5}}").find("length_s = 0.5") != std::string::npos);
  CHECK(fault_error("[{kind: scan_loss}]").find("a name") != std::string::npos);
  CHECK(load_obstacles(with("{a: {shape: bx}}", "")).error().message.find("box") != std::string::npos);
}

TEST_CASE("a scenario with obstacles, faults and sensors of its own runs again from its resolved file to the same hash") {
  const std::vector<std::string> assignments = {"obstacles={post: {shape: post, s_m: 12, s_spread_m: 2, lateral_m: 1.0, width_m: 0.1}}",
                                                "faults={blind: {kind: blind_sector, start_s: 1, start_spread_s: 1, size: 0.3}}",
                                                "sensors.lidar=worst", "sensor_settings={pose: {noise_xy_m: 0.03}}"};
  const auto runs = resolve(quick(assignments));
  REQUIRE(runs.ok());
  const auto none = [] { return false; };
  const auto first = run_scenario(runs->front(), none);
  REQUIRE(first.ok());
  REQUIRE(first->faults.size() == 1);
  CHECK(first->faults[0].began_s.value() >= 1.0);
  CHECK(first->faults[0].passed);
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "pitwall_incidents_test.yaml";
  REQUIRE(write_file(file, to_suite_yaml(runs->front().scenario, "pure")).ok());
  ValidationOptions again;
  again.data = data_folder();
  again.scenario = file.string();
  const auto rerun = resolve(again);
  REQUIRE(rerun.ok());
  CHECK(run_scenario(rerun->front(), none)->trace_hash == first->trace_hash);
  std::filesystem::remove(file);
  for (std::size_t leave_out = 0; leave_out < assignments.size(); ++leave_out) {
    std::vector<std::string> fewer = assignments;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(leave_out));
    CAPTURE(leave_out);
    CHECK(run_scenario(resolve(quick(fewer))->front(), none)->trace_hash != first->trace_hash);
  }
}

TEST_CASE("an obstacle across the track is touched by name if nothing stops the car") {
  auto runs = resolve(quick({"obstacles={barrier: {s_m: 2.5, lateral_m: 0, length_m: 0.1, width_m: 1.0}}", "cars.ego.start_speed_mps=10"}));
  REQUIRE(runs.ok());
  const auto outcome = run_scenario(runs->front(), [] { return false; });
  REQUIRE(outcome.ok());
  REQUIRE(outcome->contact.has_value());
  CHECK(outcome->contact->partner == "barrier");
  CHECK(outcome->failure->what.find("touched barrier") != std::string::npos);
}

TEST_CASE("suites are found by name, and their scenarios too") {
  ValidationOptions options;
  options.data = data_folder();
  options.tracks = {"indoor_wide"};
  const std::vector<std::string> suites = suite_names(options.data);
  CHECK(std::find(suites.begin(), suites.end(), "faults") != suites.end());
  options.scenario = "faults";
  CHECK(resolve(options)->size() > 15);
  options.scenario = "pure_scan_loss";
  CHECK(resolve(options)->size() == 1);
  options.scenario = "all";
  CHECK(resolve(options)->size() == 3);
  options.scenario = "fault";
  CHECK(resolve(options).error().message.find("did you mean 'faults'") != std::string::npos);
}
