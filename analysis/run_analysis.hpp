// SPDX-License-Identifier: Apache-2.0
// What a recorded run says, gathered: series, motion by scans, every decision made again, with and without a change. The costly part
// (reading, matching scans, the replay with the recorded parameters) is kept in analysis/run.npz; reports are made from this.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/decisions.hpp"
#include "analysis/holds.hpp"
#include "analysis/motion.hpp"
#include "analysis/run_data.hpp"
#include "core/result.hpp"

namespace pitwall::analysis {

struct AnalysisOptions {
  std::filesystem::path run;
  std::filesystem::path out;  ///< where reports and the cache go; empty: the run's analysis/, or beside a bare file
  DriverOptions driver;
  std::string recorded_car;              ///< of several in a run folder
  std::vector<std::string> topics;       ///< "role=name"
  std::vector<std::string> assignments;  ///< --set, what if
  localization::ScanTrackParameters matching;
  bool refresh = false;  ///< make the cache again
  unsigned threads = 0;
  recording::BagProgress progress;
};

struct RunAnalysis {
  std::filesystem::path out;
  RunData run;
  MotionSeries motion;
  Driver driver;
  std::optional<Replayed> replayed;  ///< nothing where there is nothing to replay: `no_replay` says why
  std::string no_replay;
  std::optional<Driver> changed;    ///< with the assignments
  std::optional<Replayed> what_if;  ///< replayed with them
  std::vector<std::string> what_if_names;
  std::vector<Hold> holds;
  bool whole_run = false;  ///< no hold was found: the whole recording is one
  std::string cache;       ///< where it is and whether it was used
  std::vector<std::string> warnings;
};

/// Everything that costs time or memory. Errors are bad input, in words for the user.
struct GatheredRun {
  RunData run;
  MotionSeries motion;
  std::optional<Replayed> replayed;
  std::string no_replay;
};

/// Where reports about a recording go if nobody says otherwise.
std::filesystem::path analysis_folder(const std::filesystem::path& run);

Result<RunAnalysis> analyze(const AnalysisOptions& options);

}  // namespace pitwall::analysis
