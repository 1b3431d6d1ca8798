// SPDX-License-Identifier: Apache-2.0
// bench_localization: CPU time of one pair of scans of 1080 beams in the scenes of localization/test_scenes.hpp, by lines and by points,
// and of one step of the vehicle-state estimator: the minimum of `repeats` of every input, and of those the median, the 95th percentile and
// the maximum (bench/README.md). The rule of points is the reference that lines are compared with.
//
//   bench_localization [pairs, default 200] [repeats, default 20]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "bench/support.hpp"
#include "core/rng.hpp"
#include "localization/localizer/localizer.hpp"
#include "localization/scan_matcher.hpp"
#include "localization/test_drives.hpp"
#include "localization/test_scenes.hpp"
#include "localization/vehicle_state_estimator.hpp"

namespace {

using namespace pitwall;
using namespace pitwall::localization;

void print(const std::string& what, std::vector<double> us) {
  std::sort(us.begin(), us.end());
  const auto at = [&us](double q) { return us[static_cast<std::size_t>(q * static_cast<double>(us.size() - 1) + 0.5)]; };
  std::printf("%-60s %9.1f %9.1f %9.1f\n", what.c_str(), at(0.5), at(0.95), us.back());
}

struct Case {
  const char* name;
  scenes::Scene scene;
  double speed_mps;
  double sweep_s;
};

void match_pairs(const Case& c, MatchMetric metric, double guess, int count, int repeats) {
  ScanMatcher matcher({.metric = metric});
  std::vector<double> us;
  double miss = 0.0;
  for (int n = 0; n < count; ++n) {
    const scenes::Pair pair = scenes::pair(c.scene, {.sweep_s = c.sweep_s}, c.speed_mps, c.speed_mps / 3.0, static_cast<std::uint64_t>(n));
    const Pose2 from = scenes::share_of(guess, pair.T_first_second);
    double least = std::numeric_limits<double>::infinity();
    for (int r = 0; r < repeats; ++r) {
      const double before = bench::thread_cpu_s();
      const ScanMatch match = matcher.match(pair.first, pair.second, from);
      least = std::min(least, bench::thread_cpu_s() - before);
      if (r == 0) miss += distance(match.T_first_second.position(), pair.T_first_second.position());
    }
    us.push_back(1e6 * least);
  }
  char what[96];
  std::snprintf(what, sizeof what, "%s %s, %.0f %% guess, miss %.2f mm", c.name, metric == MatchMetric::kLine ? "line" : "point",
                100.0 * guess, 1e3 * miss / count);
  print(what, std::move(us));
}

void step_estimator(int repeats) {
  drives::Drive drive;
  drive.velocity = [](double t) { return Twist{2.0, 0.0, math::sin(t)}; };
  constexpr std::uint64_t kSteps = 2000;
  std::vector<double> us(kSteps, std::numeric_limits<double>::infinity());
  for (int r = 0; r < repeats; ++r) {
    VehicleStateEstimator estimator({});
    for (std::uint64_t k = 0; k < kSteps; ++k) {
      const double t = 0.005 * static_cast<double>(k);
      const Imu imu = drives::imu_of(drive, t, k);
      const double wheels = drives::wheels_of(drive, t, k);
      const double before = bench::thread_cpu_s();
      estimator.add_imu(imu);
      if (k % 4 == 0) estimator.add_wheels(drives::at(t), wheels);
      us[k] = std::min(us[k], 1e6 * (bench::thread_cpu_s() - before));
    }
  }
  print("vehicle state, one IMU sample", std::move(us));
}

/// A scan of 1080 beams at 3 m/s along the centre line, and the odometry to it.
struct Seen {
  LaserScan scan;
  Odometry odometry;
  Pose2 T_map_base;
};

std::vector<Seen> seen_along(const tracks::Track& track, int count) {
  std::vector<Seen> all;
  const Rng noise(3, "bench");
  const tracks::Path& line = track.centre->path;
  for (int n = 0; n < count; ++n) {
    Seen seen;
    const double s = 0.075 * n;
    const Vec2 p = line.point_at(s);
    seen.T_map_base = {p.x, p.y, line.heading_at(s)};
    seen.odometry.stamp = seen.scan.stamp = Time{} + from_milliseconds(25 * n);
    seen.odometry.position = p;
    seen.odometry.orientation = to_quaternion(seen.T_map_base.yaw);
    seen.odometry.speed_mps = 3.0;
    constexpr std::size_t kBeams = 1080;
    const auto first = static_cast<float>(-0.75 * math::kPi);
    const auto step = static_cast<float>(1.5 * math::kPi / (kBeams - 1));
    seen.scan.angle_min = first;
    seen.scan.angle_increment = step;
    seen.scan.range_min = 0.05F;
    seen.scan.range_max = 20.0F;
    for (std::size_t k = 0; k < kBeams; ++k) {
      const Vec2 way = unit_vector(seen.T_map_base.yaw + static_cast<double>(first) + static_cast<double>(k) * static_cast<double>(step));
      const double range =
          track.rays->cast(p, way, 20.0) + 0.01 * noise.normal(static_cast<std::uint64_t>(n), static_cast<std::uint32_t>(k));
      seen.scan.ranges.push_back(static_cast<float>(range));
    }
    all.push_back(std::move(seen));
  }
  return all;
}

void localise(const tracks::Track& track, int count, int repeats) {
  double before = bench::thread_cpu_s();
  const auto map = LocalizerMap::make(*track.map, track.rays);
  print("map of the localiser, " + track.name, {1e6 * (bench::thread_cpu_s() - before)});
  const std::vector<Seen> all = seen_along(track, count);
  const auto time = [&](bool from_start, const std::string& what) {
    std::vector<double> us(all.size(), std::numeric_limits<double>::infinity());
    std::size_t lost = 0;
    for (int r = 0; r < repeats; ++r) {
      Localizer localizer(map, {});
      localizer.reset(from_start ? std::optional<Pose2>(all[0].T_map_base) : std::nullopt);
      lost = 0;
      for (std::size_t k = 0; k < all.size(); ++k) {
        localizer.add_odometry(all[k].odometry);
        before = bench::thread_cpu_s();
        if (localizer.add_scan(all[k].scan).lost()) ++lost;
        us[k] = std::min(us[k], 1e6 * (bench::thread_cpu_s() - before));
      }
    }
    if (!from_start) us.resize(std::max<std::size_t>(1, lost));
    print(what + ", " + track.name + ", lost in " + std::to_string(lost) + " scans", std::move(us));
  };
  time(true, "localiser, one scan");
  time(false, "localiser, one scan of a search");
}

}  // namespace

