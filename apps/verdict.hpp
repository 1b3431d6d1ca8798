// SPDX-License-Identifier: Apache-2.0
// How a report with limits ends.
#pragma once

#include <string>

#include "analysis/gate.hpp"
#include "apps/program.hpp"
#include "core/log.hpp"

namespace pitwall::apps {

/// Says what did not hold; the exit code.
inline int verdict(const analysis::Gate& gate) {
  for (const std::string& failure : gate.failures()) log::warn("FAIL " + failure);
  return gate.passed() ? kPassed : kFailed;
}

}  // namespace pitwall::apps
