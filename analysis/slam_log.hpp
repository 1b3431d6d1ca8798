// SPDX-License-Identifier: Apache-2.0
// What the text files of a race stack say about its SLAM: launch.log (closures, laps and their verdicts) and system.csv (CPU).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pitwall::analysis {

/// A lap that the supervisor closed or gave up.
struct LoggedLap {
  std::size_t lap = 0;
  std::size_t of = 0;    ///< requested
  std::string verdict;   ///< "not judged", "passed", "failed", "failed (accepted at the ceiling)", "unknown"
  std::size_t line = 0;  ///< of launch.log that says so
};

struct SlamLog {
  bool present = false;
  std::size_t closures = 0;  ///< lines about a loop closure
  std::size_t drops = 0;     ///< lines about a dropped scan
  std::vector<LoggedLap> laps;
};

/// Laps before the last requested are not judged. A judged lap has failed where a line says so (at the ceiling where it was kept all the
/// same), and has passed only if a later line confirms that the racing profile was written.
SlamLog read_slam_log(std::string_view launch_log);

/// CPU of the processes with "slam" in their name, in % of one core, over time.
struct CpuSeries {
  std::vector<double> t_s;  ///< by the clock of the machine, s since 1970
  std::vector<double> percent;
};
/// Reads system.csv: columns t, name, cpu_percent among others. Lines that do not fit are stepped over.
CpuSeries read_slam_cpu(std::string_view system_csv);

}  // namespace pitwall::analysis
