// SPDX-License-Identifier: Apache-2.0
// The same run again in the simulator, with a change of parameters: where the car would then have gone, which no replay can tell.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include "analysis/run_analysis.hpp"
#include "core/result.hpp"

namespace pitwall::analysis {

/// How one run of the simulator went, as far as its recording says.
struct LoopRun {
  std::filesystem::path folder;
  std::size_t ticks = 0;
  std::size_t stop_ticks = 0;
  std::size_t stops = 0;  ///< runs of stop ticks
  double way_m = 0.0;     ///< of the truth
  double mean_mps = 0.0;
  std::size_t contacts = 0;
  double seconds = 0.0;
};

struct ClosedLoop {
  LoopRun before;  ///< the recorded run
  LoopRun after;   ///< with the change
  bool passed = false;
  std::string failure;  ///< of the run with the change; empty where it passed
};

/// Runs the analysed run's scenario with the changed driver and records it into `folder`, which is replaced. Errors: not a simulated run,
/// no change, the folder cannot be written.
Result<ClosedLoop> run_closed_loop(const RunAnalysis& analysis, const std::filesystem::path& folder, const std::string& host,
                                   const std::function<bool()>& interrupted);

}  // namespace pitwall::analysis
