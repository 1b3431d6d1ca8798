// SPDX-License-Identifier: Apache-2.0
// From the figures of runs to what to try next: symptom, likely cause, parameter. The tools that compare and sweep print it.
#pragma once

#include <string>
#include <vector>

#include "scenarios/outcome.hpp"

namespace pitwall::scenarios {

/// One thing that stands out.
struct Advice {
  std::string symptom;  ///< with its figures
  std::string cause;
  std::string to_try;  ///< parameter and direction, for --set or --law-param
};

/// What stands out in the runs of one controller; nothing where all is well. Only parameters that the controller has are named.
std::vector<Advice> advise(const std::string& controller, const std::vector<Outcome>& outcomes);

/// "  symptom: ... | likely cause: ... | try: ...", a line each.
std::string advice_text(const std::vector<Advice>& advice);

}  // namespace pitwall::scenarios
