// SPDX-License-Identifier: Apache-2.0
#include "scenarios/scenario.hpp"

#include <algorithm>

#include "controllers/make.hpp"
#include "core/text.hpp"
#include "scenarios/incidents.hpp"

namespace pitwall::scenarios {

void CarSpec::fields(FieldVisitor& f) {
  f.text("controller", controller, "name of its controller");
  f.number("start_s_m", start_s_m, {"m", -1e4, 1e4, "start, along the followed line"});
  f.number("start_lateral_m", start_lateral_m, {"m", -10, 10, "start, to the left of the line"});
  f.number("start_heading_rad", start_heading_rad, {"rad", -3.2, 3.2, "start, against the line's heading"});
  f.number("start_speed_mps", start_speed_mps, {"m/s", 0, 20, "speed at the start"});
  f.flag("sensing_errors", sensing_errors, "whether this car has the errors of the sensors' profiles; else none");
  f.subtree("parameters", parameters, "of its controller, over those that the scenario gives to all cars with it");
  f.subtree("changes", changes, "name: {at_s, set}: parameters of its controller that change on the way");
}

void ChangeSpec::fields(FieldVisitor& f) {
  f.number("at_s", at_s, {"s", 0, 1e6, "from the first call of the controller at or after this time"});
  f.text("set", set, "key=value");
}

void Criteria::fields(FieldVisitor& f) {
  f.number("laps_at_least", laps_at_least, {"", 0, 1000, "whole laps of the car under test"});
  f.number("progress_laps_at_least", progress_laps_at_least, {"", 0, 1000, "true progress of the car under test, in laps"});
  f.number("cross_track_below_m", cross_track_below_m, {"m", 0, 10, "largest true distance from the followed line; 0: not judged"});
  f.integer("passes_at_least", passes_at_least, {"", 0, 1000, "other cars overtaken, by true progress"});
  f.number("every_car_laps_at_least", every_car_laps_at_least, {"", 0, 1000, "true progress of each car, in laps"});
  f.number("stall_after_s", stall_after_s,
           {"s", 0, 1e6, "a car that comes less than 0.5 m farther in this time has failed; 0: not judged"});
  f.flag("end_of_path", end_of_path, "the controller under test has come to the end of its path, and its car stands");
}

Scenario::Scenario() : controllers(controllers::names().size(), Node::map()) {}

void Scenario::fields(FieldVisitor& f) {
  f.text("id", id, "name in reports");
  f.enumeration("tracks", tracks, kOnTracks, "on which tracks of --tracks");
  f.text("track", track, "track argument; empty: from --tracks");
  f.text("default_tracks", default_tracks, "track or group where --tracks names none");
  f.text("track_hash", track_hash, "contents of map and lines; set in a resolved scenario");
  f.enumeration("raceline", raceline, kLineChoices, "line that is followed");
  f.enumeration("fidelity", fidelity, plant::kFidelityNames, "how much of the real car is simulated");
  f.enumeration("localization", localization, kLocalizations,
                "where poses come from: the truth, a model of a localiser's errors, or scans on the map");
  f.text("car", car, "car profile; empty: from --car");
  f.number("timeout_s", timeout_s, {"s", 0.1, 1e6, "simulated time a run may take"});
  f.nested("speed", speed);
  f.nested("world", world);
  f.nested("criteria", criteria);
  f.nested("course", course);
  f.subtree("cars", cars, "name: {controller, start_s_m, ...}; the car under test first");
  f.nested("sensors", sensors);
  f.subtree("sensor_settings", sensor_settings, "lidar: {...}, odometry, pose, imu, joy: values over those of the sensors' profiles");
  f.subtree("obstacles", obstacles, "name: {shape, s_m, lateral_m, ...}");
  f.subtree("faults", faults, "name: {kind, start_s, length_s, size, seed, expect, within_s, ...}");
  f.subtree("car_parameters", car_parameters, "values over the car profile's");
  const std::vector<std::string> names = controllers::names();
  for (std::size_t i = 0; i < names.size(); ++i) f.subtree(names[i], controllers[i], "parameters of this controller");
  f.text("trace_hash", trace_hash, "what the run gave");
}

namespace {

/// Whether reports and resolved files can carry it in a line and in their names.
bool is_plain_name(const std::string& name) {
  constexpr std::size_t kLongest = 80;
  if (name.empty() || name.size() > kLongest || name.front() == '.' || name.front() == ' ' || name.back() == ' ') return false;
  return std::none_of(name.begin(), name.end(), [](char c) { return (c >= 0 && c < ' ') || c == '\x7f' || c == '/'; });
}

Status check_names(const Scenario& scenario, const Node& node) {
  constexpr std::string_view kAllowed = ": allowed: 1 .. 80 letters without '/', no dot or blank in front";
  const Node* id = node.find("id");
  if (!is_plain_name(scenario.id))
    return Error{(id != nullptr ? *id : node).where() + ": id = '" + scenario.id + "'" + std::string(kAllowed)};
  const std::array<std::pair<const char*, const Node*>, 3> groups{
      {{"cars", &scenario.cars}, {"obstacles", &scenario.obstacles}, {"faults", &scenario.faults}}};
  for (const auto& [group, entries] : groups) {
    for (const auto& [name, entry] : entries->entries) {
      if (!is_plain_name(name))
        return Error{entry.where() + ": " + scenario.id + "." + group + ": name '" + name + "'" + std::string(kAllowed)};
    }
  }
  return {};
}

}  // namespace

Result<std::vector<NamedScenario>> load_suite(const std::filesystem::path& file, const std::vector<std::string>& assignments) {
  const Result<Node> suite = load_yaml(file);
  if (!suite) return suite.error();
  return suite_of(*suite, file.string(), assignments);
}

Result<std::vector<NamedScenario>> suite_of(const Node& suite, const std::string& suite_name, const std::vector<std::string>& assignments) {
  if (!suite.is_map() || suite.entries.empty()) return Error{suite_name + ": a suite is a map of scenarios"};
  std::vector<NamedScenario> scenarios;
  for (const auto& [name, written] : suite.entries) {
    Node node = written;
    if (!node.is_map()) return Error{written.where() + ": scenario '" + name + "' must be a group of keys"};
    for (const std::string& assignment : assignments) {
      const Status set = set_by_path(node, assignment);
      if (!set) return set.error();
    }
    NamedScenario scenario{name, {}};
    scenario.scenario.id = name;
    const Status loaded = load_fields(node, name, scenario.scenario);
    if (!loaded) return loaded.error();
    if (node.find("cars") == nullptr) return Error{written.where() + ": " + name + ".cars is missing; a scenario names at least one car"};
    const auto cars = load_cars(scenario.scenario);
    if (!cars) return cars.error();
    const auto obstacles = load_obstacles(scenario.scenario);
    if (!obstacles) return obstacles.error();
    const auto faults = load_faults(scenario.scenario);
    if (!faults) return faults.error();
    const Status named = check_names(scenario.scenario, node);
    if (!named) return named.error();
    scenarios.push_back(std::move(scenario));
  }
  return scenarios;
}

Node controller_parameters(const Scenario& scenario, const std::string& controller) {
  const std::vector<std::string> names = controllers::names();
  const auto found = std::find(names.begin(), names.end(), controller);
  PITWALL_CHECK(found != names.end(), controller);
  return scenario.controllers[static_cast<std::size_t>(found - names.begin())];
}

Node parameters_of(const Scenario& scenario, const CarSpec& car) {
  Node parameters = controller_parameters(scenario, car.controller);
  lay_over(car.parameters, parameters);
  return parameters;
}

Result<std::vector<sim::ParameterChange>> load_changes(const CarSpec& car) {
  std::vector<sim::ParameterChange> changes;
  for (const auto& [name, node] : car.changes.entries) {
    ChangeSpec spec;
    if (const Status loaded = load_fields(node, car.name + ".changes." + name, spec); !loaded) return loaded.error();
    changes.push_back({Time{} + from_seconds(spec.at_s), spec.set});
  }
  std::stable_sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
  return changes;
}

Result<std::vector<CarSpec>> load_cars(const Scenario& scenario) {
  if (!scenario.cars.is_map() || scenario.cars.entries.empty())
    return Error{scenario.cars.where() + ": " + scenario.id + ".cars must name at least one car"};
  std::vector<CarSpec> cars;
  const std::vector<std::string> names = controllers::names();
  for (const auto& [name, node] : scenario.cars.entries) {
    CarSpec car;
    car.name = name;
    const Status loaded = load_fields(node, scenario.id + ".cars." + name, car);
    if (!loaded) return loaded.error();
    if (std::find(names.begin(), names.end(), car.controller) == names.end()) {
      const Node* said = node.find("controller");
      return Error{(said != nullptr ? *said : node).where() + ": " + scenario.id + ".cars." + name + ": " +
                   unknown_name("controller", car.controller, names)};
    }
    if (const auto changes = load_changes(car); !changes) return changes.error();
    cars.push_back(std::move(car));
  }
  return cars;
}

}  // namespace pitwall::scenarios
