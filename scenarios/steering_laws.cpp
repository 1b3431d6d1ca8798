// SPDX-License-Identifier: Apache-2.0
#include "scenarios/steering_laws.hpp"

#include <algorithm>

#include "controllers/make.hpp"
#include "core/text.hpp"

namespace pitwall::scenarios {
namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The names of the controllers that the cars have, and of the one that races on a mapped course.
std::vector<std::string*> controllers_of(Scenario& scenario) {
  std::vector<std::string*> all;
  for (auto& [name, car] : scenario.cars.entries) {
    Node* controller = car.find("controller");
    if (controller != nullptr && controller->is_scalar()) all.push_back(&controller->scalar);
  }
  if (scenario.course.wanted()) all.push_back(&scenario.course.race_controller);
  return all;
}

Node& parameters_of(Scenario& scenario, std::string_view controller) {
  const std::vector<std::string> names = controllers::names();
  return scenario.controllers[static_cast<std::size_t>(std::find(names.begin(), names.end(), controller) - names.begin())];
}

/// What `from` says and `law` understands, where `law`'s own group does not say it already.
Status carry_over(const Node& from, const std::string& law, Node& to) {
  const auto known = controllers::describe(law);
  if (!known) return known.error();
  if (!to.is_map()) to = Node::map();
  for (const auto& [key, value] : from.entries) {
    const bool shared = std::any_of(known->begin(), known->end(), [&key = key](const FieldDescription& row) {
      return row.name == key || row.name.starts_with(key + ".");
    });
    if (shared && to.find(key) == nullptr) to.set(key, value);
  }
  return {};
}

/// Sets "key=value" in the parameters of a law; errors speak of --law-param.
Status set_parameter(Node& of_law, const std::string& law, const std::string& assignment) {
  const std::string option = "--law-param " + assignment;
  const std::size_t equals = assignment.find('=');
  const std::string key(trim(std::string_view(assignment).substr(0, equals)));
  if (equals == std::string::npos || key.empty()) return Error{option + ": expected key=value, for example lookahead_gain_s=0.2"};
  const auto known = controllers::describe(law);
  if (!known) return known.error();
  std::vector<std::string> names;
  for (const FieldDescription& row : *known) names.push_back(row.name);
  if (!contains(names, key)) return Error{option + ": " + unknown_name("parameter of " + law, key, names)};
  if (of_law.is_null()) of_law = Node::map();
  if (const Status set = set_by_path(of_law, assignment); !set) return set;
  const Result<Node> sound = controllers::complete_parameters(law, of_law);
  return sound ? Status{} : Status(Error{option + ": " + sound.error().message});
}

}  // namespace

Status choose_steering_law(std::vector<NamedScenario>& suite, const std::string& law, const std::vector<std::string>& parameters) {
  const std::vector<std::string> laws = controllers::steering_laws();
  if (!law.empty() && !contains(laws, law)) return Error{"--steering-law: " + unknown_name("steering law", law, laws)};
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto key = [&](const std::string& text) { return trim(std::string_view(text).substr(0, text.find('='))); };
    for (std::size_t k = 0; k < i; ++k) {
      if (key(parameters[i]) == key(parameters[k])) return Error{"--law-param " + parameters[i] + ": is also given as " + parameters[k]};
    }
  }
  bool any = false;
  for (NamedScenario& named : suite) {
    Scenario& scenario = named.scenario;
    std::vector<std::string> set;
    for (std::string* controller : controllers_of(scenario)) {
      if (!contains(laws, *controller)) continue;
      any = true;
      const std::string driven_by = law.empty() ? *controller : law;
      if (driven_by != *controller) {
        const Status carried = carry_over(parameters_of(scenario, *controller), driven_by, parameters_of(scenario, driven_by));
        if (!carried) return carried;
        *controller = driven_by;
      }
      if (contains(set, driven_by)) continue;
      set.push_back(driven_by);
      for (const std::string& parameter : parameters) {
        if (const Status ok = set_parameter(parameters_of(scenario, driven_by), driven_by, parameter); !ok) return ok;
      }
    }
    // A law that no car is driven by any more has no parameters.
    for (const std::string& other : laws) {
      if (!law.empty() && other != law) parameters_of(scenario, other) = Node::map();
    }
  }
  if (any || (law.empty() && parameters.empty())) return {};
  const std::string option = law.empty() ? "--law-param " + parameters.front() : "--steering-law " + law;
  return Error{option + ": scenario '" + suite.front().name + "' has no car that follows a line by a steering law (" + join(laws) + ")"};
}

Status refuse_unused_controllers(const std::vector<NamedScenario>& suite, const std::vector<std::string>& assignments) {
  const std::vector<std::string> names = controllers::names();
  for (const std::string& assignment : assignments) {
    const std::string group(trim(std::string_view(assignment).substr(0, assignment.find_first_of(".="))));
    if (!contains(names, group)) continue;
    std::vector<std::string> used;
    for (const NamedScenario& named : suite) {
      const auto cars = load_cars(named.scenario);
      if (!cars) return cars.error();
      for (const CarSpec& car : *cars) {
        if (!contains(used, car.controller)) used.push_back(car.controller);
      }
      const CourseSpec& course = named.scenario.course;
      if (course.wanted() && !contains(used, course.race_controller)) used.push_back(course.race_controller);
    }
    if (!contains(used, group))
      return Error{"--set " + assignment + ": would do nothing, no car is driven by '" + group + "' here; in use: " + join(used)};
  }
  return {};
}

}  // namespace pitwall::scenarios
