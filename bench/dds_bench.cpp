// SPDX-License-Identifier: Apache-2.0
// bench_dds [SECONDS]: what the way over DDS costs. At 40 Hz a scan of 1081 beams goes to another process over loopback, which reads it and
// sends a drive command back. Prints the time of the round trip and the CPU time of both processes.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ros_bridge/dds/dds_graph.hpp"
#include "ros_messages/drive.hpp"
#include "ros_messages/sensors.hpp"

namespace {

using namespace pitwall;
using namespace pitwall::ros_bridge;

constexpr Duration kPeriod = from_milliseconds(25);
const TopicSpec kScan{"/scan", std::string(ros_messages::LaserScan::kType), Qos::publish()};
const TopicSpec kDrive{"/drive", std::string(ros_messages::AckermannDriveStamped::kType), Qos::publish()};

DdsSettings settings() {
  return {
      static_cast<std::uint32_t>(1 + ::getppid() % 200), DiscoveryRange::kLocalhost,
      "<CycloneDDS><Domain><General><Interfaces><NetworkInterface address=\"127.0.0.1\"/></Interfaces></General></Domain></CycloneDDS>"};
}

template <class T>
T must(Result<T> result) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "%s\n", result.error().message.c_str());
  std::exit(3);
}
void must(const Status& status) {
  if (status) return;
  std::fprintf(stderr, "%s\n", status.error().message.c_str());
  std::exit(3);
}

[[noreturn]] void answer(const DdsSettings& where) {
  const auto graph = must(DdsGraph::make({"/controller", where}));
  const auto drive = must(graph->advertise(kDrive));
  ros_messages::LaserScan scan;
  ros_messages::AckermannDriveStamped command;
  std::string bytes;
  must(graph->subscribe(kScan, [&](std::string_view cdr, const Arrival&) {
    if (!ros_messages::read(cdr, scan)) return;
    command.header.stamp = scan.header.stamp;
    ros_messages::write(command, bytes);
    graph->publish(drive, bytes);
  }));
  for (;;) graph->wait(graph->now() + from_milliseconds(1'000));
}

double cpu_seconds(const rusage& used) {
  const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec); };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double at_percent(const std::vector<double>& sorted, double percent) {
  return sorted[static_cast<std::size_t>(percent / 100.0 * static_cast<double>(sorted.size() - 1))];
}

}  // namespace

int main(int count, char** args) {
  const double seconds = count > 1 ? std::atof(args[1]) : 10.0;
  const DdsSettings where = settings();
  const pid_t other = ::fork();
  if (other == 0) answer(where);

  const auto graph = must(DdsGraph::make({"/sim", where}));
  const auto id = must(graph->advertise(kScan));
  Time answered;
  must(graph->subscribe(kDrive, [&](std::string_view, const Arrival& arrival) { answered = arrival.received; }));
  ros_messages::LaserScan scan;
  scan.ranges.assign(1081, 1.5F);
  std::string bytes;

  std::vector<double> round_trips_ms;
  std::size_t lost = 0;
  rusage before{};
  Time next = graph->now();
  const auto wanted = static_cast<std::size_t>(seconds / kPeriod.seconds());
  for (std::size_t tick = 0; round_trips_ms.size() + lost < wanted; ++tick) {
    const Time sent = graph->now();
    ros_messages::write(scan, bytes);
    graph->publish(id, bytes);
    next = next + kPeriod;
    while (graph->now() < next) graph->wait(next);
    const bool met = tick >= 40 && graph->readers_of(id) == 1;  // the first second is for meeting
    if (!met) {
      ::getrusage(RUSAGE_SELF, &before);
      continue;
    }
    answered >= sent ? round_trips_ms.push_back(1e3 * (answered - sent).seconds()) : static_cast<void>(++lost);
  }
  rusage after{}, of_other{};
  ::getrusage(RUSAGE_SELF, &after);
  ::kill(other, SIGKILL);
  ::wait4(other, nullptr, 0, &of_other);
  if (round_trips_ms.empty()) return std::fprintf(stderr, "no answer came\n"), 1;
  std::sort(round_trips_ms.begin(), round_trips_ms.end());
  std::printf(
      "%zu scans of 1081 beams at 40 Hz there, a drive command back: median %.3f ms, 99 %% %.3f ms, most %.3f ms; %zu later than the next "
      "scan\n",
      round_trips_ms.size(), at_percent(round_trips_ms, 50.0), at_percent(round_trips_ms, 99.0), round_trips_ms.back(), lost);
  std::printf("CPU time of a core: %.1f %% here; %.1f %% in the other process, start included\n",
              100.0 * (cpu_seconds(after) - cpu_seconds(before)) / seconds, 100.0 * cpu_seconds(of_other) / (seconds + 1.0));
  return 0;
}
