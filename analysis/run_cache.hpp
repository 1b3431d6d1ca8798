// SPDX-License-Identifier: Apache-2.0
// A gathered run as arrays and back: the content of analysis/run.npz. Names are paths: "command/speed_mps", "motion/yaw_rate_radps",
// "calls/reason", "stops/clear_m"; texts lie in "notes" as JSON.
#pragma once

#include "analysis/npz.hpp"
#include "analysis/run_analysis.hpp"
#include "core/result.hpp"

namespace pitwall::analysis {

inline constexpr int kRunCacheFormat = 2;

NpzWriter pack(const GatheredRun& gathered);
/// Errors: an array or a note is missing or of another size than it should be.
Result<GatheredRun> unpack(const NpzReader& arrays);

}  // namespace pitwall::analysis
