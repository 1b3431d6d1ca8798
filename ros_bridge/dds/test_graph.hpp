// SPDX-License-Identifier: Apache-2.0
// Graphs for tests: over loopback only, on domains of their own, with other processes to talk to.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ros_bridge/dds/dds_graph.hpp"

namespace pitwall::ros_bridge {

/// A domain for each call and each process, so that nobody else answers.
inline DdsSettings loopback() {
  static std::uint32_t next = static_cast<std::uint32_t>(::getpid()) * 7;
  return {
      1 + next++ % 200, DiscoveryRange::kLocalhost,
      "<CycloneDDS><Domain><General><Interfaces><NetworkInterface address=\"127.0.0.1\"/></Interfaces></General></Domain></CycloneDDS>"};
}

inline std::unique_ptr<DdsGraph> make_graph(const std::string& node, const DdsSettings& settings) {
  auto graph = DdsGraph::make({node, settings});
  REQUIRE_MESSAGE(graph.ok(), graph.error().message);
  return *std::move(graph);
}

/// Another process on the same graph, until this goes.
class OtherProcess {
 public:
  OtherProcess(const std::string& command, const DdsSettings& settings, const std::string& range = "LOCALHOST")
      : input_(::popen(("exec env ROS_LOCALHOST_ONLY= ROS_DOMAIN_ID=" + std::to_string(settings.domain) +
                        " ROS_AUTOMATIC_DISCOVERY_RANGE=" + range + " CYCLONEDDS_URI='" + settings.cyclone_uri + "' " + command)
                           .c_str(),
                       "w")) {}
  OtherProcess(OtherProcess&& other) noexcept : input_(std::exchange(other.input_, nullptr)) {}
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;
  ~OtherProcess() { end(); }
  /// Its exit status.
  int end() { return input_ == nullptr ? 0 : ::pclose(std::exchange(input_, nullptr)); }

 private:
  FILE* input_;
};

/// Lets the graph hand out until `done`, 10 s at most; whether it is.
template <class Done>
bool wait_for(DdsGraph& graph, Done&& done) {
  const Time end = graph.now() + from_milliseconds(10'000);
  while (!done() && graph.now() < end) graph.wait(end);
  return done();
}
/// Lets the graph hand out for a while.
inline void wait_during(DdsGraph& graph, std::int64_t milliseconds) {
  const Time end = graph.now() + from_milliseconds(milliseconds);
  while (graph.now() < end) graph.wait(end);
}

inline Graph::PublisherId advertise(DdsGraph& graph, const TopicSpec& topic) {
  const auto id = graph.advertise(topic);
  REQUIRE_MESSAGE(id.ok(), id.error().message);
  return *id;
}
/// Collects what comes.
inline void collect(DdsGraph& graph, const TopicSpec& topic, std::vector<std::string>& into) {
  const Status status = graph.subscribe(topic, [&into](std::string_view cdr, const Arrival& /*arrival*/) { into.emplace_back(cdr); });
  REQUIRE_MESSAGE(status.ok(), status.error().message);
}

inline std::size_t endpoints_of(const DdsGraph& graph, const std::string& node) {
  std::size_t count = 0;
  for (const Endpoint& each : graph.endpoints()) count += each.node == node ? 1U : 0U;
  return count;
}

}  // namespace pitwall::ros_bridge
