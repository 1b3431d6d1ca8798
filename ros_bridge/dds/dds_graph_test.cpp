// SPDX-License-Identifier: Apache-2.0
#include "ros_bridge/dds/dds_graph.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "ros_messages/known_types.hpp"

namespace pitwall::ros_bridge {
namespace {

/// Only over loopback; a domain for each test and each run, so that nobody else answers.
DdsSettings loopback() {
  static std::uint32_t next = static_cast<std::uint32_t>(::getpid()) % 100;
  DdsSettings settings;
  settings.domain = 1 + next++ % 100;
  settings.range = DiscoveryRange::kLocalhost;
  settings.cyclone_uri =
      "<CycloneDDS><Domain><General><Interfaces><NetworkInterface address=\"127.0.0.1\"/></Interfaces></General></Domain></CycloneDDS>";
  return settings;
}

/// Waits until `done`, 10 s at most.
template <class Done>
bool wait_for(DdsGraph& graph, Done&& done) {
  const Time end = graph.now() + from_seconds(10.0);
  while (!done() && graph.now() < end) graph.wait(end);
  return done();
}

TEST_CASE("what one graph publishes another one in the process gets") {
  const DdsSettings settings = loopback();
  auto a = DdsGraph::make({"/a", settings});
  REQUIRE_MESSAGE(a.ok(), a.error().message);
  auto b = DdsGraph::make({"/b", settings});
  REQUIRE(b.ok());
  std::vector<std::string> got;
  const TopicSpec topic{"/text", "std_msgs/msg/String", Qos::publish()};
  REQUIRE((*b)->subscribe(topic, [&](std::string_view cdr, const Arrival&) { got.emplace_back(cdr); }).ok());
  const auto id = (*a)->advertise(topic);
  REQUIRE(id.ok());
  REQUIRE(wait_for(**a, [&] { return (*a)->readers_of(*id) == 1; }));
  CHECK((*a)->publish(*id, ros_messages::write(ros_messages::String{"hello"})));
  REQUIRE(wait_for(**b, [&] { return !got.empty(); }));
  CHECK(ros_messages::read<ros_messages::String>(got[0])->data == "hello");
}

TEST_CASE("another process sends back what it got") {
  const DdsSettings settings = loopback();
  const std::string environment = "ROS_DOMAIN_ID=" + std::to_string(settings.domain) +
                                  " ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST CYCLONEDDS_URI='" + settings.cyclone_uri + "' ";
  FILE* echo = ::popen((environment + PITWALL_DDS_ECHO " /echo /text std_msgs/msg/String").c_str(), "w");
  auto graph = DdsGraph::make({"/test", settings});
  REQUIRE(graph.ok());
  const TopicSpec topic{"/text", "std_msgs/msg/String", Qos::publish()};
  std::vector<std::string> got;
  REQUIRE((*graph)
              ->subscribe({"/text/back", topic.type, Qos::publish()}, [&](std::string_view cdr, const Arrival&) { got.emplace_back(cdr); })
              .ok());
  const auto id = (*graph)->advertise(topic);
  REQUIRE(id.ok());
  REQUIRE(wait_for(**graph, [&] { return (*graph)->readers_of(*id) == 1; }));
  CHECK((*graph)->publish(*id, ros_messages::write(ros_messages::String{"hello"})));
  REQUIRE(wait_for(**graph, [&] { return !got.empty(); }));
  CHECK(ros_messages::read<ros_messages::String>(got[0])->data == "hello");
  for (const Endpoint& e : (*graph)->endpoints())
    MESSAGE(e.node, " ", e.topic.name, " ", e.topic.type, " ", e.topic.type_hash, " ", e.writes, " ", e.ours, " ", e.topic.qos.reliable,
            " ", e.topic.qos.depth);
  ::pclose(echo);
}

}  // namespace
}  // namespace pitwall::ros_bridge
