// SPDX-License-Identifier: Apache-2.0
// The report of analyze_run: per deadman hold what the car did, how it answered, what the replay says, every stop with its layer and
// verdict; on a simulated run beside the truth. docs/analysis.md says how each number is computed and when not to trust it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/closed_loop.hpp"
#include "analysis/document.hpp"
#include "analysis/response.hpp"
#include "analysis/run_analysis.hpp"
#include "analysis/stop_rows.hpp"

namespace pitwall::analysis {

/// Everything that is said of one hold.
struct HoldReport {
  Hold hold;
  std::size_t number = 0;  ///< from 1
  MeasuredMotion measured;
  Response response;
  std::optional<Response> truth;  ///< fitted to the truth over the same intervals
  double speed_lag_s = 0.0;       ///< for stopping distances
  std::string speed_lag_source;
  std::vector<StopRow> stops;
  std::string picture;  ///< file, if drawn
};

/// Analyses the holds that are long enough (`only`: that one alone, from 1; an unknown number is an error).
Result<std::vector<HoldReport>> report_holds(const RunAnalysis& analysis, std::optional<std::size_t> only);

Document report(const RunAnalysis& analysis, const std::vector<HoldReport>& holds, const std::optional<ClosedLoop>& closed_loop);

/// The picture of a hold: command and measured speed and turn rate, steering, stops, and the first twelve stops from above.
std::string draw(const RunAnalysis& analysis, const HoldReport& hold);

}  // namespace pitwall::analysis
