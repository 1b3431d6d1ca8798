// SPDX-License-Identifier: Apache-2.0
// For tests only: code that Highway compiled once for each instruction set, run on every one that this machine has.
#pragma once

#include <hwy/targets.h>

namespace pitwall::testing {

/// Calls `body(name)` once for each instruction set, and leaves the best one chosen.
template <class Body>
void on_every_instruction_set(const Body& body) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body(hwy::TargetName(target));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace pitwall::testing
