// SPDX-License-Identifier: Apache-2.0
// The only place where a name becomes a controller.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "controllers/line_to_follow.hpp"
#include "core/car.hpp"
#include "core/controller.hpp"
#include "core/fields.hpp"

namespace pitwall::controllers {

/// The controller called `name`, with its parameters from the map `parameters` (null: all defaults; an unknown key or a
/// value out of range is an error). `line` is needed by line followers and ignored by the others; what it points to is
/// shared, the struct itself need not outlive the call. Errors: unknown name, bad parameters, a combination that the
/// start-up checks refuse (with the reason and the values), a line follower without a line.
Result<std::unique_ptr<Controller>> make(const std::string& name, const Node& parameters, const CarParameters& car,
                                         const LineToFollow* line);

/// Names that make() knows.
std::vector<std::string> names();

/// Those of them that follow a line by an exchangeable steering law.
std::vector<std::string> steering_laws();

/// `parameters` with every field written out, defaults included; the errors of make() that concern parameters alone.
Result<Node> complete_parameters(const std::string& name, const Node& parameters);

/// Parameters of a controller with their defaults, units, ranges and meanings; an unknown name is an error.
Result<std::vector<FieldDescription>> describe(const std::string& name);

}  // namespace pitwall::controllers
