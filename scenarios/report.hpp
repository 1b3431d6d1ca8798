// SPDX-License-Identifier: Apache-2.0
// Outcomes for people (a line each), for programs (JSON) and for CI servers (JUnit XML).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scenarios/outcome.hpp"

namespace pitwall::scenarios {

/// All that one call of run_validation gave.
struct Report {
  std::int64_t seed = 0;
  double control_rate_hz = 40.0;
  std::string fidelity_profile;
  std::string car;
  std::vector<std::string> unmeasured_parameters;  ///< the STOCK ones of the car's profile
  std::int64_t parameters_total = 0;
  std::vector<Outcome> results;
  std::int64_t planned = 0;  ///< more than results where the run was interrupted
  bool interrupted = false;

  /// Every planned run finished and passed, and there was at least one.
  [[nodiscard]] bool passed() const;
};

/// "PASS  pure_solo  Spielberg  seed 12345  lap 90.21 s  ..."; for a failure also when, where and why. No line break.
std::string human_line(const Outcome& outcome);
/// "3 of 4 passed ..." and the two sentences every reader should know.
std::string human_summary(const Report& report);
/// One outcome on one line, keys sorted.
std::string json_line(const Outcome& outcome);
/// {"summary": "PASS"|"FAIL", "scenarios": n, "passed": k} on one line.
std::string json_summary(const Report& report);
/// The report file, schema_version 2, indented.
std::string json_report(const Report& report);
std::string junit_xml(const Report& report);

}  // namespace pitwall::scenarios
