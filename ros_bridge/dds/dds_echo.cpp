// SPDX-License-Identifier: Apache-2.0
// The other process of the tests: sends what comes on TOPIC back on TOPIC/back until its standard input ends.
//   dds_echo NODE TOPIC TYPE [TOPIC TYPE ...]
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "ros_bridge/dds/dds_graph.hpp"

using namespace pitwall;
using namespace pitwall::ros_bridge;

int main(int count, char** args) {
  const auto settings = settings_from_environment();
  if (!settings) return std::fprintf(stderr, "%s\n", settings.error().message.c_str()), 2;
  auto graph = DdsGraph::make({args[1], *settings});
  if (!graph) return std::fprintf(stderr, "%s\n", graph.error().message.c_str()), 2;
  for (int i = 2; i + 1 < count; i += 2) {
    const std::string topic = args[i], type = args[i + 1];
    const auto back = (*graph)->advertise({topic + "/back", type, Qos::publish()});
    if (!back) return std::fprintf(stderr, "%s\n", back.error().message.c_str()), 2;
    const auto echo = [&graph, id = *back](std::string_view cdr, const Arrival&) { (*graph)->publish(id, cdr); };
    const Status status = (*graph)->subscribe({topic, type, {.reliable = true, .transient_local = false, .depth = 0}}, echo);
    if (!status) return std::fprintf(stderr, "%s\n", status.error().message.c_str()), 2;
  }
  std::puts("ready");
  std::fflush(stdout);
  for (;;) {
    (*graph)->wait((*graph)->now() + from_milliseconds(20));
    pollfd input{STDIN_FILENO, POLLIN, 0};
    char byte = 0;
    if (::poll(&input, 1, 0) > 0 && ::read(STDIN_FILENO, &byte, 1) <= 0) return 0;
  }
}
