// SPDX-License-Identifier: Apache-2.0
// What else a run asks of a track: the windowed projection of every step, and the work done once per map or line.
#include <benchmark/benchmark.h>

#include "bench/support.hpp"
#include "tracks/speed_profile.hpp"

namespace pitwall::bench {
namespace {

void project_near(benchmark::State& state, const tracks::Track& track) {
  const tracks::Path& line = track.centre->path;
  double s = 0.0;
  std::size_t k = 0;
  const std::vector<Pose2> poses = poses_along(track, 4096);
  for (auto _ : state) {
    const Pose2& pose = poses[k++ % poses.size()];
    const tracks::Projection at = line.project_near({pose.x + 0.2, pose.y - 0.1}, s, 1.0, 2.0);
    s = at.s_m;
    benchmark::DoNotOptimize(s);
  }
}

void project_whole(benchmark::State& state, const tracks::Track& track) {
  const tracks::Path& line = track.centre->path;
  const std::vector<Pose2> poses = poses_along(track, 64);
  std::size_t k = 0;
  for (auto _ : state) benchmark::DoNotOptimize(line.project(poses[k++ % poses.size()].position()).s_m);
}

void profile(benchmark::State& state, const tracks::Track& track) {
  for (auto _ : state) benchmark::DoNotOptimize(tracks::speed_profile(track.centre->path, {}).data());
}

void distance_build(benchmark::State& state, const tracks::Track& track) {
  for (auto _ : state) {
    const tracks::DistanceField field(*track.map);
    benchmark::DoNotOptimize(&field);
  }
}

const bool registered = [] {
  for (const tracks::Track& track : bench_tracks()) {
    benchmark::RegisterBenchmark(("project_near/" + track.name).c_str(), project_near, std::cref(track));
    benchmark::RegisterBenchmark(("project/" + track.name).c_str(), project_whole, std::cref(track))->Unit(benchmark::kMicrosecond);
    benchmark::RegisterBenchmark(("speed_profile/" + track.name).c_str(), profile, std::cref(track))->Unit(benchmark::kMicrosecond);
    benchmark::RegisterBenchmark(("distance_build/" + track.name).c_str(), distance_build, std::cref(track))->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace pitwall::bench
