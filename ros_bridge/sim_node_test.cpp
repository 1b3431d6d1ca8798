// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/sim_node.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "core/files.hpp"
#include "recording/recorder.hpp"
#include "recording/replay.hpp"
#include "ros_bridge/interlock.hpp"
#include "ros_bridge/test_node.hpp"
#include "scenarios/map_message.hpp"
#include "scenarios/replay_run.hpp"
#include "scenarios/run.hpp"
#include "tests/support/temp_folder.hpp"

namespace pitwall::ros_bridge {
namespace {

scenarios::ResolvedRun one_run(const std::string& controller, double seconds) {
  scenarios::ValidationOptions options;
  options.data = data_folder();
  options.suite_text = "bridge:\n  id: bridge\n  cars:\n    ego: {controller: " + controller +
                       "}\n  timeout_s: " + std::to_string(seconds) + "\n  criteria: {laps_at_least: 99}\n";
  options.tracks = {"indoor_oval"};
  auto runs = scenarios::resolve(options);
  REQUIRE_MESSAGE(runs.ok(), runs.error().message);
  return std::move(runs->front());
}

/// Simulator and controller on one network; the controller runs where the simulator waits.
struct Pair {
  explicit Pair(const scenarios::ResolvedRun& run, RunObserver& observer, SimNodeParameters sim_parameters = {})
      : sim_graph(network, "/bridge_sim"), graph(network, "/bridge_controller") {
    sim_parameters.lockstep = true;
    auto made = scenarios::make_controllers(run);
    REQUIRE(made.ok());
    controller = std::move(made->front());
    ControllerNodeSetup setup;
    setup.car = run.parameters;
    setup.parameters.use_sim_time = true;
    setup.parameters.inputs.reliable = true;
    setup.parameters.gate.release_first = false;
    if (run.cars.front().controller != "gap_follow") setup.parameters.inputs.pose_source = PoseSource::kTopic;
    auto other = ControllerNode::make(setup, graph, *controller, nullptr, observer);
    REQUIRE_MESSAGE(other.ok(), other.error().message);
    node = *std::move(other);
    network.when_idle = [this] {
      graph.wait(network.now());
      node->tick();
    };
    auto sim = SimNode::make(sim_parameters, sim_graph);
    REQUIRE_MESSAGE(sim.ok(), sim.error().message);
    simulator = *std::move(sim);
  }
  MemoryNetwork network{Time{1'700'000'000'000'000'000}};
  MemoryGraph sim_graph;
  MemoryGraph graph;
  std::unique_ptr<Controller> controller;
  std::unique_ptr<ControllerNode> node;
  std::unique_ptr<SimNode> simulator;
};

bool never() { return false; }

}  // namespace

TEST_CASE("in lockstep the bridge changes nothing: the trace hash is that of one process, and a recording behind it replays to the bit") {
  for (const std::string name : {"gap_follow", "pure_pursuit"}) {
    const scenarios::ResolvedRun run = one_run(name, 8.0);
    const auto alone = scenarios::run_scenario(run, never);
    REQUIRE(alone.ok());
    const TempFolder folder("bridge_" + name);
    recording::RunManifest manifest;
    manifest.run_id = name;
    manifest.clock = "simulated";
    manifest.cars.push_back({"ego", name, ""});
    auto recorder = recording::Recorder::create(folder.path() / "run", manifest, {run.parameters.lidar_mount()});
    REQUIRE(recorder.ok());
    Pair pair(run, **recorder);
    const auto bridged = pair.simulator->run(run, never);
    REQUIRE_MESSAGE(bridged.ok(), bridged.error().message);
    CHECK(bridged->trace_hash == alone->trace_hash);
    CHECK(bridged->accumulated_progress_m == alone->accumulated_progress_m);
    CHECK(alone->accumulated_progress_m > 5.0);
    CHECK(pair.simulator->counts().timeouts == 0);
    CHECK(pair.node->counts().decisions == static_cast<std::uint64_t>(alone->steps));
    REQUIRE((*recorder)->close(Time{8'000'000'000}, "").ok());
    auto fresh = scenarios::make_controllers(run);
    const auto replayed = recording::replay(folder.path() / "run", {"ego", name, ""}, *fresh->front());
    REQUIRE_MESSAGE(replayed.ok(), replayed.error().message);
    CHECK(replayed->identical());
    CHECK_FALSE(replayed->approximate);
    CHECK(replayed->ticks == pair.node->counts().decisions);
  }
}

TEST_CASE("the simulated operator lets go, or falls silent, and the car stands") {
  const scenarios::ResolvedRun run = one_run("gap_follow", 6.0);
  for (const bool silent : {false, true}) {
    SimNodeParameters parameters;
    parameters.hold_after_s = 0.5;
    (silent ? parameters.silence_after_s : parameters.release_after_s) = 4.0;
    Deaf deaf;
    Pair pair(run, deaf, parameters);
    const auto outcome = pair.simulator->run(run, never);
    REQUIRE(outcome.ok());
    CHECK(outcome->accumulated_progress_m > 1.0);
    CHECK(outcome->final_speed_mps < 0.02);
    CHECK(pair.node->gate().cause() == (silent ? Cause::kJoyStale : Cause::kDeadmanReleased));
  }
}

TEST_CASE("a controller that dies leaves a simulated car that stands") {
  const scenarios::ResolvedRun run = one_run("gap_follow", 4.0);
  SimNodeParameters parameters;
  parameters.answer_timeout_s = 0.2;
  Deaf deaf;
  Pair pair(run, deaf, parameters);
  const auto runs = pair.network.when_idle;
  pair.network.when_idle = [&] {
    if (pair.node->counts().decisions < 60) runs();
  };
  const auto outcome = pair.simulator->run(run, never);
  REQUIRE(outcome.ok());
  CHECK(outcome->final_speed_mps < 0.02);
  CHECK(pair.simulator->counts().timeouts > 50);
}

TEST_CASE("the simulator does not start beside real drivers, and ends when they come") {
  const scenarios::ResolvedRun run = one_run("gap_follow", 4.0);
  Deaf deaf;
  Pair pair(run, deaf);
  auto vesc = std::make_unique<MemoryGraph>(pair.network, "/car/vesc_driver_node");
  REQUIRE(vesc->advertise({.name = "/sensors/core", .type = "vesc_msgs/msg/VescStateStamped", .qos = {}}).ok());
  const auto refused = pair.simulator->run(run, never);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("/car/vesc_driver_node") != std::string::npos);
  vesc.reset();
  CHECK(real_drivers(pair.sim_graph).empty());
  const auto runs = pair.network.when_idle;
  pair.network.when_idle = [&] {
    runs();
    pair.network.advance(Duration{10'000'000});
    if (pair.node->counts().decisions == 60 && !vesc) {
      vesc = std::make_unique<MemoryGraph>(pair.network, "/urg_node");
      REQUIRE(vesc->advertise({.name = "/scan2", .type = "sensor_msgs/msg/LaserScan", .qos = {}}).ok());
    }
  };
  const auto ended = pair.simulator->run(run, never);
  REQUIRE_FALSE(ended.ok());
  CHECK(ended.error().message.find("/urg_node") != std::string::npos);
  CHECK(pair.node->counts().decisions < 130);
}

TEST_CASE("under the names of the gym, odometry is the truth on the map") {
  const scenarios::ResolvedRun run = one_run("gap_follow", 0.5);
  Deaf deaf;
  Pair pair(run, deaf, SimNodeParameters::gym());
  MemoryGraph listener(pair.network, "/listener");
  std::string frame, child;
  Pose2 first;
  REQUIRE(subscribe<ros_messages::Odometry>(listener, "/ego_racecar/odom", Qos::subscribe(), [&](const auto& m, const Arrival&) {
            frame = m.header.frame_id;
            child = m.child_frame_id;
            const Odometry o = ros_messages::from_ros(m);
            first = {o.position.x, o.position.y, yaw_of(o.orientation)};
          }).ok());
  const auto outcome = pair.simulator->run(run, never);
  REQUIRE(outcome.ok());
  // The map comes to those who ask late, cell by cell.
  std::optional<tracks::OccupancyMap> map;
  REQUIRE(subscribe<ros_messages::OccupancyGrid>(listener, "/map", Qos::latched(), [&](const auto& m, const Arrival&) {
            if (auto made = scenarios::map_of(m)) map = *std::move(made);
          }).ok());
  listener.wait(pair.network.now());
  REQUIRE(map);
  CHECK(scenarios::map_message(*map) == scenarios::map_message(*run.track->map));
  CHECK(frame == "map");
  CHECK(child == "ego_racecar/base_link");
  CHECK(distance(first.position(), outcome->final_pose.position()) < 0.1);
}

}  // namespace pitwall::ros_bridge
