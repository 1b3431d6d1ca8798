// SPDX-License-Identifier: Apache-2.0
// What a SLAM made of a run: how far odometry drifted against it, how it corrected, whether its laps close and its map is sharp, what it
// dropped. Works on runs of any SLAM that publishes map -> odom, and says more of ours, which leave slam.json behind.
#pragma once

#include <filesystem>
#include <optional>

#include "analysis/gated_report.hpp"
#include "analysis/slam_facts.hpp"

namespace pitwall::analysis {

struct SlamReportOptions {
  std::filesystem::path out;  ///< empty: RUN/analysis/slam_report, of a bag or file the folder it lies in
  SlamFactsOptions facts;
  bool pictures = true;
  std::optional<double> max_correction_m;         ///< gate: largest move at the car
  std::optional<double> min_consistency_percent;  ///< gate: ends of beams on walls
};

/// The report, written to slam_report.md, summary.json, map.svg and timeline.svg. Refused: as slam_facts().
GatedReport slam_report(const std::filesystem::path& run, const SlamReportOptions& options);

/// Two runs side by side, written to `out` in the same way; nothing is written into either. Refused: no `out`, the same run twice, an `out`
/// inside a run, and as above.
GatedReport slam_compare(const std::filesystem::path& a, const std::filesystem::path& b, const SlamReportOptions& options);

/// The sections of one run.
Document slam_document(const SlamFacts& facts);

/// Map with trajectories and closures; drift, corrections, drops and CPU over time.
std::string map_picture(const SlamFacts& facts);
std::string timeline_picture(const SlamFacts& facts);
/// Both trajectories on the map of the first; both drifts and corrections.
std::string map_picture(const SlamFacts& a, const SlamFacts& b);
std::string timeline_picture(const SlamFacts& a, const SlamFacts& b);

}  // namespace pitwall::analysis