int main(int argc, char** argv) {
  const int pairs = argc > 1 ? std::atoi(argv[1]) : 200;
  const int repeats = argc > 2 ? std::atoi(argv[2]) : 20;
  if (pairs < 1 || repeats < 1) {
    std::fprintf(stderr, "usage: bench_localization [pairs] [repeats]\n");
    return 2;
  }
  std::printf("%-60s %9s %9s %9s\n", "CPU time in us", "median", "p95", "max");
  const std::vector<Case> cases{{"hall 3 m/s", scenes::hall(), 3.0, 0.0},
                                {"hall 3 m/s, sweeping", scenes::hall(), 3.0, 0.01875},
                                {"hall 6 m/s, sweeping", scenes::hall(), 6.0, 0.01875},
                                {"smooth track 3 m/s", scenes::smooth_track(), 3.0, 0.0},
                                {"corridor 3 m/s", scenes::corridor(), 3.0, 0.0}};
  for (const Case& c : cases) {
    for (const MatchMetric metric : {MatchMetric::kLine, MatchMetric::kPoint}) {
      for (const double guess : {0.95, 0.0}) match_pairs(c, metric, guess, pairs, repeats);
    }
  }
  step_estimator(repeats);
  for (const tracks::Track& track : bench::bench_tracks()) localise(track, pairs, std::min(repeats, 5));
  return 0;
}
