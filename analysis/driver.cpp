// SPDX-License-Identifier: Apache-2.0
// Who drove a recording: from the run folder's scenario, a file of parameters, or the defaults.
#include <algorithm>
#include <utility>

#include "analysis/decisions.hpp"
#include "calibration/car_profile.hpp"
#include "controllers/make.hpp"
#include "core/text.hpp"
#include "recording/run_folder.hpp"
#include "scenarios/replay_run.hpp"
#include "scenarios/run.hpp"

namespace pitwall::analysis {

namespace {

/// The parameters of a controller in a YAML file: its own section, with or without ROS's ros__parameters in it.
Result<Node> section_of(const std::filesystem::path& file, const std::string& controller) {
  const Result<Node> root = load_yaml(file);
  if (!root) return root.error();
  std::vector<std::string> sections;
  for (const auto& [key, value] : root->entries) {
    sections.push_back(key);
    const std::string name = key.starts_with('/') ? key.substr(1) : key;
    if (name != controller && name != controller + "_node") continue;
    const Node* ros = value.find("ros__parameters");
    const Node& section = ros != nullptr ? *ros : value;
    if (!section.is_map()) return Error{section.where() + ": the section '" + key + "' is no map of parameters"};
    return section;
  }
  return Error{file.string() + ": no section '" + controller + "'" + (sections.empty() ? "" : "; there are: " + join(sections))};
}

/// Puts parameters into the run of a simulated driver, as its car's own: another car with the same controller keeps its.
void give(Driver& driver) {
  scenarios::CarSpec& spec = driver.run->cars[driver.car_number];
  spec.parameters = driver.parameters;
  if (Node* car = driver.run->scenario.cars.find(spec.name)) car->set("parameters", driver.parameters);
}

Result<Driver> simulated_driver(const std::filesystem::path& folder, const std::string& car, const DriverOptions& options) {
  scenarios::ReplayOptions replay;
  replay.data = options.data;
  replay.scenario = options.scenario;
  Result<scenarios::ResolvedRun> run = scenarios::resolve_recorded(folder, replay);
  if (!run) return run.error();
  Driver driver;
  driver.car = run->parameters;
  driver.source = options.scenario.empty() ? "recorded in the run" : options.scenario.string();
  std::vector<std::string> names;
  for (const scenarios::CarSpec& each : run->cars) names.push_back(each.name);
  const auto at = car.empty() ? names.begin() : std::find(names.begin(), names.end(), car);
  if (at == names.end()) return Error{folder.string() + ": " + unknown_name("car", car, names)};
  driver.car_number = static_cast<std::size_t>(at - names.begin());
  const scenarios::CarSpec& spec = run->cars[driver.car_number];
  driver.controller = spec.controller;
  Node parameters = scenarios::parameters_of(run->scenario, spec);
  if (!options.yaml.empty()) {
    Result<Node> given = section_of(options.yaml, driver.controller);
    if (!given) return given.error();
    parameters = *std::move(given);
    driver.source = "--yaml " + options.yaml.string();
  }
  Result<Node> complete = controllers::complete_parameters(driver.controller, parameters);
  if (!complete) return complete.error();
  driver.parameters = *std::move(complete);
  driver.run = *std::move(run);
  give(driver);
  return driver;
}

}  // namespace

Result<std::unique_ptr<Controller>> Driver::make() const {
  if (!run) return controllers::make(controller, parameters, car, nullptr);
  auto all = scenarios::make_controllers(*run);
  if (!all) return all.error();
  return Result<std::unique_ptr<Controller>>(std::move((*all)[car_number]));
}

controllers::SafetyParameters Driver::safety() const {
  controllers::SafetyParameters safety;
  Node own = Node::map();
  for (const FieldDescription& field : describe_fields(safety)) {
    if (const Node* value = parameters.find(field.name)) own.set(field.name, *value);
  }
  const Status loaded = load_fields(own, controller, safety);
  PITWALL_CHECK(loaded.ok(), controller);
  return safety;
}

Result<Driver> find_driver(const std::filesystem::path& run, const std::string& car, const DriverOptions& options) {
  const bool folder = std::filesystem::exists(run / "metadata" / "files" / "scenario.yaml");
  if (folder || !options.scenario.empty()) return simulated_driver(run, car, options);
  Driver driver;
  driver.controller = options.controller;
  std::string car_profile = options.profile;
  if (const auto manifest = recording::load_manifest(run); manifest) {
    for (const recording::RecordedCar& each : manifest->cars) {
      if ((car.empty() || each.name == car) && !each.controller.empty()) {
        driver.controller = each.controller;
        break;
      }
    }
    if (!manifest->car_id.empty()) car_profile = manifest->car_id;
  }
  const auto profile = calibration::load_car(car_profile, calibration::cars_folder());
  if (!profile) return profile.error();
  driver.car = profile->parameters;
  Node parameters = Node::map();
  driver.source = "defaults of this build";
  if (!options.yaml.empty()) {
    Result<Node> given = section_of(options.yaml, driver.controller);
    if (!given) return given.error();
    parameters = *std::move(given);
    driver.source = "--yaml " + options.yaml.string();
  } else {
    driver.notes.push_back("the recording does not say with which parameters " + driver.controller +
                           " ran: those of this build are taken; --yaml FILE gives the car's own");
  }
  Result<Node> complete = controllers::complete_parameters(driver.controller, parameters);
  if (!complete) return complete.error();
  driver.parameters = *std::move(complete);
  if (const auto made = driver.make(); !made) return made.error();
  return driver;
}

std::vector<std::string> assigned_names(const Driver& driver, const std::vector<std::string>& assignments) {
  std::vector<std::string> names;
  for (const std::string& assignment : assignments) {
    std::string name = assignment.substr(0, assignment.find('='));
    if (name.starts_with(driver.controller + ".")) name = name.substr(driver.controller.size() + 1);
    names.push_back(name);
  }
  return names;
}

Result<Driver> with_assignments(const Driver& driver, const std::vector<std::string>& assignments, std::vector<std::string>& unchanged) {
  Driver changed = driver;
  const std::vector<std::string> names = assigned_names(driver, assignments);
  for (std::size_t k = 0; k < assignments.size(); ++k) {
    const std::string& assignment = assignments[k];
    const std::size_t equals = assignment.find('=');
    if (equals == std::string::npos || names[k].empty()) return Error{"--set " + assignment + ": needed is NAME=VALUE"};
    const std::string first = names[k].substr(0, names[k].find('.'));
    const std::vector<std::string> controllers = controllers::names();
    if (names[k].find('.') != std::string::npos && driver.parameters.find(first) == nullptr &&
        std::find(controllers.begin(), controllers.end(), first) != controllers.end()) {
      return Error{"--set " + assignment + ": " + first + " did not drive, " + driver.controller + " did"};
    }
    const std::string before = to_yaml(changed.parameters);
    if (const Status set = set_by_path(changed.parameters, names[k] + assignment.substr(equals)); !set) return set.error();
    Result<Node> complete = controllers::complete_parameters(driver.controller, changed.parameters);
    if (!complete) return complete.error();
    changed.parameters = *std::move(complete);
    if (to_yaml(changed.parameters) == before) unchanged.push_back(assignment);
  }
  if (changed.run) give(changed);
  // Combinations that cannot work are refused where the controller is made.
  if (const auto made = changed.make(); !made) return made.error();
  return changed;
}

}  // namespace pitwall::analysis
