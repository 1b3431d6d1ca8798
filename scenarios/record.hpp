// SPDX-License-Identifier: Apache-2.0
// A scenario's run, recorded into a run folder (recording/run_folder.hpp) that any ROS tool opens and that `replay` takes.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "recording/recorder.hpp"
#include "scenarios/run.hpp"

namespace pitwall::scenarios {

struct RecordTo {
  std::filesystem::path folder;  ///< of this run; must not exist or be empty
  std::string host;              ///< name of the machine, for the manifest
};

/// Map and followed line, as latched /map and /path.
void record_map(recording::Recorder& recorder, const ResolvedRun& run, Time now);

/// run_scenario() with everything that happens written down: what each controller was told and answered, map and line, and
/// the truth. The outcome is the same to the bit. Errors also where the folder cannot be written.
Result<Outcome> run_recorded(const ResolvedRun& run, const RecordTo& to, const std::function<bool()>& interrupted);

}  // namespace pitwall::scenarios
