// SPDX-License-Identifier: Apache-2.0
// What fit_sim says: the fit or the grid as a report, and pictures of measured and simulated.
#pragma once

#include <string>
#include <vector>

#include "analysis/document.hpp"
#include "calibration/fit/fit.hpp"
#include "calibration/fit/fragment.hpp"
#include "calibration/fit/grid.hpp"
#include "core/result.hpp"
#include "scenarios/outcome.hpp"

namespace pitwall::apps {

/// A run of the simulator with the car as it was and as it was fitted.
struct LapChange {
  scenarios::Outcome before, after;
};

struct FitReport {
  std::string title;
  std::vector<std::string> notes;
  const fit::Problem* problem = nullptr;
  const fit::FitResult* result = nullptr;
  std::vector<calibration::Entry> fragment;
  std::vector<LapChange> laps;
  std::vector<std::string> pictures;
};

analysis::Document document_of(const FitReport& report);
/// The `most` best points.
analysis::Document document_of(const std::string& title, const std::vector<std::string>& notes, const fit::Grid& grid, std::size_t most);

/// Measured, simulated before and after, and what is left, over the time of one drive; held-out stretches shaded.
std::string residual_plot(const fit::Problem& problem, const fit::FitResult& result, std::size_t drive);

}  // namespace pitwall::apps
