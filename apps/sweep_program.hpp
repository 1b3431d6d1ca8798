// SPDX-License-Identifier: Apache-2.0
// What the programs that drive many runs have in common: their options, interrupts, the journal, progress.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "scenarios/resolve.hpp"
#include "scenarios/sweep.hpp"

namespace CLI {
class App;
}

namespace pitwall::apps {

/// Options of a sweep as the command line says them.
struct SweepOptions {
  scenarios::ValidationOptions validation;
  std::string fidelity;
  std::string raceline;
  std::optional<std::string> car;
  std::string output;
  std::string resume;
  int jobs = 0;
  bool json = false;
  bool quiet = false;
};

/// Adds --seed, --set, --fidelity, --timeout, --car, --jobs, --output, --resume, --json, --quiet.
void add_sweep_options(CLI::App& app, SweepOptions& options);

/// Takes the choices over, and from here on notices Ctrl-C.
Status take(SweepOptions& options);
/// Whether the user has asked to stop.
bool stopped();

/// Drives the runs with a progress bar, keeping each that has finished in the journal. After an interrupt it says how far it got and
/// how to go on.
Result<std::vector<scenarios::Outcome>> drive(const SweepOptions& options, const std::vector<scenarios::ResolvedRun>& runs);

/// The runner of a comparison, with the same journal, and a stopwatch on the car under test.
std::function<Status(const std::vector<scenarios::ResolvedRun>&, const std::function<void(const scenarios::Finished&)>&)> kept_runner(
    const SweepOptions& options, scenarios::Journal& journal);

/// The flag that an interrupt raises.
const std::atomic<bool>& stop_flag();

/// Writes the report where --output asks for one.
Status write_report(const SweepOptions& options, const std::string& json);

}  // namespace pitwall::apps
