// SPDX-License-Identifier: Apache-2.0
// Our SLAM as a system of the golden comparison (recording/golden.hpp): recordings are played into it in lockstep.
#pragma once

#include <filesystem>
#include <vector>

#include "recording/golden.hpp"

namespace pitwall::analysis {

/// Graph, settled trajectory of the nodes, and the map, from /scan, the odometry topic of the scenario and /tf_static (where the scanner
/// sits; in the frame of the odometry's child where its scans are). Errors: reading, no scans, no odometry, a scanner without a place.
Result<recording::Mapping> map_by_slam(const recording::GoldenScenario& scenario, const std::vector<std::filesystem::path>& recordings,
                                       const recording::PlayerOptions& how);

}  // namespace pitwall::analysis
