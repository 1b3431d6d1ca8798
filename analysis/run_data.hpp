// SPDX-License-Identifier: Apache-2.0
// Reads a recording into series (recording/run_data.hpp): run folders of ours and bags of others; a topic that is missing, or of a type
// that is not read, is named together with what cannot be said without it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/messages.hpp"
#include "core/result.hpp"
#include "recording/bag_info.hpp"
#include "recording/run_data.hpp"

namespace pitwall::analysis {

using recording::CommandSeries;
using recording::ImuSeries;
using recording::JoySeries;
using recording::MissingTopic;
using recording::OdometrySeries;
using recording::PoseSeries;
using recording::RunData;
using recording::ScanSeries;
using recording::seconds_since;
using recording::sorted_by_stamp;
using recording::TruthSeries;
using recording::UsedTopic;

struct LoadOptions {
  std::string car;                  ///< of several in a run folder; empty: the first
  std::int64_t deadman_button = 4;  ///< index in Joy.buttons
  std::vector<std::string> topics;  ///< "role=name" over the usual names
  /// Told every scan, in order; holds during the call. Origin, car and mount of the run are known by then.
  std::function<void(const RunData& run, const LaserScan& scan)> scan;
  recording::BagProgress progress;
};

/// Reads a run folder, a bag or one storage file. Errors: nothing there, no such car, a role or topic that does not exist, interrupted.
/// Whatever is wrong inside is in `missing` and `findings`.
Result<RunData> load_run(const std::filesystem::path& path, const LoadOptions& options);

/// The roles that "role=name" knows.
std::vector<std::string> topic_roles();

}  // namespace pitwall::analysis
