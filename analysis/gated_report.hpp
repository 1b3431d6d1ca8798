// SPDX-License-Identifier: Apache-2.0
// A report that may be a gate: what is said, which limits it was held to, which recordings could not be judged at all.
#pragma once

#include <string>
#include <vector>

#include "analysis/document.hpp"
#include "analysis/gate.hpp"

namespace pitwall::analysis {

struct GatedReport {
  Document document;  ///< with the gate as its last section
  Gate gate;
  std::vector<std::string> written;  ///< files and folders
  std::vector<std::string> refused;  ///< recordings that are no input: one message each
};

}  // namespace pitwall::analysis
