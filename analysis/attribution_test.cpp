// SPDX-License-Identifier: Apache-2.0
// Every stop of a simulated run is attributed to the layer that made it: ten scenarios, ten seeds each, made to stop for ten different
// reasons.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analysis/decisions.hpp"
#include "analysis/response.hpp"
#include "analysis/stop_rows.hpp"
#include "core/files.hpp"
#include "scenarios/incidents.hpp"
#include "scenarios/record.hpp"
#include "scenarios/run.hpp"
#include "tests/support/temp_folder.hpp"

using namespace pitwall;
using namespace pitwall::analysis;

namespace {

namespace fs = std::filesystem;

constexpr const char* kSuite = R"(
ttc:            {id: ttc, tracks: every, timeout_s: 8, criteria: {laps_at_least: 50}, cars: {ego: {controller: gap_follow}}, gap_follow: {ttc_threshold_s: 1.5, ttc_path_margin_m: 0.3}}
emergency:      {id: emergency, tracks: every, timeout_s: 8, criteria: {laps_at_least: 50}, cars: {ego: {controller: gap_follow, start_lateral_m: 0.3, start_heading_rad: 0.5}}, gap_follow: {emergency_stop_clearance_m: 0.25}}
forward:        {id: forward, tracks: every, timeout_s: 8, criteria: {laps_at_least: 50}, cars: {ego: {controller: gap_follow, start_heading_rad: 1.2}}, gap_follow: {forward_stop_clearance_m: 1, emergency_stop_clearance_m: 0.01}}
no_gap:         {id: no_gap, tracks: every, timeout_s: 8, criteria: {laps_at_least: 50}, cars: {ego: {controller: gap_follow}}, gap_follow: {min_gap_distance_m: 5, fallback_min_gap_distance_m: 3}}
scan_loss:      {id: scan_loss, tracks: every, timeout_s: 8, criteria: {laps_at_least: 50}, cars: {ego: {controller: gap_follow}}, faults: {f: {kind: scan_loss, start_s: 2, start_spread_s: 3, length_s: 1.5}}}
odometry_loss:  {id: odometry_loss, tracks: every, timeout_s: 8, criteria: {laps_at_least: 50}, cars: {ego: {controller: gap_follow}}, faults: {f: {kind: odometry_loss, start_s: 2, start_spread_s: 3, length_s: 1.5}}}
joy_loss:       {id: joy_loss, tracks: every, timeout_s: 8, criteria: {laps_at_least: 50}, cars: {ego: {controller: gap_follow}}, faults: {f: {kind: joy_loss, start_s: 2, start_spread_s: 3, length_s: 1.5}}}
deadman:        {id: deadman, tracks: every, timeout_s: 8, criteria: {laps_at_least: 50}, cars: {ego: {controller: gap_follow}}, faults: {f: {kind: deadman_released, start_s: 2, start_spread_s: 3, length_s: 1.5}}}
command_loss:   {id: command_loss, tracks: every, timeout_s: 8, criteria: {laps_at_least: 50}, cars: {ego: {controller: gap_follow}}, faults: {f: {kind: command_loss, start_s: 2, start_spread_s: 3, length_s: 1.5}}}
pose_frozen:    {id: pose_frozen, tracks: every, timeout_s: 8, criteria: {laps_at_least: 50}, cars: {ego: {controller: pure_pursuit}}, faults: {f: {kind: pose_frozen, start_s: 2, start_spread_s: 3, length_s: 1.5}}}
)";

/// What each scenario is there for: the layer and reason that must be found in it.
const std::map<std::string, std::string> kExpected{{"ttc", "safety: ttc_brake"},        {"emergency", "safety: emergency_clearance"},
                                                   {"forward", "safety: forward_stop"}, {"no_gap", "law: no_safe_gap"},
                                                   {"scan_loss", "drive_silent"},       {"odometry_loss", "watchdog: odometry_stale"},
                                                   {"joy_loss", "watchdog: joy_stale"}, {"deadman", "watchdog: deadman_released"},
                                                   {"command_loss", "driver"},          {"pose_frozen", "watchdog: pose_frozen"}};

std::vector<scenarios::ResolvedRun> all_runs() {
  scenarios::ValidationOptions options;
  options.data = data_folder();
  options.suite_text = kSuite;
  options.tracks = {"indoor_oval"};
  options.repeat_seeds = 10;
  const auto runs = scenarios::resolve(options);
  REQUIRE_MESSAGE(runs.ok(), runs.error().message);
  return *runs;
}

/// All of a run, without matching scans: the wheels say how it moves.
RunAnalysis analysed(const fs::path& folder) {
  RunAnalysis analysis;
  auto run = load_run(folder, {});
  REQUIRE_MESSAGE(run.ok(), run.error().message);
  analysis.run = *std::move(run);
  DriverOptions options;
  options.data = data_folder();
  auto driver = find_driver(folder, "", options);
  REQUIRE_MESSAGE(driver.ok(), driver.error().message);
  analysis.driver = *std::move(driver);
  auto replayed = replay_decisions({folder, analysis.run.car, {}, {}, true}, analysis.driver);
  REQUIRE_MESSAGE(replayed.ok(), replayed.error().message);
  analysis.replayed = *std::move(replayed);
  return analysis;
}

