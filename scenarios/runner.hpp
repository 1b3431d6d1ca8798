// SPDX-License-Identifier: Apache-2.0
// Runs side by side. Each run is a pure function of its resolved scenario, so the number of workers changes nothing but
// the time; results are handed over in the order of the list.
#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "scenarios/run.hpp"

namespace pitwall::scenarios {

/// One run that is done.
struct Finished {
  std::size_t index = 0;  ///< in the list of runs
  Outcome outcome;
};

/// What one worker does with one run; the second argument says whether to give up.
using RunOne = std::function<Result<Outcome>(const ResolvedRun&, const std::function<bool()>&)>;

/// Runs all on `jobs` workers (at least 1) until done or `stop` becomes true; calls `on_finished` from the calling thread,
/// in order. Returns the first error of bad input, else success. What a run throws is thrown again here, with the run's name.
Status run_all(const std::vector<ResolvedRun>& runs, int jobs, const std::atomic<bool>& stop,
               const std::function<void(const Finished&)>& on_finished,
               const RunOne& run_one = static_cast<Result<Outcome> (*)(const ResolvedRun&, const std::function<bool()>&)>(run_scenario));

/// Workers to use where the user named none: one a core.
int default_jobs();

}  // namespace pitwall::scenarios
