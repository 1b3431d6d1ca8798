// SPDX-License-Identifier: Apache-2.0
// From what the user asked for to a list of runs with nothing left open.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calibration/car_profile.hpp"
#include "core/result.hpp"
#include "scenarios/incidents.hpp"
#include "scenarios/scenario.hpp"
#include "tracks/track.hpp"

namespace pitwall::localization {
struct LocalizerMap;
}

namespace pitwall::scenarios {

/// What the command line of run_validation can say. An empty optional leaves the suite's own value.
struct ValidationOptions {
  std::filesystem::path data;        ///< holds tracks, cars and suites
  std::filesystem::path own_tracks;  ///< the user's own, found by name too; empty: none
  std::string suite_text;            ///< a suite in memory, in place of a file
  std::string scenario = "all";      ///< all, a suite, a scenario of any suite, or a suite file (such as a resolved scenario)
  std::vector<std::string> tracks;   ///< empty: the group `circuits`
  std::optional<std::int64_t> seed;
  std::int64_t repeat_seeds = 1;
  std::optional<double> timeout_s;
  bool quick = false;  ///< first track only
  bool no_centering = false;
  std::optional<plant::Fidelity> fidelity;
  std::optional<LineChoice> raceline;
  std::optional<Localization> localization;
  std::string car;                          ///< empty: f1tenth
  bool car_given = false;                   ///< on the command line, so that a scenario with a car of its own must refuse it
  std::vector<std::string> assignments;     ///< --set key=value
  std::string steering_law;                 ///< empty: the scenarios' own
  std::vector<std::string> law_parameters;  ///< --law-param key=value
  std::function<bool()> interrupted;        ///< asked before each run is resolved; may be empty

  [[nodiscard]] tracks::TrackLibrary library() const { return {data / "tracks", own_tracks}; }
};

/// Seeds fit into the 53 bits of a JSON number.
inline constexpr std::int64_t kLargestSeed = 9'000'000'000'000'000;

inline constexpr std::string_view kRacingLine = "racing line";
inline constexpr std::string_view kCentreLine = "centre line";
inline constexpr std::string_view kOptimizedLine = "optimized line";

/// One run, resolved, with the data it runs on.
struct ResolvedRun {
  Scenario scenario;
  std::vector<CarSpec> cars;
  std::vector<ObstacleSpec> obstacles;
  std::vector<FaultSpec> faults;
  CarParameters parameters;  ///< of every car in the run
  std::shared_ptr<const calibration::CarProfile> profile;
  std::shared_ptr<const tracks::Track> track;
  std::shared_ptr<const localization::LocalizerMap> localizer_map;  ///< of poses by scans; else null
  std::string line_name;                                            ///< "racing line", "centre line" or "optimized line"
  std::string expected_trace_hash;                                  ///< of a resolved scenario that is run again
};

/// The line that the run follows.
const tracks::Line& followed_line(const ResolvedRun& run);

/// The suites that ship: NAME for suites/NAME.yaml, sorted.
std::vector<std::string> suite_names(const std::filesystem::path& data);
/// The scenarios of the suite that `all` runs.
Result<std::vector<std::string>> scenario_names(const std::filesystem::path& data);

/// All runs, in the order they are reported: scenario by scenario, seed by seed, track by track. Loads each track once;
/// warns where a followed line is nearer to a wall than half the car. What is said twice and differently (a flag and --set,
/// or a flag and a scenario that has its own) is an error. After an interrupt: the runs so far.
Result<std::vector<ResolvedRun>> resolve(const ValidationOptions& options);

/// The scenario as a suite file of one.
std::string to_suite_yaml(const Scenario& scenario, const std::string& name);

}  // namespace pitwall::scenarios
