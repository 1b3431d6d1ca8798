// SPDX-License-Identifier: Apache-2.0
// A scenario's run, written down and read back.
#include "scenarios/record.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "core/files.hpp"
#include "recording/bag_reader.hpp"
#include "recording/recorder.hpp"
#include "ros_messages/convert.hpp"
#include "ros_messages/nav.hpp"
#include "scenarios/resolve.hpp"
#include "tests/support/temp_folder.hpp"

namespace pitwall::scenarios {
namespace {

ResolvedRun resolved(const std::string& scenario, double timeout_s) {
  ValidationOptions options;
  options.data = data_folder();
  options.scenario = scenario;
  options.quick = true;
  options.timeout_s = timeout_s;
  auto runs = resolve(options);
  REQUIRE_MESSAGE(runs.ok(), (runs.ok() ? "" : runs.error().message));
  REQUIRE_FALSE(runs->empty());
  return runs->front();
}

const auto never = [] { return false; };

std::map<std::string, std::uint64_t> counts(const recording::BagReader& reader) {
  std::map<std::string, std::uint64_t> all;
  for (const recording::Topic& topic : reader.topics()) all[topic.name] = topic.message_count;
  return all;
}

/// The core message that a bag's message carries, by its sequence number.
template <class Ros>
auto messages_of(recording::BagReader& reader, const std::string& topic) {
  std::map<std::uint64_t, decltype(ros_messages::from_ros(Ros{}))> all;
  reader.rewind();
  while (const recording::BagMessage* message = reader.next()) {
    if (reader.topics()[message->topic].name != topic) continue;
    const auto read = ros_messages::read<Ros>(recording::as_text(message->data));
    REQUIRE(read.ok());
    all[message->sequence] = ros_messages::from_ros(*read);
  }
  return all;
}

}  // namespace

TEST_CASE("recording a run changes nothing of it, and the folder holds all that happened") {
  const TempFolder temp("record");
  const ResolvedRun run = resolved("gap", 8.0);
  const auto plain = run_scenario(run, never);
  const auto recorded = run_recorded(run, {temp.path() / "run", "host"}, never);
  REQUIRE(plain.ok());
  REQUIRE_MESSAGE(recorded.ok(), (recorded.ok() ? "" : recorded.error().message));
  CHECK(recorded->trace_hash == plain->trace_hash);
  CHECK(recorded->steps == plain->steps);

  const auto manifest = recording::load_manifest(temp.path() / "run");
  REQUIRE(manifest.ok());
  CHECK(manifest->finished);
  CHECK(manifest->trace_hash == plain->trace_hash);
  CHECK(manifest->clock == "simulated");
  CHECK(manifest->host == "host");
  CHECK(manifest->scenario == "gap_solo");
  REQUIRE(manifest->cars.size() == 1);
  CHECK(manifest->cars[0].controller == "gap_follow");
  CHECK(manifest->end.seconds() == doctest::Approx(plain->sim_time_s));
  CHECK(recording::changed_files(temp.path() / "run", *manifest).empty());
  REQUIRE(manifest->files.size() == 2);
  CHECK(read_file(temp.path() / "run" / "metadata" / "files" / "scenario.yaml").ok());
  CHECK(read_file(temp.path() / "run" / "params.json")->find("\"max_speed_mps\"") != std::string::npos);

  auto bag = recording::BagReader::open(temp.path() / "run");
  REQUIRE(bag.ok());
  CHECK(bag->findings().empty());
  auto held = counts(*bag);
  CHECK(held["/drive"] == static_cast<std::uint64_t>(plain->steps));
  for (const char* topic : {"/scan", "/odom", "/joy", "/tf", "/drive"}) CHECK(held[topic] > 100);
  for (const char* topic : {"/map", "/path", "/tf_static"}) CHECK(held[topic] == 1);
  for (const recording::Topic& topic : bag->topics()) {
    CHECK(topic.encoding == "cdr");
    CHECK(topic.type_hash.starts_with("RIHS01_"));
  }
  auto internal = recording::BagReader::open(temp.path() / "run" / "internal.mcap");
  REQUIRE(internal.ok());
  auto inside = counts(*internal);
  CHECK(inside["/pitwall/tick"] == static_cast<std::uint64_t>(plain->steps));
  CHECK(inside["/pitwall/truth"] == static_cast<std::uint64_t>(plain->sim_time_s / run.scenario.world.step_s + 0.5));
}

TEST_CASE("a tick names the messages that the controller had, and they are in the bag to the bit") {
  const TempFolder temp("record");
  const ResolvedRun run = resolved("gap", 3.0);
  // The same run once more, asked after each step for what the controller would be told.
  Result<sim::World> world = assemble(run);
  REQUIRE(world.ok());
  const auto recorded = run_recorded(run, {temp.path() / "run", ""}, never);
  REQUIRE(recorded.ok());
  auto bag = recording::BagReader::open(temp.path() / "run" / "bag");
  REQUIRE(bag.ok());
  auto scans = messages_of<ros_messages::LaserScan>(*bag, "/scan");
  auto odometries = messages_of<ros_messages::Odometry>(*bag, "/odom");
  std::uint64_t seen = 0;
  while (world->now().seconds() < 2.9) {
    world->step();
    const Observation now = world->observation(0);
    if (now.scan.message == nullptr || now.odometry.message == nullptr) continue;
    ++seen;
    const LaserScan& scan = scans.at(now.scan.sequence);
    CHECK(scan.stamp == now.scan.message->stamp);
    CHECK(scan.ranges == now.scan.message->ranges);
    const Odometry& odometry = odometries.at(now.odometry.sequence);
    CHECK(odometry.stamp == now.odometry.message->stamp);
    CHECK(odometry.position.x == now.odometry.message->position.x);
    CHECK(odometry.orientation.z == now.odometry.message->orientation.z);
    CHECK(odometry.yaw_rate_radps == now.odometry.message->yaw_rate_radps);
  }
  CHECK(seen > 400);

  auto internal = recording::BagReader::open(temp.path() / "run" / "internal.mcap");
  REQUIRE(internal.ok());
  std::uint64_t tick = 0;
  while (const recording::BagMessage* message = internal->next()) {
    if (internal->topics()[message->topic].name != recording::kTickTopic) continue;
    const auto record = ros_messages::read<recording::Tick>(recording::as_text(message->data));
    REQUIRE(record.ok());
    CHECK(record->tick == ++tick);
    CHECK(record->now_ns == message->log_time.ns);
    if (record->scan > 0) CHECK(scans.contains(record->scan));
  }
  CHECK(tick == static_cast<std::uint64_t>(recorded->steps));
}

TEST_CASE("every car of a run is recorded under its own name, and contacts with their partner") {
  const TempFolder temp("record");
  const ResolvedRun run = resolved("traffic", 3.0);
  REQUIRE(run.cars.size() == 2);
  const auto recorded = run_recorded(run, {temp.path() / "run", ""}, never);
  REQUIRE(recorded.ok());
  const auto manifest = recording::load_manifest(temp.path() / "run");
  REQUIRE(manifest.ok());
  CHECK(manifest->cars[1].prefix == "/" + run.cars[1].name);
  auto bag = recording::BagReader::open(temp.path() / "run");
  REQUIRE(bag.ok());
  auto held = counts(*bag);
  CHECK(held["/drive"] > 0);
  CHECK(held["/" + run.cars[1].name + "/drive"] > 0);
}

TEST_CASE("a folder that is not empty is not recorded into") {
  const TempFolder temp("record");
  temp.write("run/notes.txt", "mine");
  const auto recorded = run_recorded(resolved("gap", 1.0), {temp.path() / "run", ""}, never);
  REQUIRE_FALSE(recorded.ok());
  CHECK(recorded.error().message.find("not empty") != std::string::npos);
}

}  // namespace pitwall::scenarios
