// SPDX-License-Identifier: Apache-2.0
// A ControllerNode on a graph of one process, with the sensors and the operator that it hears; all on an injected clock.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/test_car.hpp"
#include "ros_bridge/controller_node.hpp"
#include "ros_bridge/memory_graph.hpp"
#include "ros_messages/convert.hpp"

namespace pitwall::ros_bridge {

inline constexpr std::int64_t kMs = 1'000'000;

/// A car of the size that the node's tests speak of.
inline CarParameters small_car() {
  CarParameters car = testing::base_car();
  car.speed_max_mps = 6.0;
  car.steering_max_left_rad = 0.4;
  car.steering_max_right_rad = -0.4;
  return car;
}

/// Wants to drive, whatever it sees.
class Eager final : public Controller {
 public:
  explicit Eager(std::optional<Duration> period = {}) : period_(period) {}
  [[nodiscard]] std::string_view name() const override { return "eager"; }
  [[nodiscard]] Trigger trigger() const override { return {period_}; }
  void reset(const Observation& first) override { reset_at = first.now; }
  Command update(const Observation& seen) override {
    at.push_back(seen.now);
    last = seen;
    return command;
  }
  Command command{0.1F, 2.0F};
  std::vector<Time> at;
  Observation last;
  Time reset_at;

 private:
  std::optional<Duration> period_;
};

/// Hears nothing.
class Deaf final : public RunObserver {
 public:
  void arrived(std::size_t /*car*/, const Source<LaserScan>& /*scan*/) override {}
  void arrived(std::size_t /*car*/, const Source<Odometry>& /*odometry*/) override {}
  void arrived(std::size_t /*car*/, const Source<PoseEstimate>& /*pose*/) override {}
  void arrived(std::size_t /*car*/, const Source<Joy>& /*joy*/) override {}
  void arrived(std::size_t /*car*/, const Source<Imu>& /*imu*/) override {}
  void changed(std::size_t /*car*/, const std::string& /*assignment*/) override {}
  void decided(std::size_t /*car*/, std::uint64_t /*tick*/, const Observation& /*seen*/, const Command& /*command*/) override {}
};

/// A command as it came out on /drive.
struct Sent {
  Time at;
  float steering_rad = 0.0F;
  float speed_mps = 0.0F;
};

/// Publishes what a car's drivers would: a scan each 25 ms, odometry each 20 ms, /joy each 50 ms; each can be silenced.
struct TestCar {
  explicit TestCar(MemoryNetwork& on, const std::string& node = "/drivers") : network(on), graph(on, node) {
    REQUIRE(scans.open(graph, "/scan", Qos::sensor_data()).ok());
    REQUIRE(odometries.open(graph, "/odom", Qos::publish()).ok());
    REQUIRE(joys.open(graph, "/joy", Qos::publish()).ok());
    REQUIRE(subscribe<ros_messages::AckermannDriveStamped>(graph, "/drive", Qos::subscribe(), [this](const auto& m, const Arrival& a) {
              sent.push_back({a.received, m.drive.steering_angle, m.drive.speed});
            }).ok());
  }
  /// What is due at the network's time.
  void publish() {
    const Time now = network.now();
    if (odometry_on && now.ns % (20 * kMs) == 0) {
      Odometry odometry;
      odometry.stamp = now;
      odometry.speed_mps = 1.0;
      odometries.publish(ros_messages::to_ros(odometry, "odom", "base_link"));
    }
    if (joy_on && now.ns % (50 * kMs) == 0) {
      Joy joy{now, std::vector<int>(12, 0)};
      joy.buttons[4] = pressed ? 1 : 0;
      joy.buttons[5] = by_hand ? 1 : 0;
      if (few_buttons) joy.buttons.resize(3);
      joys.publish(ros_messages::to_ros(joy));
    }
    if (scan_on && now.ns % (25 * kMs) == 0) {
      LaserScan scan;
      scan.stamp = now + scan_shift;
      scan.range_max = 10.0F;
      scan.ranges.assign(9, scan_range);
      scans.publish(ros_messages::to_ros(scan, "laser"));
    }
  }

  MemoryNetwork& network;
  MemoryGraph graph;
  Publisher<ros_messages::LaserScan> scans;
  Publisher<ros_messages::Odometry> odometries;
  Publisher<ros_messages::Joy> joys;
  std::vector<Sent> sent;
  bool scan_on = true, odometry_on = true, joy_on = true, pressed = false, by_hand = false, few_buttons = false;
  Duration scan_shift;
  float scan_range = 3.0F;
};

/// All three together, in steps of a millisecond.
struct TestRig {
  explicit TestRig(ControllerNodeSetup of = {}, std::unique_ptr<Eager> eager = std::make_unique<Eager>())
      : setup(std::move(of)),
        network(Time{1'000'000 * kMs}),
        car(network),
        graph(network, "/bridge_controller"),
        controller(std::move(eager)) {
    setup.car = small_car();
    auto made = ControllerNode::make(setup, graph, *controller, nullptr, deaf);
    REQUIRE_MESSAGE(made.ok(), made.error().message);
    node = *std::move(made);
  }
  void run_ms(std::int64_t ms) {
    for (const Time end = network.now() + Duration{ms * kMs}; network.now() < end;) step();
  }
  /// One millisecond: the car's messages first, then the node if it woke.
  void step() {
    car.publish();
    if (node_runs) {
      graph.wait(network.now());
      node->tick();
    }
    car.graph.wait(network.now());
    network.advance({1 * kMs});
  }
  /// Deadman seen released, then held until the car drives.
  void drive() {
    car.pressed = false;
    run_ms(300);
    car.pressed = true;
    run_ms(300);
    REQUIRE_FALSE(car.sent.empty());
    REQUIRE(car.sent.back().speed_mps == 2.0F);
    car.sent.clear();
  }

  ControllerNodeSetup setup;
  MemoryNetwork network;
  TestCar car;
  MemoryGraph graph;
  Deaf deaf;
  std::unique_ptr<Eager> controller;
  std::unique_ptr<ControllerNode> node;
  bool node_runs = true;
};

}  // namespace pitwall::ros_bridge
