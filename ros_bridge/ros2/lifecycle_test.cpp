// SPDX-License-Identifier: Apache-2.0
// The lifecycle node on the stub of rclcpp (tests/support/rclcpp_stub), whose graph is inside this process.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/files.hpp"
#include "ros_bridge/ros2/lifecycle_controller.hpp"
#include "ros_bridge/ros2/ros_parameters.hpp"
#include "ros_bridge/typed.hpp"
#include "ros_messages/convert.hpp"
#include "tests/support/source_dir.hpp"

namespace pitwall::ros_bridge {
namespace {

using Done = LifecycleController::Done;
const rclcpp_lifecycle::State kBefore;

/// A car's drivers and its operator, on a node of their own.
struct Drivers {
  Drivers() {
    REQUIRE(scans.open(graph, "/scan", Qos::sensor_data()).ok());
    REQUIRE(odometries.open(graph, "/odom", Qos::publish()).ok());
    REQUIRE(joys.open(graph, "/joy", Qos::publish()).ok());
    REQUIRE(subscribe<ros_messages::AckermannDriveStamped>(graph, "/drive", Qos::subscribe(), [this](const auto& m, const Arrival&) {
              speeds.push_back(m.drive.speed);
            }).ok());
  }
  void publish(bool pressed) {
    const Time now = graph.now();
    Odometry odometry;
    odometry.stamp = now;
    odometries.publish(ros_messages::to_ros(odometry, "odom", "base_link"));
    Joy joy{now, std::vector<int>(12, 0)};
    joy.buttons[4] = pressed ? 1 : 0;
    joys.publish(ros_messages::to_ros(joy));
    LaserScan scan;
    scan.stamp = now;
    scan.angle_min = -2.0F;
    scan.angle_increment = 4.0F / 400.0F;
    scan.range_max = 10.0F;
    scan.ranges.assign(401, 5.0F);
    scans.publish(ros_messages::to_ros(scan, "laser"));
  }

