// SPDX-License-Identifier: Apache-2.0
#include "analysis/closed_loop.hpp"

#include <cmath>
#include <system_error>

#include "recording/bag_reader.hpp"
#include "recording/run_messages.hpp"
#include "ros_messages/message.hpp"
#include "scenarios/record.hpp"

namespace pitwall::analysis {

namespace {

/// Counts what internal.mcap says of one car.
Result<LoopRun> drive_again(const std::filesystem::path& folder, const std::string& car) {
  Result<recording::BagReader> reader = recording::BagReader::open(folder / "internal.mcap");
  if (!reader) return reader.error();
  LoopRun run;
  run.folder = folder;
  recording::Tick tick;
  recording::Truth truth;
  recording::ContactRecord contact;
  bool stopped = false;
  bool placed = false;
  Vec2 at;
  Time first;
  Time last;
  while (const recording::BagMessage* message = reader->next()) {
    const std::string& topic = reader->topics()[message->topic].name;
    const std::string_view bytes = recording::as_text(message->data);
    if (topic == recording::kTickTopic && ros_messages::read(bytes, tick) && tick.car == car) {
      const bool stop = tick.speed_mps == 0.0F;
      ++run.ticks;
      run.stop_ticks += stop ? 1 : 0;
      run.stops += stop && !stopped ? 1 : 0;
      stopped = stop;
    } else if (topic == recording::kTruthTopic && ros_messages::read(bytes, truth) && truth.car == car) {
      if (placed) run.way_m += distance(at, {truth.x_m, truth.y_m});
      if (!placed) first = {truth.time_ns};
      placed = true;
      at = {truth.x_m, truth.y_m};
      last = {truth.time_ns};
    } else if (topic == recording::kContactTopic && ros_messages::read(bytes, contact) && contact.car == car) {
      ++run.contacts;
    }
  }
  run.seconds = (last - first).seconds();
  run.mean_mps = run.seconds > 0.0 ? run.way_m / run.seconds : 0.0;
  return run;
}

}  // namespace

Result<ClosedLoop> run_closed_loop(const RunAnalysis& analysis, const std::filesystem::path& folder, const std::string& host,
                                   const std::function<bool()>& interrupted) {
  if (!analysis.changed) return Error{"--closed-loop needs a change: --set NAME=VALUE"};
  if (!analysis.changed->run || !analysis.run.manifest) {
    return Error{"--closed-loop: " + analysis.run.path.string() + " is no simulated run; only one that has its scenario can be run again"};
  }
  ClosedLoop result;
  Result<LoopRun> before = drive_again(analysis.run.path, analysis.run.car.name);
  if (!before) return before.error();
  result.before = *std::move(before);
  std::error_code failed;
  std::filesystem::remove_all(folder, failed);
  if (failed) return Error{folder.string() + ": cannot be replaced: " + failed.message()};
  scenarios::ResolvedRun run = *analysis.changed->run;
  run.expected_trace_hash.clear();
  run.scenario.trace_hash.clear();
  const Result<scenarios::Outcome> outcome = scenarios::run_recorded(run, {folder, host}, interrupted);
  if (!outcome) return outcome.error();
  if (outcome->interrupted) return Error{"interrupted"};
  result.passed = outcome->passed;
  if (outcome->failure) result.failure = outcome->failure->what;
  Result<LoopRun> after = drive_again(folder, analysis.run.car.name);
  if (!after) return after.error();
  result.after = *std::move(after);
  return result;
}

}  // namespace pitwall::analysis
