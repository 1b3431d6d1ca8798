// SPDX-License-Identifier: Apache-2.0
// Limits that a report is held to, so that a build or a test day can depend on it: a program whose gate does not hold ends with 1.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "analysis/document.hpp"

namespace pitwall::analysis {

class Gate {
 public:
  /// Holds `what` to a limit, where there is one: |value| at most the limit. A value that is not known does not hold.
  void at_most(const std::string& what, const std::optional<double>& limit, double value) {
    if (limit) checks_.push_back({what, value, *limit, std::abs(value) <= *limit});
  }
  [[nodiscard]] bool passed() const {
    for (const Check& check : checks_) {
      if (!check.passed) return false;
    }
    return true;
  }
  /// Nothing where no limit was set.
  void add_to(Document& document) const {
    if (checks_.empty()) return;
    Table table{"checks",
                "Limits",
                "any no makes the program end with 1; a value that is not known does not hold",
                {{"what", "what"}, {"value", "value"}, {"limit", "limit"}, {"passed", "holds"}},
                {}};
    for (const Check& check : checks_)
      table.rows.push_back({text(check.what), number(check.value, 4), number(check.limit, 4), flag(check.passed)});
    document.sections.push_back({"gate", "Gate", {}, {{"passed", "passed", flag(passed())}}, {table}, {}});
  }

 private:
  struct Check {
    std::string what;
    double value = NAN;
    double limit = NAN;
    bool passed = false;
  };
  std::vector<Check> checks_;
};

}  // namespace pitwall::analysis
