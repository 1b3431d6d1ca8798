// SPDX-License-Identifier: Apache-2.0
// What else a run asks of a track: the windowed projection of every step, and the work done once per map or line.
#include <benchmark/benchmark.h>

#include "bench/reference/distance_transform.hpp"
#include "bench/support.hpp"
#include "tracks/build/raceline.hpp"
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

// From the centre line to the checked line: stations, corridors, eight programs, sweeps of the chassis, profile.
void raceline(benchmark::State& state, const tracks::Track& track, tracks::build::Objective objective) {
  const tracks::build::Room room = tracks::build::Room::of(track);
  tracks::build::RacelineSettings settings;
  settings.objective = objective;
  const BodyRectangle chassis{-0.13, 0.45, 0.155};
  for (auto _ : state) {
    const auto centre = tracks::build::refine_centre_line(room, track.centre->path.points(), true, settings);
    const auto line = tracks::build::optimise_raceline(room, centre, true, chassis, settings);
    benchmark::DoNotOptimize(line->lap_time_s);
  }
  state.counters["length_m"] = track.centre->path.length_m();
}

void distance_build(benchmark::State& state, const tracks::Track& track) {
  for (auto _ : state) {
    const tracks::DistanceField field(*track.map);
    benchmark::DoNotOptimize(&field);
  }
}

void distance_transform_whole(benchmark::State& state, const tracks::Track& track) {
  for (auto _ : state) benchmark::DoNotOptimize(distance_transform(*track.map).data());
}

// What a car on the line asks: the bound of its middle, as far as its own reach, and the exact clearance of a point of its outline.
void distance_question(benchmark::State& state, const tracks::Track& track, bool exact) {
  const std::vector<Pose2> poses = poses_along(track, 1000);
  std::size_t k = 0;
  for (auto _ : state) {
    const Vec2 p = poses[k++ % poses.size()].position();
    benchmark::DoNotOptimize(exact ? track.distance->clearance_m(p, 5.0) : track.distance->lower_bound_m(p, 0.4));
  }
}

const bool registered = [] {
  for (const tracks::Track& track : bench_tracks()) {
    benchmark::RegisterBenchmark(("project_near/" + track.name).c_str(), project_near, std::cref(track));
    benchmark::RegisterBenchmark(("project/" + track.name).c_str(), project_whole, std::cref(track))->Unit(benchmark::kMicrosecond);
    benchmark::RegisterBenchmark(("speed_profile/" + track.name).c_str(), profile, std::cref(track))->Unit(benchmark::kMicrosecond);
    benchmark::RegisterBenchmark(("least_curvature/" + track.name).c_str(), raceline, std::cref(track),
                                 tracks::build::Objective::kCurvature)
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("least_time/" + track.name).c_str(), raceline, std::cref(track), tracks::build::Objective::kTime)
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("distance_build/" + track.name).c_str(), distance_build, std::cref(track))->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("distance_transform/" + track.name).c_str(), distance_transform_whole, std::cref(track))
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("distance_bound/" + track.name).c_str(), distance_question, std::cref(track), false);
    benchmark::RegisterBenchmark(("distance_clearance/" + track.name).c_str(), distance_question, std::cref(track), true);
  }
  return true;
}();

}  // namespace
}  // namespace pitwall::bench
