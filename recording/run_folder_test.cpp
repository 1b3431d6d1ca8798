// SPDX-License-Identifier: Apache-2.0
#include "recording/run_folder.hpp"

#include <doctest/doctest.h>

#include <string>

#include "core/files.hpp"
#include "core/sha256.hpp"
#include "recording/bag_reader.hpp"
#include "recording/recorder.hpp"
#include "ros_messages/geometry.hpp"
#include "tests/support/temp_folder.hpp"

namespace pitwall::recording {
namespace {

RunManifest manifest() {
  RunManifest made;
  made.run_id = "20261201-010203";
  made.car_id = "rb2";
  made.scenario = "gap \"quoted\"";
  made.track = "oval";
  made.clock = "simulated";
  made.end = {3};
  made.cars = {{"car0", "gap_follow", ""}};
  made.files = {{"a.yaml", "/x/a.yaml", "00ff"}};
  made.topics = {{"/scan", "sensor_msgs/msg/LaserScan", 40, 39.5}};
  return made;
}

}  // namespace

TEST_CASE("a manifest comes back as it was written") {
  const RunManifest before = manifest();
  const auto after = parse_manifest(to_json(before), "run.json");
  REQUIRE(after.ok());
  CHECK(to_json(*after) == to_json(before));
  CHECK(after->scenario == before.scenario);
  CHECK(after->topics.at(0).rate_hz == 39.5);
}

TEST_CASE("a manifest that is none says which key is wrong") {
  const auto message = [](const std::string& json) {
    const auto parsed = parse_manifest(json, "run.json");
    return parsed ? std::string() : parsed.error().message;
  };
  CHECK(message("nonsense") == "run.json: is no JSON object");
  std::string text = to_json(manifest());
  text.replace(text.find("\"end_ns\": 3"), 11, "\"end_ns\": \"\"");
  CHECK(message(text) == "run.json: end_ns is missing or of the wrong kind");
  text = to_json(manifest());
  text.replace(text.find("\"schema\": 1"), 11, "\"schema\": 2");
  CHECK(message(text) == "run.json: schema is 2, known is 1");
}

TEST_CASE("parameters as JSON: numbers stay as written") {
  Node node = Node::map();
  node.set("gain", Node("0.30000000000000004"));
  node.set("flag", Node("true"));
  node.set("name", Node("007"));
  node.set("list", Node::list({Node("1"), Node()}));
  CHECK(to_json(node) ==
        "{\n  \"gain\": 0.30000000000000004,\n  \"flag\": true,\n  \"name\": \"007\",\n  \"list\": [\n    1,\n    null\n  ]\n}\n");
}

TEST_CASE("a recorder writes what it is told, by the runner's time, and says how it ended") {
  const TempFolder temp("recorder");
  RunManifest what = manifest();
  what.files.clear();
  auto made = Recorder::create(temp.path() / "run", what, {Pose2{0.27, 0.0, 0.0}});
  REQUIRE(made.ok());
  Recorder& recorder = **made;
  CHECK_FALSE(load_manifest(temp.path() / "run")->finished);
  recorder.add_file("car.yaml", "cars/rb2.yaml", "mass: 3");
  LaserScan scan;
  scan.stamp = {900};
  scan.ranges = {1.0F, 2.5F};
  recorder.arrived(0, Source<LaserScan>{&scan, {1000}, 1});
  PoseEstimate pose;
  pose.position = {3.0, 4.0};
  recorder.arrived(0, Source<PoseEstimate>{&pose, {1500}, 1});
  Observation seen;
  seen.now = {2000};
  seen.scan = {&scan, {1000}, 1};
  Command command;
  command.speed_mps = 1.25F;
  command.beam = 7;
  recorder.decided(0, 1, seen, command);
  recorder.contact({2500}, {2400, "car0", "wall", 1.0, 2.0, 1.0, 0.0, 0.5, 1.5});
  REQUIRE(recorder.close({3000}, "hash").ok());

  const auto after = load_manifest(temp.path() / "run");
  REQUIRE(after.ok());
  CHECK(after->finished);
  CHECK(after->end.ns == 3000);
  CHECK(after->trace_hash == "hash");
  CHECK(after->build == build_id());
  CHECK(after->files.at(0).sha256 == sha256_hex("mass: 3"));
  CHECK(changed_files(temp.path() / "run", *after).empty());
  temp.write("run/metadata/files/car.yaml", "mass: 4");
  CHECK(changed_files(temp.path() / "run", *after).size() == 1);

  auto bag = BagReader::open(temp.path() / "run");
  REQUIRE(bag.ok());
  CHECK(bag->findings().empty());
  std::vector<std::string> order;
  while (const BagMessage* message = bag->next())
    order.push_back(bag->topics()[message->topic].name + "@" + std::to_string(message->log_time.ns));
  CHECK(order == std::vector<std::string>{"/tf_static@0", "/scan@1000", "/slam_pose@1500", "/tf@1500", "/drive@2000"});

  auto internal = BagReader::open(temp.path() / "run" / "internal.mcap");
  REQUIRE(internal.ok());
  const auto tick = ros_messages::read<Tick>(as_text(internal->next()->data));
  REQUIRE(tick.ok());
  CHECK(tick->scan == 1);
  CHECK(tick->odometry == 0);
  CHECK(tick->speed_mps == 1.25F);
  CHECK(tick->beam == 7);
  CHECK(tick->reason == "drive");
  const auto contact = ros_messages::read<ContactRecord>(as_text(internal->next()->data));
  REQUIRE(contact.ok());
  CHECK(contact->partner == "wall");
  CHECK(contact->time_ns == 2400);
}

}  // namespace pitwall::recording