struct Tally {
  std::size_t stop_ticks = 0;
  std::size_t attributed = 0;
  std::size_t calls = 0;
  std::size_t reproduced = 0;
  std::map<std::string, std::size_t> found;
};

void count_calls(const DecisionSeries& calls, Tally& tally) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    ++tally.calls;
    tally.reproduced += calls.recorded_steering_rad[i] == calls.steering_rad[i] && calls.recorded_speed_mps[i] == calls.speed_mps[i] &&
                                calls.recorded_reason[i] == calls.reason[i] && calls.recorded_layer[i] == calls.layer[i] &&
                                calls.recorded_beam[i] == calls.beam[i]
                            ? 1
                            : 0;
    tally.stop_ticks += calls.recorded_stop(i) ? 1 : 0;
  }
}

}  // namespace

TEST_CASE("every stop of ten scenarios with ten seeds is attributed to the layer that made it") {
  const TempFolder folder("attribution");
  Tally tally;
  std::size_t number = 0;
  for (const scenarios::ResolvedRun& run : all_runs()) {
    CAPTURE(run.scenario.id);
    CAPTURE(run.scenario.world.seed);
    const fs::path path = folder.path() / std::to_string(number++);
    const auto outcome = scenarios::run_recorded(run, {path, "test"}, [] { return false; });
    REQUIRE_MESSAGE(outcome.ok(), outcome.error().message);
    const RunAnalysis analysis = analysed(path);
    const auto& line = scenarios::followed_path(run);
    const std::vector<sim::Fault> faults =
        scenarios::surroundings_of(run.obstacles, run.faults, run.cars, line, run.scenario.world.seed).faults;
    const Hold all{0.0, analysis.run.duration_s};
    const std::vector<StopRow> rows = stops_of(analysis, all, by_odometry(analysis.run.odometry, 0.0, all.end_s), 0.15);
    count_calls(analysis.replayed->calls, tally);
    for (const StopRow& row : rows) {
      CAPTURE(row.begin_s);
      if (row.event != nullptr) {
        // What the run's own ticks say, on each of its ticks.
        for (std::size_t i = row.event->first; i <= row.event->last; ++i) {
          const auto& calls = analysis.replayed->calls;
          const std::string truth = std::string(name(static_cast<Layer>(static_cast<int>(calls.recorded_layer[i])))) + ": " +
                                    std::string(name(static_cast<Reason>(static_cast<int>(calls.recorded_reason[i]))));
          tally.attributed += truth == row.layer + ": " + row.reason ? 1 : 0;
        }
        CHECK(row.agrees());
        ++tally.found[run.scenario.id + " " + row.layer + ": " + row.reason];
        continue;
      }
      // No controller made it: then it lies in the fault that did.
      const double start = faults.empty() ? -1.0 : faults.front().start_s;
      const double length = faults.empty() ? 0.0 : faults.front().length_s;
      CHECK((run.scenario.id == "scan_loss" || run.scenario.id == "command_loss"));
      CHECK(row.layer == kExpected.at(run.scenario.id));
      CHECK(row.begin_s > start);
      CHECK(row.end_s < start + length + 0.3);
      ++tally.found[run.scenario.id + " " + row.layer];
    }
    // Without the ticks, by arrival times alone, the attribution is the same.
    if (run.scenario.world.seed % 5 == 0) {
      fs::remove(path / "internal.mcap");
      const RunAnalysis approximate = analysed(path);
      CHECK(approximate.replayed->calls.approximate);
      REQUIRE(approximate.replayed->stops.size() == analysis.replayed->stops.size());
      for (std::size_t k = 0; k < approximate.replayed->stops.size(); ++k) {
        CHECK(approximate.replayed->stops[k].layer == analysis.replayed->stops[k].layer);
        CHECK(approximate.replayed->stops[k].reason == analysis.replayed->stops[k].reason);
      }
    }
    fs::remove_all(path);
  }
  CHECK(number == 100);
  CHECK(tally.stop_ticks > 1000);
  CHECK(tally.attributed == tally.stop_ticks);
  CHECK(tally.reproduced == tally.calls);
  MESSAGE(number << " runs, " << tally.calls << " decisions, " << tally.reproduced << " reproduced; " << tally.stop_ticks << " stop ticks, "
                 << tally.attributed << " attributed");
  for (const auto& [id, layer] : kExpected) {
    const std::size_t found = tally.found[id + " " + layer];
    CHECK_MESSAGE(found > 0, id << " was to stop for " << layer);
  }
  for (const auto& [what, times] : tally.found) MESSAGE(what << ": " << times);
}
