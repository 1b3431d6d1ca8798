// SPDX-License-Identifier: Apache-2.0
// Against another implementation of DDS and of CDR: Fast DDS in a process of its own (fast_dds_peer).
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "ros_bridge/dds/test_graph.hpp"
#include "ros_messages/known_types.hpp"

namespace pitwall::ros_bridge {
namespace {

template <class Message>
std::string type_of(const Message& /*message*/) {
  return std::string(Message::kType);
}

ros_messages::Header header() { return {{1'700'000'000, 123'456'789}, "laser"}; }

template <class Message>
void check_there_and_back(DdsGraph& graph, const std::string& topic, const Message& message, const Qos& back,
                          std::vector<std::string>& got) {
  CAPTURE(topic);
  const std::string sent = ros_messages::write(message);
  collect(graph, {topic + "/back", type_of(message), back}, got);
  const auto id = advertise(graph, {topic, type_of(message), Qos::publish()});
  REQUIRE(publish_until(graph, id, sent, [&] { return !got.empty(); }));
  CHECK(got[0].substr(0, sent.size()) == sent);
  const auto back_again = ros_messages::read<Message>(got[0]);
  REQUIRE(back_again.ok());
  CHECK(*back_again == message);
}

TEST_CASE("scan, odometry, drive, tf and joystick go to Fast DDS and back, through its CDR") {
  const DdsSettings settings = loopback();
  const auto graph = make_graph("/test", settings);
  const OtherProcess peer(PITWALL_FAST_DDS_PEER " " + std::to_string(settings.domain), settings);

  std::vector<std::string> scans, odometries, drives, tfs, joys;  // as long as the graph: answers may still come
  ros_messages::LaserScan scan;
  scan.header = header();
  scan.angle_min = -2.35F;
  scan.angle_increment = 0.004F;
  for (int i = 0; i < 1081; ++i) scan.ranges.push_back(0.01F * static_cast<float>(i));
  scan.intensities = {1.0F, 2.0F};
  check_there_and_back(*graph, "/scan", scan, Qos::sensor_data(), scans);

  ros_messages::Odometry odometry;
  odometry.header = header();
  odometry.child_frame_id = "base_link";
  odometry.pose.pose.position.x = 1.25;
  odometry.pose.covariance[35] = 0.5;
  odometry.twist.twist.angular.z = -0.75;
  check_there_and_back(*graph, "/odom", odometry, Qos::subscribe(), odometries);

  ros_messages::AckermannDriveStamped drive;
  drive.header = header();
  drive.drive.steering_angle = -0.25F;
  drive.drive.speed = 3.5F;
  check_there_and_back(*graph, "/drive", drive, Qos::publish(), drives);

  ros_messages::TFMessage tf;
  for (const char* child : {"base_link", "laser"}) {
    tf.transforms.emplace_back();
    tf.transforms.back().header = header();
    tf.transforms.back().child_frame_id = child;
    tf.transforms.back().transform.translation.x = 0.27;
  }
  check_there_and_back(*graph, "/tf", tf, Qos::subscribe(100), tfs);

  ros_messages::Joy joy;
  joy.header = header();
  joy.axes = {0.0F, -1.0F, 0.5F};
  joy.buttons = {0, 1, 0, 0, 1};
  check_there_and_back(*graph, "/joy", joy, Qos::subscribe(), joys);
  CHECK(graph->refused() == 0);

  // The same in the other byte order is taken; in another encoding it is counted, once in the log, and the writer's next is taken.
  std::vector<std::string> big_endian, damaged;
  collect(*graph, {"/joy_big_endian", type_of(joy), Qos::publish()}, big_endian);
  collect(*graph, {"/joy_damaged", type_of(joy), Qos::publish()}, damaged);
  const auto otherwise = advertise(*graph, {"/joy_otherwise", type_of(joy), Qos::publish()});
  REQUIRE(publish_until(*graph, otherwise, ros_messages::write(joy),
                        [&] { return !big_endian.empty() && !damaged.empty() && graph->refused() > 0; }));
  CHECK(big_endian[0][1] == '\0');
  CHECK(*ros_messages::read<ros_messages::Joy>(big_endian[0]) == joy);
  for (const std::string& each : damaged) CHECK(*ros_messages::read<ros_messages::Joy>(each) == joy);
}

TEST_CASE("Fast DDS sees our enclave, hashes, QoS and node, and we see its") {
  const DdsSettings settings = loopback();
  const auto graph = make_graph("/car1/pitwall", settings);
  const OtherProcess peer(PITWALL_FAST_DDS_PEER " " + std::to_string(settings.domain), settings);
  const std::string text(ros_messages::String::kType);
  advertise(*graph, {"/map", std::string(ros_messages::OccupancyGrid::kType), Qos::latched()});
  advertise(*graph, {"/clock", std::string(ros_messages::Clock::kType), Qos::clock()});
  const auto ask = advertise(*graph, {"/ask", text, Qos::publish()});
  std::vector<std::string> answers;
  collect(*graph, {"/seen", text, Qos::publish()}, answers);
  std::string seen;
  const auto has = [&seen](const std::string& line) { return seen.find(line + "\n") != std::string::npos; };
  const std::string node = "node /car1 pitwall 1 readers 3 writers";
  CHECK(publish_until(*graph, ask, ros_messages::write(ros_messages::String{"?"}), [&] {
    if (!answers.empty()) seen = ros_messages::read<ros_messages::String>(answers.back())->data;
    return has(node);
  }));
  CAPTURE(seen);
  CHECK(has("participant enclave=/;"));
  CHECK(
      has("writer rt/map nav_msgs::msg::dds_::OccupancyGrid_ reliable latched "
          "typehash=RIHS01_8d348150c12913a31ee0ec170fbf25089e4745d17035792a1ba94d6f0bc0cfc7;"));
  CHECK(
      has("writer rt/clock rosgraph_msgs::msg::dds_::Clock_ best_effort volatile "
          "typehash=RIHS01_692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564;"));
  CHECK(
      has("reader rt/seen std_msgs::msg::dds_::String_ reliable volatile "
          "typehash=RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18;"));

  REQUIRE(wait_for(*graph, [&] { return endpoints_of(*graph, "/fast_peer") == 1; }));
  for (const Endpoint& each : graph->endpoints()) {
    if (each.topic.name != "/seen" || each.ours) continue;
    CHECK(each.node == "/fast_peer");
    CHECK(each.writes);
    CHECK(each.topic.type == text);
    CHECK(each.topic.type_hash == "RIHS01_" + std::string(64, 'f'));
    CHECK(each.topic.qos.reliable);
  }
}

}  // namespace
}  // namespace pitwall::ros_bridge
