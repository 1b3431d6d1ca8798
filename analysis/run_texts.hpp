// SPDX-License-Identifier: Apache-2.0
// The text files that a race stack leaves beside a recording: launch.log, its terminal output, and events.jsonl, one JSON object a line
// from a probe that watched the topics. (Categories and grammar after racerbot's race_diagnostics.)
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pitwall::analysis {

/// From mapping to racing, in order. Each is a category of log_category() or of an event, so each can be reached.
inline constexpr std::array<std::string_view, 5> kRunPhases{"slam_lifecycle", "lap_closed", "profile_generated", "profile_loaded",
                                                            "handover"};

/// What a line of the log is about: a phase, "map_save", "watchdog", "node_death", "error", "lap_progress", "tf_missing", "scan_dropped",
/// "stopped"; empty where it is about none of them. A phase that a line says has failed is no phase but an error.
std::string_view log_category(std::string_view line);

/// The x of "STOP [x]"; empty where there is none.
std::string_view stop_reason(std::string_view line);

/// A report of the supervisor on the lap being mapped, read by its "name=value/limit" pairs in any order, so that further ones do no harm.
struct LapProgress {
  std::string lap;     ///< "1/2"
  bool readable;       ///< all of departed, distance, elapsed, start distance and heading error are there
  std::string gate;    ///< first that keeps the lap open: departed, distance, elapsed, start_distance, heading_error, turn; else empty
  std::string detail;  ///< "42.3 of at most 30.0 deg"
};
/// Nothing where the line is no such report.
std::optional<LapProgress> lap_progress(std::string_view line);

/// Something that went wrong, once for all lines that differ in their stamps only.
struct LoggedError {
  std::string text;  ///< of the first line, at most 400 bytes
  std::string where;
  std::size_t count = 0;
};

/// Where something was seen for the first time.
struct Sighting {
  std::string where;  ///< "launch.log:12"
  double t_s = NAN;   ///< by the clock of the line; NaN where it has none
};

/// What launch.log and events.jsonl say.
struct RunTexts {
  bool has_log = false;
  bool has_events = false;
  std::map<std::string, std::size_t, std::less<>> log_counts;    ///< lines by category
  std::map<std::string, std::size_t, std::less<>> event_counts;  ///< events by category
  std::map<std::string, Sighting, std::less<>> phases;           ///< those that were reached
  std::map<std::string, std::size_t, std::less<>> watchdogs;     ///< stops by a watchdog, by reason
  std::map<std::string, std::size_t, std::less<>> stops;         ///< other stops
  std::map<std::string, std::size_t, std::less<>> gates;         ///< progress reports by the gate that kept the lap open
  std::optional<LapProgress> last_progress;                      ///< of a lap that was not closed later
  std::size_t unreadable_progress = 0;
  std::vector<LoggedError> errors;
  // Of the pose, by the probe.
  double lag_max_s = NAN;
  std::size_t status_samples = 0;
  std::size_t frozen_samples = 0;
  std::set<std::string, std::less<>> topics_seen;
  std::size_t malformed_events = 0;  ///< lines that are no JSON object with a category
};
/// Nothing for a file that is not there. Lines of the log that were passed on as events count only where there is no log.
RunTexts read_run_texts(const std::optional<std::string>& launch_log, const std::optional<std::string>& events_jsonl);

}  // namespace pitwall::analysis
