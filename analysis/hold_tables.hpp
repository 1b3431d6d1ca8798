// SPDX-License-Identifier: Apache-2.0
// The tables of one hold, as docs/analysis.md explains them.
#pragma once

#include <vector>

#include "analysis/document.hpp"
#include "analysis/run_report.hpp"

namespace pitwall::analysis {

/// Stops that are listed one by one; all of them count in table_of_layers().
inline constexpr std::size_t kMostStopRows = 500;

Table table_of_summary(const RunAnalysis& analysis, const HoldReport& report);
Table table_of_response(const RunAnalysis& analysis, const HoldReport& report);
Table table_of_grip(const HoldReport& report);
Table table_of_replay(const RunAnalysis& analysis, const HoldReport& report);
Table table_of_stops(const std::vector<StopRow>& stops);
Table table_of_layers(const std::vector<StopRow>& stops);

}  // namespace pitwall::analysis
