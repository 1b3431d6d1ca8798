// SPDX-License-Identifier: Apache-2.0
// A whole step of 25 ms without controllers: five physics steps of 5 ms (RK4, contact, laps), one scan of 1081 beams with every error of
// profile `car`, and all other sensors. Cars start at cruising pace, evenly along the centre line, and roll. With n cars every number is
// per step of all of them; the one-car worlds take turns, so that `times_one` compares like with like.
//
// Beside it, what the step would cost if the fan were walked cell by cell or sphere-traced as in the peers, from the same poses.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>

#include "bench/reference/cell_walk.hpp"
#include "bench/reference/sphere_trace.hpp"
#include "bench/support.hpp"
#include "calibration/car_profile.hpp"
#include "core/check.hpp"
#include "sim/world.hpp"

namespace pitwall::bench {
namespace {

constexpr std::size_t kPlaces = 24;        // along the line, for one car
constexpr std::int64_t kStepsPerScan = 5;  // of 5 ms
constexpr std::int64_t kScans = 8;         // in a row from each place
constexpr double kSpeed_mps = 3.0;

const CarParameters& bench_car() {
  static const CarParameters car = [] {
    Result<calibration::CarProfile> profile = calibration::load_car("f1tenth", PITWALL_SOURCE_DIR "/calibration/cars");
    PITWALL_CHECK(profile.ok(), profile.error().message);
    return profile->parameters;
  }();
  return car;
}

sim::World world_of(const tracks::Track& track, std::size_t cars, double first_share, bool sweep) {
  const tracks::Line& centre = *track.centre;
  const double length = centre.path.length_m();
  std::vector<sim::CarSetup> setups;
  for (std::size_t k = 0; k < cars; ++k) {
    const double s = length * (first_share + static_cast<double>(k) / static_cast<double>(cars));
    const Vec2 p = centre.path.point_at(centre.path.wrap_s(s));
    sim::CarSetup setup;
    setup.name = "car" + std::to_string(k);
    setup.parameters = bench_car();
    setup.plant = plant::Options::of(plant::Fidelity::kCar);
    setup.sensors = sim::SensorSettings::of(setup.parameters, true);
    setup.sensors.lidar.sweep = sweep;
    setup.start = {p.x, p.y, centre.path.heading_at(centre.path.wrap_s(s))};
    setup.start_speed_mps = kSpeed_mps;
    setups.push_back(std::move(setup));
  }
  sim::LapLine line;
  line.path = std::shared_ptr<const tracks::Path>(std::shared_ptr<void>(), &centre.path);  // bench_tracks() outlives it
  line.width_right_m = centre.width_right_m;
  line.width_left_m = centre.width_left_m;
  sim::WorldSettings settings;
  settings.on_contact = sim::ContactPolicy::kRecord;
  Result<sim::World> world = sim::World::make({track.map, track.rays, track.distance, line}, settings, std::move(setups));
  PITWALL_CHECK(world.ok(), world.error().message);
  return std::move(*world);
}

std::vector<sim::World> worlds_of(const tracks::Track& track, std::size_t cars, bool sweep) {
  const std::size_t places = std::max<std::size_t>(1, kPlaces / cars);
  std::vector<sim::World> worlds;
  for (std::size_t k = 0; k < places; ++k)
    worlds.push_back(world_of(track, cars, static_cast<double>(k) / static_cast<double>(places * cars), sweep));
  return worlds;
}

/// CPU time of a whole step in us, over all worlds.
double step_us(std::vector<sim::World>& worlds) {
  double used_s = 0.0;
  for (sim::World& world : worlds) {
    world.reset();
    const double start = thread_cpu_s();
    for (std::int64_t k = 0; k < kScans * kStepsPerScan; ++k) world.step();
    used_s += thread_cpu_s() - start;
  }
  return 1e6 * used_s / static_cast<double>(worlds.size() * kScans);
}

/// Where the scanners of the one-car worlds start, and one fan from each by another method.
class Fans {
 public:
  Fans(const tracks::Track& track, const std::vector<sim::World>& worlds)
      : track_(track),
        fan_(-0.5 * bench_car().lidar_fov_rad, 0.5 * bench_car().lidar_fov_rad, static_cast<int>(bench_car().lidar_beams)),
        tracer_(*track.map),
        out_(fan_.directions.size()) {
    for (const sim::World& world : worlds) poses_.push_back(world.car(0).T_map_base * bench_car().lidar_mount());
  }
  double cast_us() {
    return time_us([&](const Pose2& pose) { track_.rays->cast_fan(pose, fan_, bench_car().lidar_range_max_m, out_); });
  }
  double walk_us() {
    return time_us([&](const Pose2& pose) { walk_fan(*track_.map, pose, fan_, bench_car().lidar_range_max_m, out_); });
  }
  double trace_us() {
    return time_us([&](const Pose2& pose) {
      tracer_.fan(pose, pose.yaw + fan_.angle_min_rad, fan_.angle_increment_rad, out_.size(), bench_car().lidar_range_max_m, out_.data());
    });
  }

