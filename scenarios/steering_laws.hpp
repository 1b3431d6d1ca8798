// SPDX-License-Identifier: Apache-2.0
// What --steering-law and --law-param change in a suite: the cars that follow a line by a steering law follow it by another.
#pragma once

#include <string>
#include <vector>

#include "scenarios/scenario.hpp"

namespace pitwall::scenarios {

/// In every scenario: each car whose controller is a steering law is driven by `law` (empty: by its own). What the scenario says of
/// the parameters that all laws share is kept. `parameters` are "key=value" pairs of that law. Errors: an unknown law, no car in any
/// scenario that could have one, parameters that are unknown, out of range or said twice.
Status choose_steering_law(std::vector<NamedScenario>& suite, const std::string& law, const std::vector<std::string>& parameters);

/// `assignments` (--set key=value) that set a controller which drives no car of any scenario are an error: they would do nothing.
Status refuse_unused_controllers(const std::vector<NamedScenario>& suite, const std::vector<std::string>& assignments);

}  // namespace pitwall::scenarios
