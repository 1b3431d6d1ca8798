// SPDX-License-Identifier: Apache-2.0
// Replays a run folder with the controllers that its own scenario describes: `replay RUN`, and the verification of what
// run_validation has recorded.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/result.hpp"
#include "recording/replay.hpp"
#include "scenarios/outcome.hpp"
#include "scenarios/record.hpp"
#include "scenarios/resolve.hpp"

namespace pitwall::scenarios {

struct ReplayOptions {
  std::filesystem::path data;            ///< holds tracks, cars and suites
  std::filesystem::path scenario;        ///< whose controllers to use; empty: the run's own
  std::vector<std::string> assignments;  ///< --set CONTROLLER.KEY=VALUE, on top of the scenario
  std::string car;                       ///< only the car of that name; empty: all
};

struct RunReplay {
  std::vector<recording::CarReplay> cars;
  std::vector<std::string> notes;  ///< files of the run that have changed since, and the like
  [[nodiscard]] bool identical() const;
  /// "identical: 1234 ticks" or the first difference, a line a car.
  [[nodiscard]] std::string text() const;
};

/// The run that a run folder was recorded from (or that `options.scenario` describes), with the assignments made.
Result<ResolvedRun> resolve_recorded(const std::filesystem::path& run, const ReplayOptions& options);

/// Any recording can be replayed where a scenario is given; without one it must be a run folder.
Result<RunReplay> replay_run(const std::filesystem::path& run, const ReplayOptions& options, const recording::BagProgress& progress = {});

/// run_recorded(), then a replay of the recording through fresh controllers: what is not identical fails the run.
Result<Outcome> run_verified(const ResolvedRun& run, const RecordTo& to, const std::function<bool()>& interrupted);

}  // namespace pitwall::scenarios