  rclcpp_lifecycle::LifecycleNode node{"drivers"};
  RclcppGraph graph{node};
  Publisher<ros_messages::LaserScan> scans;
  Publisher<ros_messages::Odometry> odometries;
  Publisher<ros_messages::Joy> joys;
  std::vector<float> speeds;
};

/// Until the car has driven; the operator lets go and presses again and again, whatever holds the machine up meanwhile.
bool drive(LifecycleController& node, Drivers& drivers) {
  for (int i = 0; i < 2000; ++i) {
    drivers.publish(i % 100 >= 20);
    node.step();
    drivers.graph.wait(drivers.graph.now());
    if (!drivers.speeds.empty() && drivers.speeds.back() > 0.0F) return true;
  }
  return false;
}

bool writes(const RclcppGraph& graph, const std::string& topic, const std::string& node) {
  for (const Endpoint& each : graph.endpoints()) {
    if (each.writes && each.topic.name == topic && each.node == node) return true;
  }
  return false;
}

rclcpp::NodeOptions with(const std::vector<rclcpp::Parameter>& overrides) { return rclcpp::NodeOptions().parameter_overrides(overrides); }

}  // namespace

TEST_CASE("configured, activated, driving, tuned, deactivated with a stop, and so again") {
  Drivers drivers;
  LifecycleController node(with({{"gap_follow.max_speed_mps", 1.75}}), data_folder().string());
  CHECK_FALSE(node.drives());
  REQUIRE(node.on_configure(kBefore) == Done::SUCCESS);
  CHECK_FALSE(writes(drivers.graph, "/drive", "/bridge_controller"));
  for (int round = 0; round < 2; ++round) {
    REQUIRE(node.on_activate(kBefore) == Done::SUCCESS);
    CHECK(writes(drivers.graph, "/drive", "/bridge_controller"));
    drivers.speeds.clear();
    REQUIRE(drive(node, drivers));
    CHECK(drivers.speeds.back() <= 1.75F);

    CHECK(node.set_parameters_atomically({{"gap_follow.max_speed_mps", 1.5}, {"gap_follow.steering_gain", 0.9}}).successful);
    const auto too_fast = node.set_parameters_atomically({{"gap_follow.max_speed_mps", 9.0}});
    CHECK_FALSE(too_fast.successful);
    const auto fixed = node.set_parameters_atomically({{"gate.deadman_button", std::int64_t{7}}});
    CHECK_FALSE(fixed.successful);
    CHECK(fixed.reason == "gate.deadman_button: taken at configure; clean up first");
    CHECK(node.get_parameter("gap_follow.max_speed_mps").as_double() == 1.5);

    // A scan waits to be decided on; nothing that moves goes out any more.
    drivers.speeds.clear();
    drivers.publish(true);
    CHECK(node.on_deactivate(kBefore) == Done::SUCCESS);
    drivers.graph.wait(drivers.graph.now());
    REQUIRE_FALSE(drivers.speeds.empty());
    for (const float speed : drivers.speeds) CHECK(speed == 0.0F);
    CHECK_FALSE(node.drives());
    CHECK_FALSE(writes(drivers.graph, "/drive", "/bridge_controller"));
  }
  CHECK(node.on_cleanup(kBefore) == Done::SUCCESS);
  CHECK(node.set_parameters_atomically({{"gate.deadman_button", std::int64_t{7}}}).successful);
  CHECK(node.on_configure(kBefore) == Done::SUCCESS);
}

TEST_CASE("what cannot be is refused where it is said") {
  CHECK_THROWS_WITH_AS(LifecycleController(with({{"controller", "gap_folow"}}), ""), doctest::Contains("gap_follow"),
                       std::invalid_argument);
  CHECK_THROWS(LifecycleController(with({{"gap_follow.max_speed_mps", 9.0}}), ""));
  LifecycleController lineless(with({{"controller", "pure_pursuit"}}), data_folder().string());
  CHECK(lineless.on_configure(kBefore) == Done::FAILURE);
  LifecycleController nowhere(with({{"inputs.pose_source", "gps"}}), data_folder().string());
  CHECK(nowhere.on_configure(kBefore) == Done::FAILURE);
}

TEST_CASE("graph: bytes, who sent them, and which endpoints are ours") {
  rclcpp_lifecycle::LifecycleNode node("one");
  rclcpp_lifecycle::LifecycleNode twin("one");
  RclcppGraph graph(node);
  RclcppGraph other(twin);
  const TopicSpec topic{"/text", "std_msgs/msg/String", Qos::latched(3)};
  std::vector<std::string> heard;
  Gid writer{};
  REQUIRE(graph
              .subscribe(topic,
                         [&](std::string_view cdr, const Arrival& arrival) {
                           heard.emplace_back(cdr);
                           writer = arrival.writer;
                         })
              .ok());
  REQUIRE(graph.advertise(topic).ok());
  const auto id = other.advertise(topic);
  REQUIRE(id.ok());
  CHECK(other.readers_of(*id) == 1);
  CHECK(other.publish(*id, std::string_view("\0\1\0\0ab", 6)));
  CHECK(heard.empty());
  graph.wait(graph.now() + from_milliseconds(10));
  REQUIRE(heard == std::vector<std::string>{std::string("\0\1\0\0ab", 6)});

  // Of two publishers under one name, one is of another process.
  std::size_t ours = 0, all = 0;
  for (const Endpoint& each : graph.endpoints()) {
    if (each.topic.name != "/text" || !each.writes) continue;
    ++all;
    ours += each.ours ? 1U : 0U;
    CHECK(each.topic.qos == topic.qos);
    if (!each.ours) CHECK(each.gid == writer);
  }
  CHECK(all == 2);
  CHECK(ours == 1);
  CHECK_FALSE(graph.advertise({"/x", "missing_msgs/msg/X", Qos{}}).ok());
  for (const Qos& qos : {Qos::sensor_data(), Qos::publish(), Qos::latched(), Qos{.depth = 0}}) CHECK(from_rclcpp(to_rclcpp(qos)) == qos);
}

TEST_CASE("pitwall_msgs says of Tick what the code says") {
  const auto text = read_file(source_dir() / "ros_bridge/pitwall_msgs/msg/Tick.msg");
  REQUIRE(text.ok());
  const auto parsed = ros_messages::parse_definition(recording::Tick::kType, *text);
  REQUIRE(parsed.ok());
  CHECK(ros_messages::type_hash(*parsed) == ros_messages::type_hash(ros_messages::describe<recording::Tick>()));
}

}  // namespace pitwall::ros_bridge
