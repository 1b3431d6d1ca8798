// SPDX-License-Identifier: Apache-2.0
// Logs that others keep of their cars, as a run folder of ours, so that whatever reads a recording reads them:
//
//   folder of tables   commandData.csv (V, delta), imuData.csv, odomData.csv, pfOdomData.csv, pfPoseData.csv, coreData.csv, each with the
//                      columns s and ns (AhmadAmine998/FrictionMaps)
//   CARMEN             FLASER and ODOM lines of corrected logs (Radish), plain or gzip: scans, raw odometry, corrected poses
//   BreezySLAM         a line per scan: time, wheel ticks, ranges in mm
//   pose graph         g2o: its poses
//   one table          time, pose, velocity, controls and single beams of the scanner, LIDAR_0040 .. LIDAR_1015
//                      (F1Tenth-INI/f1tenth_development_gym)
//
// Such logs have traps, and what is written has none: SI units, no column that repeats another, no speed that is an acceleration. Whatever
// was detected, changed or left out is said in the report, in one line each, and kept as import.json in the folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/result.hpp"

namespace pitwall::recording {

/// In which units an IMU's table is.
enum class UnitChoice : std::uint8_t { kDetect, kSi, kGDegrees };

struct ImportOptions {
  std::filesystem::path log;     ///< a folder of tables, or a file
  std::filesystem::path output;  ///< the run folder, which must not exist or be empty
  std::string car_id;            ///< profile of the car, where it is known
  UnitChoice units = UnitChoice::kDetect;
};

struct ImportedSeries {
  std::string topic;
  std::string type;
  std::string from;  ///< the file
  std::uint64_t count = 0;
  double rate_hz = 0.0;
};

struct ImportReport {
  std::filesystem::path folder;
  std::string format;  ///< "folder of tables", "one table", "CARMEN log", "BreezySLAM log", "pose graph"
  double duration_s = 0.0;
  std::vector<ImportedSeries> series;
  std::vector<std::string> traps;     ///< what was not what its name says, and what became of it
  std::vector<std::string> left_out;  ///< columns and rows that were not imported, and why
};

/// Reads the log and writes the run folder. Errors: no such log, a table that is none, a log of a kind that is not known (with the columns
/// that it has), units that cannot be told, a folder that is not empty. Nothing is written before the whole log was read.
Result<ImportReport> import_run(const ImportOptions& options);

std::string to_json(const ImportReport& report);
/// As people read it.
std::string to_text(const ImportReport& report);

}  // namespace pitwall::recording
