// SPDX-License-Identifier: Apache-2.0
// The whole simulator: one car with all 1081 beams at 40 Hz, odometry, pose, sensing errors, plant, contact, laps and the
// controller, as `run_validation` steps it in profile `car`. Counter `x_real_time`: simulated seconds for a second of the
// thread's CPU time, median over iterations of one simulated second.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <filesystem>

#include "bench/support.hpp"
#include "core/files.hpp"
#include "scenarios/run.hpp"

namespace pitwall::bench {
namespace {

Result<sim::World> world_of(const std::string& scenario, const std::string& track) {
  scenarios::ValidationOptions options;
  options.data = data_folder();
  options.scenario = scenario;
  options.tracks = {track};
  options.raceline = scenarios::LineChoice::kCenterline;
  const auto runs = scenarios::resolve(options);
  if (!runs) return runs.error();
  return scenarios::assemble(runs->front());
}

void whole_step(benchmark::State& state, const std::string& scenario, const std::string& track) {
  Result<sim::World> world = world_of(scenario, track);
  if (!world) {
    state.SkipWithError(world.error().message.c_str());
    return;
  }
  constexpr double kSimulatedPerIteration_s = 1.0;
  const auto steps = static_cast<std::int64_t>(kSimulatedPerIteration_s / world->step_duration().seconds());
  std::vector<double> ratios;
  for (auto _ : state) {
    if (world->car(0).lap.laps >= 1.0) world->reset();
    const double start = thread_cpu_s();
    for (std::int64_t k = 0; k < steps; ++k) world->step();
    const double used_s = thread_cpu_s() - start;
    ratios.push_back(kSimulatedPerIteration_s / used_s);
    state.SetIterationTime(used_s);
  }
  if (world->failed() || world->car(0).contact) state.SkipWithError("the car did not drive");
  state.counters["x_real_time"] = median(ratios);
  state.counters["beams"] = static_cast<double>(world->parameters(0).lidar_beams);
}

const bool registered = [] {
  for (const std::string& track : bench_track_arguments()) {
    const std::string name = std::filesystem::path(track).filename();
    for (const char* scenario : {"gap", "pure"}) {
      benchmark::RegisterBenchmark(("whole_step/" + std::string(scenario) + "/" + name).c_str(), whole_step, scenario, track)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
    }
  }
  return true;
}();

}  // namespace
}  // namespace pitwall::bench
