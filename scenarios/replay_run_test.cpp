// SPDX-License-Identifier: Apache-2.0
// Simulated run -> recording -> replay, to the bit.
#include "scenarios/replay_run.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/files.hpp"
#include "scenarios/record.hpp"
#include "tests/support/temp_folder.hpp"

namespace pitwall::scenarios {

namespace {

namespace fs = std::filesystem;

std::vector<ResolvedRun> runs_of(const std::string& scenario, const std::vector<std::string>& assignments = {}) {
  ValidationOptions options;
  options.data = data_folder();
  options.scenario = scenario;
  options.quick = true;
  options.timeout_s = 4.0;
  options.assignments = assignments;
  const auto runs = resolve(options);
  REQUIRE_MESSAGE(runs.ok(), runs.error().message);
  return *runs;
}

fs::path recorded(const TempFolder& folder, const ResolvedRun& run) {
  const fs::path path = folder.path() / run.scenario.id;
  const auto outcome = run_recorded(run, {path, "test"}, [] { return false; });
  REQUIRE_MESSAGE(outcome.ok(), outcome.error().message);
  return path;
}

}  // namespace

TEST_CASE("every built-in scenario replays to the bit, all of its cars") {
  const TempFolder folder("replay_all");
  ReplayOptions options;
  options.data = data_folder();
  for (const ResolvedRun& run : runs_of("all")) {
    CAPTURE(run.scenario.id);
    const fs::path path = recorded(folder, run);
    const auto replay = replay_run(path, options);
    REQUIRE_MESSAGE(replay.ok(), replay.error().message);
    CHECK_MESSAGE(replay->identical(), replay->text());
    CHECK(replay->cars.size() == run.cars.size());
    for (const recording::CarReplay& car : replay->cars) {
      CHECK_FALSE(car.approximate);
      CHECK(car.ticks > 100);
    }
    CHECK(replay->notes.empty());
    // By arrival times alone the simulator's runs are the same, too: its controllers are called after what has arrived.
    fs::remove(path / "internal.mcap");
    const auto approximate = replay_run(path, options);
    REQUIRE_MESSAGE(approximate.ok(), approximate.error().message);
    CHECK(approximate->cars.front().approximate);
    CHECK_MESSAGE(approximate->identical(), approximate->text());
    CHECK(approximate->text().find("(approximate: ") != std::string::npos);
  }
}

TEST_CASE("a replay with another parameter names the first tick and field that differ") {
  const TempFolder folder("replay_set");
  const ResolvedRun run = runs_of("gap").front();
  const fs::path path = recorded(folder, run);
  ReplayOptions options;
  options.data = data_folder();
  options.assignments = {"gap_follow.max_speed_mps=1.5"};
  const auto replay = replay_run(path, options);
  REQUIRE_MESSAGE(replay.ok(), replay.error().message);
  CHECK_FALSE(replay->identical());
  REQUIRE(replay->cars.front().first);
  CHECK(replay->cars.front().first->field == "speed_mps");
  CHECK(replay->text().find("tick ") != std::string::npos);

  options.assignments = {"gap_follow.max_sped_mps=1.5"};
  CHECK(replay_run(path, options).error().message.find("max_speed_mps") != std::string::npos);
  options.assignments = {"world.seed=7"};
  CHECK(replay_run(path, options).error().message.find("a replay takes CONTROLLER.KEY=VALUE; unknown controller 'world'") !=
        std::string::npos);
  options.assignments = {};
  options.car = "nobody";
  CHECK(replay_run(path, options).error().message.find("--car: unknown car 'nobody'") == 0);
}

TEST_CASE("a configuration file that was changed after the run is noted; no run folder needs a scenario") {
  const TempFolder folder("replay_notes");
  const ResolvedRun run = runs_of("gap").front();
  const fs::path path = recorded(folder, run);
  const fs::path scenario = path / "metadata" / "files" / "scenario.yaml";
  const std::string text = *read_file(scenario);
  REQUIRE(write_file(scenario, text + "# edited\n").ok());
  ReplayOptions options;
  options.data = data_folder();
  const auto replay = replay_run(path, options);
  REQUIRE_MESSAGE(replay.ok(), replay.error().message);
  CHECK(replay->identical());
  REQUIRE(replay->notes.size() == 1);
  CHECK(replay->notes.front().find("scenario.yaml") != std::string::npos);

  CHECK(replay_run(path / "bag", options).error().message.find("needs --scenario FILE") != std::string::npos);
  options.scenario = scenario;
  const auto bag_alone = replay_run(path / "bag", options);
  REQUIRE_MESSAGE(bag_alone.ok(), bag_alone.error().message);
  CHECK(bag_alone->cars.front().approximate);
  CHECK_MESSAGE(bag_alone->identical(), bag_alone->text());
}

TEST_CASE("a run is verified right after it was recorded") {
  const TempFolder folder("replay_verify");
  const ResolvedRun run = runs_of("gap").front();
  const auto outcome = run_verified(run, {folder.path() / "run", "test"}, [] { return false; });
  REQUIRE_MESSAGE(outcome.ok(), outcome.error().message);
  CHECK(outcome->replay.find("identical, ") != std::string::npos);
}

}  // namespace pitwall::scenarios
