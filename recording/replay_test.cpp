// SPDX-License-Identifier: Apache-2.0
#include "recording/replay.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/files.hpp"
#include "recording/bag_convert.hpp"
#include "recording/recorder.hpp"
#include "tests/support/bags.hpp"
#include "tests/support/temp_folder.hpp"

namespace pitwall::recording {

namespace {

namespace fs = std::filesystem;

/// Answers with all it sees, and with what it remembers, so that any other input changes some answer.
class Toy final : public Controller {
 public:
  using Change = std::function<void(Command&)>;
  explicit Toy(float gain = 1.0F) : gain_(gain) {}
  /// From the tenth call on it changes its answers.
  explicit Toy(Change change) : change_(std::move(change)) {}
  [[nodiscard]] std::string_view name() const override { return "toy"; }
  [[nodiscard]] Trigger trigger() const override { return {}; }
  void reset(const Observation& first) override { sum_ = first.now.seconds(); }
  Command update(const Observation& seen) override {
    sum_ += seen.now.seconds();
    if (seen.scan.message != nullptr)
      sum_ += seen.scan.message->ranges[0] + seen.scan.arrival.seconds() + static_cast<double>(seen.scan.sequence);
    if (seen.odometry.message != nullptr) sum_ += seen.odometry.message->speed_mps + 2.0 * static_cast<double>(seen.odometry.sequence);
    if (seen.pose.message != nullptr) sum_ += seen.pose.message->pose().yaw;
    if (seen.joy.message != nullptr) sum_ += seen.joy.message->buttons[0];
    Command command;
    command.steering_angle_rad = static_cast<float>(std::fmod(sum_, 0.4));
    command.speed_mps = gain_ * static_cast<float>(std::fmod(sum_, 7.0));
    command.reason = seen.joy.message == nullptr ? Reason::kWaitingForJoy : Reason::kDrive;
    command.layer = seen.joy.message == nullptr ? Layer::kWatchdog : Layer::kLaw;
    command.beam = static_cast<std::int32_t>(seen.scan.sequence);
    if (++calls_ >= 10 && change_) change_(command);
    return command;
  }

