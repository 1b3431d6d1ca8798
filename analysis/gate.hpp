// SPDX-License-Identifier: Apache-2.0
// Limits that a report is held to, so that a build or a test day can depend on it: a program whose gate does not hold ends with 1.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/document.hpp"

namespace pitwall::analysis {

class Gate {
 public:
  /// Holds `what` to a limit, where there is one: |value| at most the limit. A value that is not known does not hold.
  void at_most(const std::string& what, const std::optional<double>& limit, double value, const std::string& unit = "");
  [[nodiscard]] bool passed() const { return failures().empty(); }
  /// "run1: excursions 3, allowed is 0": what did not hold.
  [[nodiscard]] std::vector<std::string> failures() const;
  /// All limits as a section of the report; nothing where none was set.
  void add_to(Document& document) const;

 private:
  struct Check {
    std::string what;
    double value;
    double limit;
    std::string unit;
    bool holds;
  };
  std::vector<Check> checks_;
};

}  // namespace pitwall::analysis