 private:
  template <class Method>
  double time_us(Method method) {
    const double start = thread_cpu_s();
    for (const Pose2& pose : poses_) {
      method(pose);
      benchmark::DoNotOptimize(out_.data());
      benchmark::ClobberMemory();
    }
    return 1e6 * (thread_cpu_s() - start) / static_cast<double>(poses_.size());
  }

  const tracks::Track& track_;
  tracks::BeamFan fan_;
  SphereTracer tracer_;
  std::vector<double> out_;
  std::vector<Pose2> poses_;
};

void whole_step(benchmark::State& state, const tracks::Track& track, std::size_t cars, bool sweep) {
  std::vector<sim::World> worlds = worlds_of(track, cars, sweep);
  std::vector<sim::World> alone = worlds_of(track, 1, sweep);
  Fans fans(track, alone);
  step_us(worlds);  // the first fan from a tile finds out what it sees
  step_us(alone);
  std::vector<double> us;
  std::vector<double> alone_us;
  std::vector<double> cast_us;
  std::vector<double> walk_us;
  std::vector<double> trace_us;
  for (auto _ : state) {
    us.push_back(step_us(worlds));
    alone_us.push_back(cars == 1 ? us.back() : step_us(alone));
    cast_us.push_back(fans.cast_us());
    walk_us.push_back(fans.walk_us());
    trace_us.push_back(fans.trace_us());
    state.SetIterationTime(1e-6 * us.back());
  }
  for (const sim::World& world : worlds) {
    if (world.failed()) state.SkipWithError("a car failed");
  }
  const double rest = median(us) - static_cast<double>(cars) * median(cast_us);
  state.counters["steps_s"] = 1e6 / median(us);
  state.counters["car_us"] = median(us) / static_cast<double>(cars);
  state.counters["times_one"] = median(us) / median(alone_us);
  state.counters["fan_us"] = median(cast_us);
  state.counters["walk_us"] = median(walk_us);
  state.counters["sphere_us"] = median(trace_us);
  state.counters["x_walked"] = (rest + static_cast<double>(cars) * median(walk_us)) / median(us);
  state.counters["x_sphere"] = (rest + static_cast<double>(cars) * median(trace_us)) / median(us);
}

const bool registered = [] {
  for (const tracks::Track& track : bench_tracks()) {
    for (const bool sweep : {false, true}) {
      for (const std::size_t cars : {1U, 2U, 8U, 32U}) {
        const std::string name = "world_step/" + track.name + (sweep ? "/sweeping/" : "/still/") + std::to_string(cars);
        benchmark::RegisterBenchmark(name.c_str(), whole_step, std::cref(track), cars, sweep)
            ->UseManualTime()
            ->Iterations(9)
            ->Unit(benchmark::kMicrosecond);
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace pitwall::bench