 private:
  float gain_ = 1.0F;
  Change change_;
  int calls_ = 0;
  double sum_ = 0.0;
};

RecordedCar car_named(const std::string& name, const std::string& prefix) { return {name, "toy", prefix}; }

/// A run of 2 s of two cars: scans every 25 ms, odometry every 10 ms, poses and joy now and then, a call at each scan's arrival.
/// With `change` the parameters of car "one" change before its fifth tick.
fs::path recorded(const TempFolder& folder, const std::string& name = "run", const std::string& change = "") {
  RunManifest manifest;
  manifest.run_id = name;
  manifest.clock = "simulated";
  manifest.cars = {car_named("one", ""), car_named("two", "/two")};
  auto recorder = Recorder::create(folder.path() / name, manifest, {{}, {}});
  REQUIRE_MESSAGE(recorder.ok(), recorder.error().message);
  LaserScan scan;
  Odometry odometry;
  PoseEstimate pose;
  Joy joy;
  for (std::size_t car = 0; car < 2; ++car) {
    Toy controller;
    controller.reset({});
    Observation seen;
    std::uint64_t tick = 0;
    const auto arrive = [&](auto& source, const auto& message) {
      source.message = &message;
      source.arrival = seen.now;
      ++source.sequence;
      (*recorder)->arrived(car, source);
    };
    for (std::int64_t ms = 0; ms < 2000; ms += 5) {
      seen.now = {ms * kMs + static_cast<std::int64_t>(car)};
      const double t = static_cast<double>(ms) / 1000.0 + static_cast<double>(car);
      if (ms % 10 == 0) arrive(seen.odometry, odometry = {seen.now, {t, 0.0}, to_quaternion(t), std::sin(t), 0.1});
      if (ms % 50 == 20) arrive(seen.pose, pose = {seen.now, {t, 1.0}, to_quaternion(0.1 * t)});
      if (ms % 100 == 60) arrive(seen.joy, joy = {seen.now, {static_cast<int>(ms % 3)}});
      if (ms % 25 != 10) continue;
      scan.stamp = seen.now;
      scan.ranges = {static_cast<float>(1.0 + t)};
      arrive(seen.scan, scan);
      if (car == 0 && tick == 4 && !change.empty()) (*recorder)->changed(car, change);
      (*recorder)->decided(car, ++tick, seen, controller.update(seen));
    }
  }
  const Status closed = (*recorder)->close({2000 * kMs}, "");
  REQUIRE_MESSAGE(closed.ok(), closed.error().message);
  return folder.path() / name;
}

CarReplay replayed(const fs::path& run, const RecordedCar& car, float gain = 1.0F) {
  Toy controller(gain);
  const auto result = replay(run, car, controller);
  REQUIRE_MESSAGE(result.ok(), result.error().message);
  return *result;
}

}  // namespace

TEST_CASE("a fresh controller answers a recorded run with the same bits, each car its own") {
  const TempFolder folder("replay");
  const fs::path run = recorded(folder);
  for (const RecordedCar& car : {car_named("one", ""), car_named("two", "/two")}) {
    const CarReplay result = replayed(run, car);
    CHECK_MESSAGE(result.identical(), result.first->text());
    CHECK_FALSE(result.approximate);
    CHECK(result.ticks == 80);
    CHECK(result.differing == 0);
    CHECK(result.controller == "toy");
  }
}

TEST_CASE("another controller is told apart at the first tick and field") {
  const TempFolder folder("replay_other");
  const CarReplay result = replayed(recorded(folder), car_named("one", ""), 1.0000002F);
  CHECK_FALSE(result.identical());
  REQUIRE(result.first);
  CHECK(result.first->field == "speed_mps");
  CHECK(result.first->tick >= 1);
  CHECK(result.first->text().find("tick " + std::to_string(result.first->tick) + " (0.") == 0);
  CHECK(result.first->text().find("): speed_mps was ") != std::string::npos);
  CHECK(result.differing > 40);
  CHECK(result.ticks == 80);
  CHECK(result.most_speed_mps > 0.0);
  CHECK(result.most_speed_mps < 1e-5);
  CHECK(result.most_steering_rad == 0.0);
}

TEST_CASE("every field of the answer counts, at the tick where it first differs") {
  const TempFolder folder("replay_fields");
  const fs::path run = recorded(folder);
  const std::vector<std::pair<std::string, Toy::Change>> changes = {
      {"steering_angle_rad", [](Command& command) { command.steering_angle_rad = std::nextafterf(command.steering_angle_rad, 9.0F); }},
      {"speed_mps", [](Command& command) { command.speed_mps = std::nextafterf(command.speed_mps, 9.0F); }},
      {"reason", [](Command& command) { command.reason = Reason::kFollow; }},
      {"layer", [](Command& command) { command.layer = Layer::kSafety; }},
      {"beam", [](Command& command) { command.beam += 1; }},
      {"ttc_s", [](Command& command) { command.ttc_s = 1.0F; }}};
  for (const auto& [field, change] : changes) {
    Toy controller(change);
    const auto result = replay(run, car_named("one", ""), controller);
    REQUIRE_MESSAGE(result.ok(), result.error().message);
    REQUIRE_MESSAGE(result->first, field);
    CHECK(result->first->field == field);
    CHECK(result->first->tick == 10);
    CHECK(result->differing == 71);
  }
}

TEST_CASE("without ticks the replay goes by arrival times and says that it is approximate") {
  const TempFolder folder("replay_approximate");
  const fs::path run = recorded(folder);
  fs::remove(run / "internal.mcap");
  const CarReplay result = replayed(run, car_named("one", ""));
  CHECK(result.approximate);
  CHECK_MESSAGE(result.identical(), result.first->text());  // nothing arrives between a call's time and the call here
  CHECK(result.ticks == 80);
  const CarReplay other = replayed(run, car_named("two", "/two"), 2.0F);
  CHECK(other.first->field == "speed_mps");

  // The bag alone, in another format: the numbers of the messages are counted.
  ConvertOptions sqlite;
  sqlite.format = StorageFormat::kSqlite3;
  REQUIRE(convert({run}, folder.path() / "bag_alone", sqlite).ok());
  const CarReplay alone = replayed(folder.path() / "bag_alone", car_named("one", ""));
  CHECK(alone.approximate);
  CHECK(alone.ticks == 80);
}

TEST_CASE("a message that a tick had and the recording lacks ends the replay there, by name") {
  const TempFolder folder("replay_missing");
  const fs::path run = recorded(folder);
  ConvertOptions without;
  without.read.end = Time{1000 * kMs};
  REQUIRE(convert({run / "bag"}, folder.path() / "short", without).ok());
  fs::remove_all(run / "bag");
  fs::rename(folder.path() / "short", run / "bag");
  const CarReplay result = replayed(run, car_named("one", ""));
  REQUIRE(result.first);
  CHECK(result.first->replayed == "not in the recording");
  CHECK(result.first->field == "scan");
  CHECK(result.ticks == 41);
  CHECK(result.differing == 1);
}

TEST_CASE("what cannot be replayed is refused with a reason") {
  const TempFolder folder("replay_refused");
  Toy controller;
  CHECK_FALSE(replay(folder.path() / "nothing", car_named("one", ""), controller).ok());
  const fs::path run = recorded(folder);
  const auto nobody = replay(run, car_named("three", "/three"), controller);
  REQUIRE_FALSE(nobody.ok());
  CHECK(nobody.error().message.find("no commands of car 'three'") != std::string::npos);
  const auto stopped =
      replay(run, car_named("one", ""), controller, {.progress = [](std::uint64_t /*done*/, std::uint64_t /*total*/) { return false; }});
  REQUIRE(stopped.ok());
  const auto changed = replay(run, car_named("one", ""), controller, {.changes = {{{500 * kMs}, "gain", "2"}}});
  REQUIRE_FALSE(changed.ok());
  CHECK(changed.error().message.find("gain=2") != std::string::npos);
  CHECK(changed.error().message.find("fixed while it drives") != std::string::npos);
  const fs::path changing = recorded(folder, "changed", "gain=2");
  const auto refused = replay(changing, car_named("one", ""), controller);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("(gain=2), which cannot be replayed: toy: its parameters are fixed") != std::string::npos);
  CHECK(replayed(changing, car_named("two", "/two")).identical());
}

