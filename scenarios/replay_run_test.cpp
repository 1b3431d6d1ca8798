// SPDX-License-Identifier: Apache-2.0
// Simulated run -> recording -> replay, to the bit.
#include "scenarios/replay_run.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/files.hpp"
#include "recording/bag_reader.hpp"
#include "recording/bag_writer.hpp"
#include "recording/run_messages.hpp"
#include "ros_messages/message.hpp"
#include "scenarios/record.hpp"
#include "tests/support/temp_folder.hpp"

namespace pitwall::scenarios {

namespace {

namespace fs = std::filesystem;

std::vector<ResolvedRun> runs_in(const std::string& scenario, const std::vector<std::string>& assignments = {}) {
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
  for (const ResolvedRun& run : runs_in("all")) {
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
  const ResolvedRun run = runs_in("gap").front();
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

namespace {

/// The ticks of a run folder; with `rewrite` also written back without their parameter changes.
std::vector<recording::Tick> ticks_of(const fs::path& run, bool rewrite = false) {
  const fs::path file = run / "internal.mcap";
  std::vector<recording::Tick> ticks;
  {
    auto reader = recording::BagReader::open(file);
    REQUIRE(reader.ok());
    auto writer = recording::BagWriter::create_file(run / "without.mcap");
    REQUIRE(writer.ok());
    while (const recording::BagMessage* message = reader->next()) {
      const recording::Topic& topic = reader->topics()[message->topic];
      if (topic.name != recording::kTickTopic) continue;
      recording::Tick tick;
      REQUIRE(ros_messages::read(recording::as_text(message->data), tick).ok());
      ticks.push_back(tick);
      tick.parameter_changes.clear();
      REQUIRE(writer->write(*writer->add_topic(topic), message->log_time, message->log_time, recording::as_bytes(ros_messages::write(tick)))
                  .ok());
    }
    REQUIRE(writer->close().ok());
  }
  if (rewrite) fs::rename(run / "without.mcap", file);
  fs::remove(run / "without.mcap");
  return ticks;
}

}  // namespace

TEST_CASE("parameters that change on the way are recorded with their tick, and replay to the bit; without them it parts there") {
  const TempFolder folder("replay_changes");
  ReplayOptions options;
  options.data = data_folder();
  for (const std::string& name : {std::string("gap"), std::string("pure")}) {
    CAPTURE(name);
    const ResolvedRun plain = runs_in(name).front();
    const std::string car = "cars." + plain.cars.front().name + ".changes.";
    const ResolvedRun run = runs_in(name, {car + "slower.at_s=2.01", car + "slower.set=max_speed_mps=1.5", car + "then.at_s=3",
                                           car + "then.set=max_speed_mps=3.0"})
                                .front();
    const fs::path path = recorded(folder, run);
    const std::vector<recording::Tick> ticks = ticks_of(path);
    std::uint64_t first = 0;
    for (std::size_t k = 1; k < ticks.size(); ++k) {
      CAPTURE(k);
      const bool slower = ticks[k - 1].now_ns < 2'010'000'000 && ticks[k].now_ns >= 2'010'000'000;
      const bool faster = ticks[k - 1].now_ns < 3'000'000'000 && ticks[k].now_ns >= 3'000'000'000;
      if (slower) first = ticks[k].tick;
      CHECK(ticks[k].parameter_changes == (slower   ? std::vector<std::string>{"max_speed_mps=1.5"}
                                           : faster ? std::vector<std::string>{"max_speed_mps=3.0"}
                                                    : std::vector<std::string>{}));
      // The ramp goes on from the command before: faster by at most 3 m/s2 for one period.
      if (faster) CHECK(ticks[k].speed_mps == doctest::Approx(ticks[k - 1].speed_mps).epsilon(0.1));
      if (ticks[k].now_ns > 2'700'000'000 && ticks[k].now_ns < 3'000'000'000) CHECK(ticks[k].speed_mps <= 1.5F);
    }
    REQUIRE(first > 1);
    CHECK(ticks.back().speed_mps > 1.6F);

    const auto replay = replay_run(path, options);
    REQUIRE_MESSAGE(replay.ok(), replay.error().message);
    CHECK_MESSAGE(replay->identical(), replay->text());

    ticks_of(path, true);
    const auto without = replay_run(path, options);
    REQUIRE_MESSAGE(without.ok(), without.error().message);
    REQUIRE(without->cars.front().first);
    CHECK(without->cars.front().first->tick == first);
  }
}

TEST_CASE("a change that the controller would refuse is refused before the run, with car, time and key") {
  const auto error = [](const std::string& set) {
    const ResolvedRun plain = runs_in("gap").front();
    const std::string change = "cars." + plain.cars.front().name + ".changes.odd.";
    return assemble(runs_in("gap", {change + "at_s=2", change + "set=" + set}).front()).error().message;
  };
  CHECK(error("max_sped_mps=1").find("car 'ego': change 'max_sped_mps=1' at 2 s: ") != std::string::npos);
  CHECK(error("max_sped_mps=1").find("max_speed_mps") != std::string::npos);
  CHECK(error("max_speed_mps=400").find("max_speed_mps") != std::string::npos);
}

TEST_CASE("a configuration file that was changed after the run is noted; no run folder needs a scenario") {
  const TempFolder folder("replay_notes");
  const ResolvedRun run = runs_in("gap").front();
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
  const ResolvedRun run = runs_in("gap").front();
  const auto outcome = run_verified(run, {folder.path() / "run", "test"}, [] { return false; });
  REQUIRE_MESSAGE(outcome.ok(), outcome.error().message);
  CHECK(outcome->replay.find("identical, ") != std::string::npos);
}

}  // namespace pitwall::scenarios
