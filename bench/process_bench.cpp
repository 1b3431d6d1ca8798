// SPDX-License-Identifier: Apache-2.0
// From the start of a process to its first scans: run_validation on one track, stopped after a tenth of a simulated second, beside the
// same program that only prints its version. Times are CPU time of the child, user and system, least and median of all runs.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/support.hpp"
#include "core/check.hpp"

namespace pitwall::bench {
namespace {

double seconds(const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); }

/// CPU time of one run of run_validation in ms.
double child_cpu_ms(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), PITWALL_RUN_VALIDATION);
  std::vector<char*> raw;
  for (std::string& argument : arguments) raw.push_back(argument.data());
  raw.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  PITWALL_CHECK(posix_spawn(&child, PITWALL_RUN_VALIDATION, &actions, nullptr, raw.data(), environ) == 0, PITWALL_RUN_VALIDATION);
  posix_spawn_file_actions_destroy(&actions);
  rusage usage{};
  int status = 0;
  PITWALL_CHECK(wait4(child, &status, 0, &usage) == child, "wait4");
  PITWALL_CHECK(WIFEXITED(status) && WEXITSTATUS(status) <= 1, "run_validation", status);  // 1: no lap in a tenth of a second
  return 1e3 * (seconds(usage.ru_utime) + seconds(usage.ru_stime));
}

void process_start(benchmark::State& state, const std::string& track) {
  const std::string resolved = (std::filesystem::temp_directory_path() / ("bench_process." + std::to_string(getpid()))).string();
  std::vector<double> scan_ms;
  std::vector<double> version_ms;
  for (auto _ : state) {
    scan_ms.push_back(child_cpu_ms({"--scenario", "gap", "--tracks", track, "--timeout", "0.1", "--jobs", "1", "--resolved", resolved}));
    version_ms.push_back(child_cpu_ms({"--version"}));
    state.SetIterationTime(1e-3 * scan_ms.back());
  }
  std::filesystem::remove_all(resolved);
  state.counters["first_scan_ms"] = median(scan_ms);
  state.counters["least_ms"] = *std::min_element(scan_ms.begin(), scan_ms.end());
  state.counters["version_ms"] = median(version_ms);
}

const bool registered = [] {
  const std::vector<std::string> arguments = bench_track_arguments();
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const std::string name = "process_start/" + bench_tracks()[k].name;
    benchmark::RegisterBenchmark(name.c_str(), process_start, arguments[k])->UseManualTime()->Iterations(9)->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace pitwall::bench
