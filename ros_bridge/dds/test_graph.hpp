// SPDX-License-Identifier: Apache-2.0
// Graphs for tests: over loopback only, on domains of their own, with other processes to talk to.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

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
  if (!graph) FAIL(graph.error().message);
  return *std::move(graph);
}

/// Another process on the same graph, until this goes.
class OtherProcess {
 public:
  OtherProcess(const std::string& command, const DdsSettings& settings, const std::string& range = "LOCALHOST") {
    const std::string line = "exec env ROS_LOCALHOST_ONLY= ROS_DOMAIN_ID=" + std::to_string(settings.domain) +
                             " ROS_AUTOMATIC_DISCOVERY_RANGE=" + range + " CYCLONEDDS_URI='" + settings.cyclone_uri + "' " + command;
    int pipe[2] = {};
    REQUIRE(::pipe2(pipe, O_CLOEXEC) == 0);
    id_ = ::fork();
    REQUIRE(id_ >= 0);
    if (id_ == 0) {
      ::dup2(pipe[0], STDIN_FILENO);
      ::execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(pipe[0]);
    input_ = pipe[1];
  }
  OtherProcess(OtherProcess&& other) noexcept : id_(std::exchange(other.id_, 0)), input_(other.input_) {}
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;
  ~OtherProcess() { end(); }

  void signal(int number) const { ::kill(id_, number); }
  /// Ends its input, on which it ends. Its exit status, or -1.
  int end() {
    if (id_ == 0) return 0;
    ::close(input_);
    int status = 0;
    ::waitpid(std::exchange(id_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t id_ = 0;
  int input_ = -1;
};

/// Lets the graph hand out until `done`, a minute at most; whether it is.
template <class Done>
bool wait_for(DdsGraph& graph, Done&& done) {
  const Time end = graph.now() + from_milliseconds(60'000);
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
  if (!id) FAIL(id.error().message);
  return *id;
}
/// Collects what comes, as long as the graph is there.
inline void collect(DdsGraph& graph, const TopicSpec& topic, std::vector<std::string>& into) {
  const Status status = graph.subscribe(topic, [&into](std::string_view cdr, const Arrival& /*arrival*/) { into.emplace_back(cdr); });
  if (!status) FAIL(status.error().message);
}

/// Publishes again and again until `done`: the others may not have met our reader of their answers when they meet our writer.
template <class Done>
bool publish_until(DdsGraph& graph, Graph::PublisherId id, const std::string& cdr, Done&& done) {
  const Time end = graph.now() + from_milliseconds(60'000);
  Time next = graph.now();
  while (!done() && graph.now() < end) {
    if (graph.now() >= next) {
      graph.publish(id, cdr);
      next = graph.now() + from_milliseconds(50);
    }
    graph.wait(next);
  }
  return done();
}

inline std::size_t endpoints_of(const DdsGraph& graph, const std::string& node) {
  std::size_t count = 0;
  for (const Endpoint& each : graph.endpoints()) count += each.node == node ? 1U : 0U;
  return count;
}

}  // namespace pitwall::ros_bridge
