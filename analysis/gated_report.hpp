// SPDX-License-Identifier: Apache-2.0
// A report that may be a gate: what is said, which limits were not kept, which recordings could not be judged at all.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/document.hpp"
#include "core/text.hpp"

namespace pitwall::analysis {

struct GatedReport {
  Document document;
  std::vector<std::string> failures;  ///< "run1: 3 excursions, allowed are 0"
  std::vector<std::string> written;   ///< files and folders
  std::vector<std::string> refused;   ///< recordings that are no input: one message each

  /// A limit that was asked for; a value that is not finite does not keep it.
  void require_at_most(const std::string& what, double value, const std::optional<double>& limit, const std::string& unit) {
    if (!limit || value <= *limit) return;
    failures.push_back(what + " " + format_number(value, 4) + unit + ", allowed is " + format_number(*limit, 4) + unit);
  }
};

}  // namespace pitwall::analysis
