// SPDX-License-Identifier: Apache-2.0
// LiDAR fans: 1081 beams over 270 degrees, 30 m, from poses along the centre line. The caster, the plain exact walk of
// reference/cell_walk.hpp and the sphere tracing of reference/sphere_trace.hpp take turns, so that all see the same machine; reported per
// fan, with the ratios of the medians and how far each is from the walk. Fans whose sensor drives on at 8 m/s while it turns take turns
// with still ones; single rays from random free places, and what a caster costs before its first fan, beside them.
#include <benchmark/benchmark.h>
#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "bench/reference/cell_walk.hpp"
#include "bench/reference/sphere_trace.hpp"
#include "bench/support.hpp"
#include "core/rng.hpp"

namespace pitwall::bench {
namespace {

constexpr std::size_t kPoses = 216;
constexpr double kRange = 30.0;

// How far ranges are from those of the walk; what does not return counts as the greatest range.
struct Errors {
  std::vector<double> off;
  std::size_t far = 0;  // by more than 0.3 m

  void add(const std::vector<double>& ranges, const std::vector<double>& truth) {
    for (std::size_t b = 0; b < ranges.size(); ++b) {
      off.push_back(std::fabs(std::min(ranges[b], kRange) - std::min(truth[b], kRange)));
      far += off.back() > 0.3 ? 1 : 0;
    }
  }
  [[nodiscard]] double quantile(double q) {
    std::sort(off.begin(), off.end());
    return off[static_cast<std::size_t>(q * static_cast<double>(off.size() - 1))];
  }
};

// The sensor's way during a turn of 18.75 ms, in four pieces as from physics steps, that ends at `pose`.
using Knots = std::array<tracks::SweepKnot, 5>;

Knots driving(const Pose2& pose, double speed_mps, double yaw_rate_radps) {
  constexpr double kPiece_s = 0.01875 / 4.0;
  Knots knots;
  Pose2 at = pose;
  for (std::size_t k = knots.size(); k-- > 0;) {
    knots[k] = {270.0 * static_cast<double>(k), at};
    const double yaw = at.yaw - kPiece_s * yaw_rate_radps;
    const Vec2 moved = at.position() - kPiece_s * speed_mps * unit_vector(0.5 * (at.yaw + yaw));
    at = {moved.x, moved.y, yaw};
  }
  return knots;
}

template <class Method>
double time_us(const std::vector<Pose2>& poses, std::vector<double>& out, Method method) {
  const double start = thread_cpu_s();
  for (const Pose2& pose : poses) {
    method(pose);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  return 1e6 * (thread_cpu_s() - start) / static_cast<double>(poses.size());
}

void use_instruction_set(std::int64_t target) {
  hwy::SetSupportedTargetsForTest(target);  // 0: all that this machine has
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

void fans(benchmark::State& state, const tracks::Track& track, std::int64_t target) {
  use_instruction_set(target);
  const tracks::BeamFan fan(-0.75 * math::kPi, 0.75 * math::kPi, 1081);
  const std::vector<Pose2> poses = poses_along(track, kPoses);
  const SphereTracer tracer(*track.map);
  std::vector<double> cast(fan.directions.size());
  std::vector<double> walked(fan.directions.size());
  std::vector<double> traced(fan.directions.size());
  const auto cast_one = [&](const Pose2& pose) { track.rays->cast_fan(pose, fan, kRange, cast); };
  const auto walk_one = [&](const Pose2& pose) { walk_fan(*track.map, pose, fan, kRange, walked); };
  const auto trace_one = [&](const Pose2& pose) {
    tracer.fan(pose, pose.yaw + fan.angle_min_rad, fan.angle_increment_rad, traced.size(), kRange, traced.data());
  };
  Errors errors;
  std::size_t differing = 0;
  for (const Pose2& pose : poses) {  // the first fan from a tile finds out what it sees
    cast_one(pose);
    walk_one(pose);
    trace_one(pose);
    errors.add(traced, walked);
    for (std::size_t b = 0; b < cast.size(); ++b) differing += cast[b] != walked[b] ? 1 : 0;
  }
  std::vector<double> cast_us;
  std::vector<double> walk_us;
  std::vector<double> trace_us;
  for (auto _ : state) {
    cast_us.push_back(time_us(poses, cast, cast_one));
    walk_us.push_back(time_us(poses, walked, walk_one));
    trace_us.push_back(time_us(poses, traced, trace_one));
    state.SetIterationTime(1e-6 * kPoses * cast_us.back());
  }
  state.counters["fan_us"] = median(cast_us);
  state.counters["walk_us"] = median(walk_us);
  state.counters["sphere_us"] = median(trace_us);
  state.counters["x_walk"] = median(walk_us) / median(cast_us);
  state.counters["x_sphere"] = median(trace_us) / median(cast_us);
  state.counters["fan_Mrays_s"] = static_cast<double>(cast.size()) / median(cast_us);
  state.counters["walk_Mrays_s"] = static_cast<double>(cast.size()) / median(walk_us);
  state.counters["sphere_Mrays_s"] = static_cast<double>(cast.size()) / median(trace_us);
  state.counters["fan_differ"] = static_cast<double>(differing);
  state.counters["sphere_median_m"] = errors.quantile(0.5);
  state.counters["sphere_p99_m"] = errors.quantile(0.99);
  state.counters["sphere_max_m"] = errors.quantile(1.0);
  state.counters["sphere_off_0.3m_%"] = 100.0 * static_cast<double>(errors.far) / static_cast<double>(errors.off.size());
  use_instruction_set(0);
  if (differing != 0) state.SkipWithError("the caster differs from the walk");
}

void sweeps(benchmark::State& state, const tracks::Track& track, std::int64_t target) {
  use_instruction_set(target);
  const tracks::BeamFan fan(-0.75 * math::kPi, 0.75 * math::kPi, 1081);
  const std::vector<Pose2> poses = poses_along(track, kPoses);
  std::vector<Knots> knots;
  for (std::size_t k = 0; k < poses.size(); ++k) {
    knots.push_back(driving(poses[k], 8.0, 3.0 * math::sin(static_cast<double>(k))));
  }
  std::vector<double> ranges(fan.directions.size());
  std::vector<tracks::Face> faces(fan.directions.size());
  std::size_t differing = 0;
  std::size_t walked = 0;
  for (const Knots& way : knots) {
    const tracks::Sweep sweep(*track.map, fan, way);
    walked += track.rays->cast_sweep(way, fan, kRange, ranges);
    for (std::size_t b = 0; b < ranges.size(); ++b) {
      const double range = track.map->resolution_m() * cell_walk(*track.map, sweep.origin_cells(b), sweep.direction_cells(b));
      differing += ranges[b] != (range <= kRange ? range : std::numeric_limits<double>::infinity()) ? 1 : 0;
    }
  }
  std::size_t at = 0;  // time_us() goes through the poses in order, and so through the knots
  const auto next = [&] { return std::exchange(at, (at + 1) % knots.size()); };
  std::vector<double> still_us;
  std::vector<double> sweep_us;
  std::vector<double> faces_us;
  for (auto _ : state) {
    still_us.push_back(time_us(poses, ranges, [&](const Pose2& pose) { track.rays->cast_fan(pose, fan, kRange, ranges); }));
    sweep_us.push_back(time_us(poses, ranges, [&](const Pose2&) { track.rays->cast_sweep(knots[next()], fan, kRange, ranges); }));
    faces_us.push_back(time_us(poses, ranges, [&](const Pose2&) { track.rays->cast_sweep(knots[next()], fan, kRange, ranges, faces); }));
    state.SetIterationTime(1e-6 * kPoses * sweep_us.back());
  }
  state.counters["still_us"] = median(still_us);
  state.counters["sweep_us"] = median(sweep_us);
  state.counters["sweep_with_faces_us"] = median(faces_us);
  state.counters["x_still"] = median(sweep_us) / median(still_us);
  state.counters["walked_%"] = 100.0 * static_cast<double>(walked) / static_cast<double>(knots.size() * fan.directions.size());
  state.counters["differ"] = static_cast<double>(differing);
  use_instruction_set(0);
  if (differing != 0) state.SkipWithError("the caster differs from the walk");
}

void single_rays(benchmark::State& state, const tracks::Track& track) {
  const tracks::OccupancyMap& map = *track.map;
  const Rng rng(1, "rays");
  std::vector<Vec2> places;
  std::vector<Vec2> directions;
  for (std::uint64_t k = 0; places.size() < 100000; ++k) {
    const Vec2 p{map.width() * rng.uniform(k, 0), map.height() * rng.uniform(k, 1)};
    if (map.blocked(static_cast<int>(p.x), static_cast<int>(p.y))) continue;
    places.push_back(map.to_map(p));
    directions.push_back(unit_vector(2.0 * math::kPi * rng.uniform(k, 2)));
  }
  const auto count = static_cast<double>(places.size());
  std::vector<double> cast_us;
  std::vector<double> walk_us;
  double sum = 0.0;
  for (auto _ : state) {
    const double start = thread_cpu_s();
    for (std::size_t k = 0; k < places.size(); ++k) sum += track.rays->cast(places[k], directions[k], kRange) < 1.0 ? 1.0 : 0.0;
    const double middle = thread_cpu_s();
    for (std::size_t k = 0; k < places.size(); ++k) sum += cell_walk(map, map.to_grid(places[k]), directions[k]) < 1.0 ? 1.0 : 0.0;
    benchmark::DoNotOptimize(sum);
    cast_us.push_back(1e6 * (middle - start) / count);
    walk_us.push_back(1e6 * (thread_cpu_s() - middle) / count);
    state.SetIterationTime(middle - start);
  }
  state.counters["cast_Mrays_s"] = 1.0 / median(cast_us);
  state.counters["walk_Mrays_s"] = 1.0 / median(walk_us);
  state.counters["x_walk"] = median(walk_us) / median(cast_us);
}

// From a decoded map to the first scan.
void first_scan(benchmark::State& state, const tracks::Track& track) {
  const tracks::BeamFan fan(-0.75 * math::kPi, 0.75 * math::kPi, 1081);
  std::vector<double> cast(fan.directions.size());
  const Pose2 pose = poses_along(track, 1)[0];
  std::size_t bytes = 0;
  for (auto _ : state) {
    const tracks::RayCaster rays(track.map);
    rays.cast_fan(pose, fan, kRange, cast);
    bytes = rays.bytes();
    benchmark::DoNotOptimize(cast.data());
  }
  state.counters["MB"] = 1e-6 * static_cast<double>(bytes);
}

const bool registered = [] {
  for (const tracks::Track& track : bench_tracks()) {
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
      benchmark::RegisterBenchmark(("rays_fan/" + track.name + "/" + hwy::TargetName(target)).c_str(), fans, std::cref(track), target)
          ->UseManualTime()
          ->Iterations(12)
          ->Unit(benchmark::kMillisecond);
    }
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
      benchmark::RegisterBenchmark(("rays_sweep/" + track.name + "/" + hwy::TargetName(target)).c_str(), sweeps, std::cref(track), target)
          ->UseManualTime()
          ->Iterations(12)
          ->Unit(benchmark::kMillisecond);
    }
    benchmark::RegisterBenchmark(("rays_single/" + track.name).c_str(), single_rays, std::cref(track))
        ->UseManualTime()
        ->Iterations(12)
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("rays_first_scan/" + track.name).c_str(), first_scan, std::cref(track))->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace pitwall::bench
