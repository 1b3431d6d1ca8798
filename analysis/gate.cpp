// SPDX-License-Identifier: Apache-2.0
#include "analysis/gate.hpp"

#include <cmath>

#include "core/text.hpp"

namespace pitwall::analysis {

void Gate::at_most(const std::string& what, const std::optional<double>& limit, double value, const std::string& unit) {
  if (limit) checks_.push_back({what, value, *limit, unit, std::abs(value) <= *limit});
}

std::vector<std::string> Gate::failures() const {
  std::vector<std::string> failures;
  for (const Check& check : checks_) {
    if (check.holds) continue;
    const std::string unit = check.unit.empty() ? "" : " " + check.unit;
    failures.push_back(check.what + " " + format_number(check.value, 4) + unit + ", allowed is " + format_number(check.limit, 4) + unit);
  }
  return failures;
}

void Gate::add_to(Document& document) const {
  if (checks_.empty()) return;
  Table table{"checks",
              "Limits",
              "any no makes the program end with 1; a value that is not known does not hold",
              {{"what", "what"}, {"value", "value"}, {"limit", "limit"}, {"unit", "unit"}, {"passed", "holds"}},
              {}};
  for (const Check& check : checks_)
    table.rows.push_back({text(check.what), number(check.value, 4), number(check.limit, 4), text(check.unit), flag(check.holds)});
  document.sections.push_back({"gate", "Gate", {}, {{"passed", "passed", flag(passed())}}, {table}, {}});
}

}  // namespace pitwall::analysis
