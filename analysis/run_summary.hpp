// SPDX-License-Identifier: Apache-2.0
// One page on a run folder before anybody opens the bag: what is there, how far the run came, what stopped it, what its log complains
// of; of our own runs what run.json and the ticks of internal.mcap say. (After racerbot's summarize_run.)
#pragma once

#include <filesystem>

#include "analysis/gated_report.hpp"

namespace pitwall::analysis {

/// Refused is what is no folder; what is missing in one, or damaged, is a warning.
GatedReport summarize_run(const std::filesystem::path& folder);

}  // namespace pitwall::analysis
