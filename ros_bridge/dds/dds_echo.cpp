// SPDX-License-Identifier: Apache-2.0
// The other process of the tests: sends what comes on TOPIC back on TOPIC/back until its standard input ends.
//   dds_echo NODE RESTARTS [TOPIC TYPE sensor|reliable|latched]...
// Before that, as node NODE_leaving, it joins the graph and leaves it when someone reads its first answers, RESTARTS times.
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ros_bridge/dds/dds_graph.hpp"

using namespace pitwall;
using namespace pitwall::ros_bridge;

namespace {

Qos named(std::string_view name) {
  if (name == "sensor") return Qos::sensor_data();
  return name == "latched" ? Qos::latched(3) : Qos{.reliable = true, .transient_local = false, .depth = 0};
}

Result<std::unique_ptr<DdsGraph>> join(const std::string& node, int count, char** args) {
  const auto settings = settings_from_environment();
  if (!settings) return settings.error();
  auto made = DdsGraph::make({node, *settings});
  if (!made) return made.error();
  DdsGraph* graph = made->get();
  for (int i = 3; i + 2 < count; i += 3) {
    const TopicSpec topic{args[i], args[i + 1], named(args[i + 2])};
    TopicSpec answer = topic;
    answer.name += "/back";
    const auto back = graph->advertise(answer);
    if (!back) return back.error();
    const auto echo = [graph, id = *back](std::string_view cdr, const Arrival&) { graph->publish(id, cdr); };
    if (const Status status = graph->subscribe(topic, echo); !status) return status.error();
  }
  return made;
}

}  // namespace

int main(int count, char** args) {
  for (int again = std::atoi(args[2]); again > 0; --again) {
    const auto graph = join(std::string(args[1]) + "_leaving", count, args);
    if (!graph) return std::fprintf(stderr, "%s\n", graph.error().message.c_str()), 2;
    while (graph.value()->readers_of(0) == 0) graph.value()->wait(graph.value()->now() + from_milliseconds(20));
  }
  const auto graph = join(args[1], count, args);
  if (!graph) return std::fprintf(stderr, "%s\n", graph.error().message.c_str()), 2;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  char byte = 0;
  while (::poll(&input, 1, 0) == 0 || ::read(STDIN_FILENO, &byte, 1) > 0) {
    graph.value()->wait(graph.value()->now() + from_milliseconds(20));
  }
  return 0;
}
