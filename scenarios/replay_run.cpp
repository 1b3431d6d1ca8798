// SPDX-License-Identifier: Apache-2.0
#include "scenarios/replay_run.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "controllers/make.hpp"
#include "core/node.hpp"
#include "core/text.hpp"
#include "scenarios/run.hpp"

namespace pitwall::scenarios {

namespace {

/// Sets a parameter of a controller, "gap_follow.max_speed_mps=3"; its name and range are checked where the controller is made.
Status assign(ResolvedRun& run, const std::string& assignment) {
  const std::vector<std::string> names = controllers::names();
  const std::size_t dot = std::min(assignment.find('.'), assignment.find('='));
  const std::string controller = assignment.substr(0, dot);
  const auto at = std::find(names.begin(), names.end(), controller);
  if (at == names.end() || dot == std::string::npos || assignment[dot] != '.') {
    return Error{"--set " + assignment + ": a replay takes CONTROLLER.KEY=VALUE; " + unknown_name("controller", controller, names)};
  }
  return set_by_path(run.scenario.controllers[static_cast<std::size_t>(at - names.begin())], assignment.substr(dot + 1));
}

/// Replays each car of the recording that has a controller in the scenario.
Result<RunReplay> replay_cars(const std::filesystem::path& folder, const std::vector<recording::RecordedCar>& cars, const ResolvedRun& run,
                              const std::string& only, const recording::BagProgress& progress) {
  Result<std::vector<std::unique_ptr<Controller>>> controllers = make_controllers(run);
  if (!controllers) return controllers.error();
  std::vector<std::string> names;
  for (const CarSpec& car : run.cars) names.push_back(car.name);
  RunReplay result;
  for (const recording::RecordedCar& car : cars) {
    if (!only.empty() && car.name != only) continue;
    const auto at = std::find(names.begin(), names.end(), car.name);
    if (at == names.end()) return Error{folder.string() + ": " + unknown_name("car", car.name, names)};
    auto replayed = recording::replay(folder, car, *(*controllers)[static_cast<std::size_t>(at - names.begin())], {.progress = progress});
    if (!replayed) return replayed.error();
    result.cars.push_back(*std::move(replayed));
    if (!result.cars.back().complete) break;
  }
  if (!result.cars.empty()) return result;
  std::vector<std::string> recorded;
  for (const recording::RecordedCar& car : cars) recorded.push_back(car.name);
  return Error{"--car: " + unknown_name("car", only, recorded)};
}

}  // namespace

bool RunReplay::identical() const {
  return std::all_of(cars.begin(), cars.end(), [](const recording::CarReplay& car) { return car.identical(); });
}

std::string RunReplay::text() const {
  std::string text;
  for (const recording::CarReplay& car : cars) {
    text += car.car + " (" + car.controller + "): ";
    const std::string approximate = car.approximate ? " (approximate: no ticks, by arrival times)" : "";
    if (car.identical()) {
      text += "identical, " + std::to_string(car.ticks) + " ticks" + approximate + "\n";
    } else if (!car.first) {
      text += "interrupted after " + std::to_string(car.ticks) + " identical ticks" + approximate + "\n";
    } else {
      text += car.first->text() + "; " + std::to_string(car.differing) + " of " + std::to_string(car.ticks) +
              " ticks differ, steering by at most " + format_number(car.most_steering_rad, 3) + " rad, speed by at most " +
              format_number(car.most_speed_mps, 3) + " m/s" + approximate + "\n";
    }
  }
  return text;
}

Result<ResolvedRun> resolve_recorded(const std::filesystem::path& run, const ReplayOptions& options) {
  ValidationOptions how;
  how.data = options.data;
  how.scenario = options.scenario.empty() ? (run / "metadata" / "files" / "scenario.yaml").string() : options.scenario.string();
  Result<std::vector<ResolvedRun>> resolved = resolve(how);
  if (!resolved) return resolved.error();
  if (resolved->size() != 1)
    return Error{how.scenario + ": " + std::to_string(resolved->size()) + " runs; a replay needs one (a resolved scenario)"};
  for (const std::string& assignment : options.assignments) {
    if (const Status assigned = assign(resolved->front(), assignment); !assigned) return assigned.error();
  }
  return std::move(resolved->front());
}

Result<RunReplay> replay_run(const std::filesystem::path& run, const ReplayOptions& options, const recording::BagProgress& progress) {
  const Result<recording::RunManifest> manifest = recording::load_manifest(run);
  if (!manifest && options.scenario.empty()) {
    return Error{manifest.error().message + "; what is no run folder needs --scenario FILE, which says what controller to replay"};
  }
  const Result<ResolvedRun> resolved = resolve_recorded(run, options);
  if (!resolved) return resolved.error();
  std::vector<recording::RecordedCar> cars;
  if (manifest) {
    cars = manifest->cars;
  } else {
    const CarSpec& car = resolved->cars.front();
    cars = {{car.name, car.controller, ""}};
  }
  Result<RunReplay> result = replay_cars(run, cars, *resolved, options.car, progress);
  if (result && manifest) {
    result->notes = recording::changed_files(run, *manifest);
    if (!manifest->finished) result->notes.emplace_back("the run was not finished: its recorder died");
  }
  return result;
}

Result<Outcome> run_verified(const ResolvedRun& run, const RecordTo& to, const std::function<bool()>& interrupted) {
  Result<Outcome> outcome = run_recorded(run, to, interrupted);
  if (!outcome || outcome->interrupted) return outcome;
  const Result<recording::RunManifest> manifest = recording::load_manifest(to.folder);
  if (!manifest) return manifest.error();
  const auto go_on = [&](std::uint64_t /*done*/, std::uint64_t /*total*/) { return !interrupted(); };
  const Result<RunReplay> replay = replay_cars(to.folder, manifest->cars, run, "", go_on);
  if (!replay) return replay.error();
  outcome->replay = replay->text();
  outcome->replay.pop_back();
  for (std::size_t at = 0; (at = outcome->replay.find('\n', at)) != std::string::npos;) outcome->replay.replace(at, 1, "; ");
  outcome->interrupted =
      std::any_of(replay->cars.begin(), replay->cars.end(), [](const recording::CarReplay& car) { return !car.complete; });
  if (!replay->identical() && !outcome->interrupted && !outcome->failure) {
    outcome->failure =
        Failure{"the recording replays otherwise: " + outcome->replay, outcome->sim_time_s, 0.0, outcome->final_pose.position()};
  }
  outcome->passed = outcome->passed && replay->identical();
  return outcome;
}

}  // namespace pitwall::scenarios