TEST_CASE("a watch sees each call as it was and as it is, and changes come at their call") {
  /// A Toy whose gain may change.
  class Tuned final : public Controller {
   public:
    [[nodiscard]] std::string_view name() const override { return "tuned"; }
    [[nodiscard]] Trigger trigger() const override { return {}; }
    void reset(const Observation& first) override { toy_.reset(first); }
    Command update(const Observation& seen) override {
      Command command = toy_.update(seen);
      command.speed_mps *= gain_;
      return command;
    }
    Status change_parameters(const Node& changes) override {
      gain_ = std::stof(changes.find("gain")->scalar);
      return {};
    }

   private:
    Toy toy_;
    float gain_ = 1.0F;
  };
  const TempFolder folder("replay_watched");
  const fs::path run = recorded(folder);
  for (const bool fixed : {false, true}) {
    Tuned controller;
    std::uint64_t calls = 0;
    ReplayWatch watch;
    watch.changes = {{{500 * kMs}, "gain", "2"}};
    if (fixed) watch.fixed = {"gain"};
    watch.call = [&](const ReplayedCall& call) {
      REQUIRE(call.recorded != nullptr);
      CHECK(call.recorded->tick == ++calls);
      CHECK(call.recorded_speed_mps == call.recorded->speed_mps);
      CHECK(call.seen.now.ns == call.recorded->now_ns);
      const float gain = call.seen.now >= Time{500 * kMs} && !fixed ? 2.0F : 1.0F;
      CHECK(call.replayed.speed_mps == gain * call.recorded_speed_mps);
    };
    const auto result = replay(run, car_named("one", ""), controller, watch);
    REQUIRE_MESSAGE(result.ok(), result.error().message);
    CHECK(calls == result->ticks);
    CHECK((result->differing > 0) == !fixed);
  }
}

}  // namespace pitwall::recording
