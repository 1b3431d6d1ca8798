// SPDX-License-Identifier: Apache-2.0
// Everything that slam_report says of one run, measured; slam_report.cpp puts it into words.
#pragma once

#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/slam_corrections.hpp"
#include "analysis/slam_log.hpp"
#include "analysis/slam_record.hpp"
#include "analysis/slam_recording.hpp"
#include "localization/slam/evaluation.hpp"

namespace pitwall::analysis {

/// Heading of an odometry minus that of the SLAM, both from a common start.
struct HeadingDrift {
  std::string source;
  std::vector<double> t_s;
  std::vector<double> drift_rad;  ///< continuous
  [[nodiscard]] double final_rad() const { return drift_rad.empty() ? NAN : drift_rad.back(); }
  [[nodiscard]] double max_rad() const;
  [[nodiscard]] double rms_rad() const;
};

/// How far two accounts of one way agree.
struct WayPair {
  std::string source;
  double odometry_m = 0.0;  ///< over the samples for which the SLAM has a pose
  double slam_m = 0.0;
  double whole_m = 0.0;     ///< of the odometry over the whole recording
  double turned_deg = 0.0;  ///< amounts, summed, over the whole recording
  double rate_hz = 0.0;     ///< by the median of the periods
  double mean_mps = NAN;    ///< of the samples above 0.3 m/s
  double max_mps = NAN;
  double moving_share = NAN;  ///< of the samples that are above 0.3 m/s
};

/// Ends of beams on, or within one cell of, an occupied cell.
struct EndsOnWalls {
  std::size_t beams = 0;
  std::size_t on_walls = 0;
  [[nodiscard]] double percent() const { return beams == 0 ? NAN : 100.0 * static_cast<double>(on_walls) / static_cast<double>(beams); }
};

struct DropBin {
  double begin_s = 0.0;
  std::size_t drops = 0;
  double cpu_mean = NAN;  ///< % of one core
  double cpu_max = NAN;
};

struct SlamFacts {
  SlamRecording run;
  std::optional<SlamRecord> record;  ///< of a SLAM of ours
  SlamLog log;
  std::vector<Correction> corrections;
  DrivenPath path;  ///< by the first odometry
  std::vector<SlamLap> laps;
  std::vector<HeadingDrift> drifts;
  std::vector<WayPair> ways;
  EndsOnWalls consistency;
  std::vector<EndsOnWalls> lap_consistency;
  std::size_t scans_without_pose = 0;
  std::size_t crisp_cells = 0;  ///< of the scans that were taken in; 0: none
  bool has_drops = false;       ///< whether anything would tell of dropped scans
  std::vector<DropBin> drops;   ///< bins of 10 s with drops, or with CPU
  CpuSeries cpu;
  std::optional<slam::Evaluation> truth;  ///< of a simulated run
};

struct SlamFactsOptions {
  std::filesystem::path log;  ///< launch.log; empty: that of the run folder
  SlamReadOptions read;
};

/// Errors: those of load_slam_recording(), nothing that corrects an odometry ("the SLAM never published"), a slam.json that is none.
Result<SlamFacts> slam_facts(const std::filesystem::path& run, const SlamFactsOptions& options);

}  // namespace pitwall::analysis
