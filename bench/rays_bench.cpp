// SPDX-License-Identifier: Apache-2.0
// LiDAR fans: 1081 beams over 270 degrees, 30 m, from poses along the centre line; the caster and the plain exact walk of
// reference/cell_walk.hpp in turns, so that both see the same machine. Reported per fan, with the ratio of the medians.
#include <benchmark/benchmark.h>

#include <limits>

#include "bench/reference/cell_walk.hpp"
#include "bench/support.hpp"

namespace pitwall::bench {
namespace {

constexpr std::size_t kPoses = 216;
constexpr double kRange = 30.0;

void walk_fan(const tracks::OccupancyMap& map, const Pose2& pose, const tracks::BeamFan& fan, std::vector<double>& out) {
  const Vec2 origin = map.to_grid(pose.position());
  const math::SinCos turn = math::sincos(map.to_grid_yaw(pose.yaw));
  for (std::size_t b = 0; b < fan.directions.size(); ++b) {
    const Vec2 beam = fan.directions[b];
    const double range =
        map.resolution_m() * cell_walk(map, origin, {turn.cos * beam.x - turn.sin * beam.y, turn.sin * beam.x + turn.cos * beam.y});
    out[b] = range <= kRange ? range : std::numeric_limits<double>::infinity();
  }
}

void fans(benchmark::State& state, const tracks::Track& track) {
  const tracks::BeamFan fan(-0.75 * math::kPi, 0.75 * math::kPi, 1081);
  const std::vector<Pose2> poses = poses_along(track, kPoses);
  std::vector<double> cast(fan.directions.size());
  std::vector<double> walked(fan.directions.size());
  std::vector<double> cast_us;
  std::vector<double> walk_us;
  std::size_t differing = 0;
  for (auto _ : state) {
    const double start = thread_cpu_s();
    for (const Pose2& pose : poses) {
      track.rays->cast_fan(pose, fan, kRange, cast);
      benchmark::DoNotOptimize(cast.data());
      benchmark::ClobberMemory();
    }
    const double middle = thread_cpu_s();
    for (const Pose2& pose : poses) {
      walk_fan(*track.map, pose, fan, walked);
      benchmark::DoNotOptimize(walked.data());
      benchmark::ClobberMemory();
    }
    const double end = thread_cpu_s();
    cast_us.push_back(1e6 * (middle - start) / kPoses);
    walk_us.push_back(1e6 * (end - middle) / kPoses);
    state.SetIterationTime(middle - start);
    for (std::size_t b = 0; b < cast.size(); ++b) differing += cast[b] != walked[b] ? 1 : 0;
  }
  state.counters["fan_us"] = median(cast_us);
  state.counters["walk_us"] = median(walk_us);
  state.counters["ratio"] = median(walk_us) / median(cast_us);
  state.counters["fan_Mrays_s"] = static_cast<double>(cast.size()) / median(cast_us);
  state.counters["walk_Mrays_s"] = static_cast<double>(cast.size()) / median(walk_us);
  if (differing != 0) state.SkipWithError("the caster differs from the walk");
}

void caster_build(benchmark::State& state, const tracks::Track& track) {
  for (auto _ : state) {
    const tracks::RayCaster rays(track.map);
    benchmark::DoNotOptimize(&rays);
  }
}

const bool registered = [] {
  for (const tracks::Track& track : bench_tracks()) {
    benchmark::RegisterBenchmark(("rays_fan/" + track.name).c_str(), fans, std::cref(track))
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("rays_build/" + track.name).c_str(), caster_build, std::cref(track))->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace pitwall::bench
