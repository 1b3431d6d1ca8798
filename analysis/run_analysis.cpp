// SPDX-License-Identifier: Apache-2.0
#include "analysis/run_analysis.hpp"

#include <algorithm>
#include <utility>

#include "analysis/cache.hpp"
#include "analysis/run_cache.hpp"
#include "core/hash.hpp"
#include "core/text.hpp"
#include "recording/bag_reader.hpp"

namespace pitwall::analysis {

namespace {

namespace fs = std::filesystem;

Result<CacheKey> key_of(const AnalysisOptions& options, const Driver& driver) {
  CacheKey key(kRunCacheFormat);
  if (const Status added = key.add_recording(options.run); !added) return added.error();
  key.add("car", options.recorded_car);
  key.add("topics", join(options.topics));
  key.add("scan matching", save_fields(options.matching));
  key.add("controller", driver.controller);
  key.add("controller parameters", driver.parameters);
  key.add("car parameters", save_fields(driver.car));
  return key;
}

std::int64_t deadman_button(const Driver& driver) {
  constexpr std::int64_t kLeftBumper = 4;
  const Node* button = driver.parameters.find("deadman_button");
  return button != nullptr ? parse_int(button->scalar).value_or(kLeftBumper) : kLeftBumper;
}

/// Series, and the motion by scans while they are read.
Status read_run(const AnalysisOptions& options, const Driver& driver, GatheredRun& gathered) {
  std::unique_ptr<MotionTracker> tracker;
  LoadOptions load;
  load.car = options.recorded_car;
  load.topics = options.topics;
  load.deadman_button = deadman_button(driver);
  load.progress = options.progress;
  load.scan = [&](const RunData& run, const LaserScan& scan) {
    if (!tracker) {
      const Pose2 mount = run.T_base_lidar.value_or(driver.car.lidar_mount());
      tracker = std::make_unique<MotionTracker>(paired(options.matching, run.scan_period_s), mount, run.origin, options.threads);
    }
    tracker->add(scan);
  };
  Result<RunData> run = load_run(options.run, load);
  if (!run) return run.error();
  gathered.run = *std::move(run);
  if (tracker) gathered.motion = tracker->finish();
  return {};
}

ReplayRequest request_of(const RunData& run) { return {run.path, run.car, run.parameter_changes, {}, true}; }

Status replay_run(const AnalysisOptions& options, const Driver& driver, GatheredRun& gathered) {
  const RunData& run = gathered.run;
  if (run.drive.empty() && !run.has_ticks) {
    gathered.no_replay = "there are no commands of a controller (" + run.car.prefix + "/drive)";
    return {};
  }
  Result<Replayed> replayed = replay_decisions(request_of(run), driver, options.progress);
  if (!replayed) {
    if (replayed.error().message == "interrupted") return replayed.error();
    gathered.no_replay = replayed.error().message;
    return {};
  }
  gathered.replayed = *std::move(replayed);
  return {};
}

/// What section 21 of the contract asks for: scans and commands.
Status refuse_useless(const RunData& run) {
  for (const MissingTopic& missing : run.missing) {
    if (missing.role == "scan" || missing.role == "command") {
      return Error{run.path.string() + ": no " + (missing.role == "scan" ? "scans" : "commands") + " to analyse: " + missing.why};
    }
  }
  return {};
}

Result<GatheredRun> gather(const AnalysisOptions& options, const Driver& driver, const fs::path& file, std::string& note) {
  const Result<CacheKey> key = key_of(options, driver);
  if (!key) return key.error();
  const CachedArrays cached = options.refresh ? CachedArrays{std::nullopt, "--refresh"} : load_cache(file, *key);
  std::string why = cached.why;
  if (cached.arrays) {
    Result<GatheredRun> gathered = unpack(*cached.arrays);
    if (gathered) {
      note = "read from " + file.string();
      gathered->run.path = options.run;
      return gathered;
    }
    why = "it is damaged (" + gathered.error().message + ")";
  }
  GatheredRun gathered;
  if (const Status read = read_run(options, driver, gathered); !read) return read.error();
  if (const Status refused = refuse_useless(gathered.run); !refused) return refused.error();
  if (const Status replayed = replay_run(options, driver, gathered); !replayed) return replayed.error();
  const Status saved = save_cache(file, *key, pack(gathered));
  note = saved ? "made: " + file.string() + " (" + why + ")" : "not kept: " + saved.error().message;
  return gathered;
}

void warn(RunAnalysis& analysis) {
  const RunData& run = analysis.run;
  std::vector<std::string>& warnings = analysis.warnings;
  if (run.damaged) warnings.push_back("the recording is damaged: what could be read is analysed");
  for (const std::string& finding : run.findings) warnings.push_back(finding);
  for (const UsedTopic& topic : run.topics) {
    if (topic.unreadable > 0) {
      warnings.push_back(topic.name + ": " + std::to_string(topic.unreadable) + " of " + std::to_string(topic.count + topic.unreadable) +
                         " messages are not what their type says and were left out");
    }
  }
  for (const UsedTopic& topic : run.topics) {
    if (topic.clock_shift_s == 0.0) continue;
    warnings.push_back(topic.name + ": its stamps are of another clock, " + format_number(topic.clock_shift_s, 12) +
                       " s from that of the recorder; they were shifted by the first of them, so lags contain its delay in transport");
  }
  if (run.manifest) {
    for (const std::string& changed : recording::changed_files(run.path, *run.manifest)) warnings.push_back(changed);
    if (!run.manifest->finished) warnings.emplace_back("the run was not finished: its recorder died");
  }
  if (!run.T_base_lidar) {
    warnings.push_back("/tf_static does not say where the scanner is mounted: that of the car's profile is taken, " +
                       format_number(analysis.driver.car.lidar_x_m, 3) + " m ahead of the rear axle");
  }
  if (!analysis.replayed) warnings.push_back("no replay: " + analysis.no_replay);
  if (analysis.replayed) {
    for (const std::string& note : analysis.driver.notes) warnings.push_back(note);
    for (const std::string& note : analysis.replayed->calls.notes) warnings.push_back(note);
  }
}

}  // namespace

fs::path analysis_folder(const fs::path& run) {
  std::error_code ignored;
  if (fs::is_directory(run, ignored)) return run / "analysis";
  fs::path beside = run;
  beside += ".analysis";
  return beside;
}

Result<RunAnalysis> analyze(const AnalysisOptions& options) {
  // What is no recording is said before anything else is looked at.
  {
    const Result<recording::BagReader> there = recording::BagReader::open(options.run);
    if (!there) return there.error();
  }
  Result<Driver> driver = find_driver(options.run, options.recorded_car, options.driver);
  if (!driver) return driver.error();
  RunAnalysis analysis;
  analysis.driver = *std::move(driver);
  analysis.out = options.out.empty() ? analysis_folder(options.run) : options.out;
  if (!options.assignments.empty()) {
    std::vector<std::string> unchanged;
    Result<Driver> changed = with_assignments(analysis.driver, options.assignments, unchanged);
    if (!changed) return changed.error();
    for (const std::string& each : unchanged) analysis.warnings.push_back("--set " + each + " changes nothing: it has that value");
    analysis.changed = *std::move(changed);
    analysis.what_if_names = assigned_names(analysis.driver, options.assignments);
  }
  Result<GatheredRun> gathered = gather(options, analysis.driver, analysis.out / "run.npz", analysis.cache);
  if (!gathered) return gathered.error();
  analysis.run = std::move(gathered->run);
  analysis.motion = std::move(gathered->motion);
  analysis.replayed = std::move(gathered->replayed);
  analysis.no_replay = std::move(gathered->no_replay);
  if (Result<recording::RunManifest> manifest = recording::load_manifest(options.run); manifest)
    analysis.run.manifest = *std::move(manifest);
  if (analysis.changed && analysis.replayed) {
    ReplayRequest request = request_of(analysis.run);
    request.fixed = analysis.what_if_names;
    request.geometry = false;
    Result<Replayed> what_if = replay_decisions(request, *analysis.changed, options.progress);
    if (!what_if) return what_if.error();
    analysis.what_if = *std::move(what_if);
  }
  analysis.holds = find_holds(analysis.run.joy, analysis.run.duration_s);
  if (std::all_of(analysis.holds.begin(), analysis.holds.end(), [](const Hold& hold) { return hold.too_short; })) {
    analysis.whole_run = true;
    analysis.holds.push_back({0.0, analysis.run.duration_s});
  }
  warn(analysis);
  return analysis;
}

}  // namespace pitwall::analysis
