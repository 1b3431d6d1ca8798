// SPDX-License-Identifier: Apache-2.0
// bench_laws: CPU time of one steer() per law, on a short and a long lap: the minimum of 20 repeats of every tick, and of those
// the median, the 99th percentile and the maximum over the ticks (design/style.md, Times). The car is kicked sideways every
// second, so that the rows of mpc matter.
//
//   bench_laws [ticks, default 1000]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>

#include "bench/support.hpp"
#include "controllers/lqr.hpp"
#include "controllers/mpc.hpp"
#include "controllers/pure_pursuit.hpp"
#include "controllers/stanley.hpp"
#include "tests/support/law_rig.hpp"

namespace {

using namespace pitwall;
using namespace pitwall::controllers;
using Maker = std::function<std::unique_ptr<SteeringLaw>(const LawSetup&)>;

template <class Law>
Maker maker(const typename Law::Parameters& p = {}) {
  return [p](const LawSetup& setup) { return std::make_unique<Law>(p, setup); };
}

/// CPU time in us of each tick, the least of `repeats` identical runs.
std::vector<double> times_us(const Maker& make, const RigLine& line, int ticks, int repeats) {
  const LawSetup setup = rig_setup(rig_car(), line, 50.0);
  const std::unique_ptr<SteeringLaw> law = make(setup);
  std::vector<double> least(static_cast<std::size_t>(ticks), std::numeric_limits<double>::infinity());
  for (int run = 0; run < repeats; ++run) {
    law->reset();
    Rig rig(setup, SlipLaw::kBrush, {line.path.points()[0].x, line.path.points()[0].y, line.path.heading_at(0.0)}, 4.0);
    for (int k = 0; k < ticks; ++k) {
      if (k % 50 == 49) rig.set_pose(rig.pose() * Pose2{0.0, k % 100 == 49 ? 0.2 : -0.2, 0.0});
      const LawInput in = rig.input();
      const double before = bench::thread_cpu_s();
      const double wanted = law->steer(in);
      const double spent = 1e6 * (bench::thread_cpu_s() - before);
      double& best = least[static_cast<std::size_t>(k)];
      best = std::min(best, spent);
      rig.send(wanted);
      rig.drive(setup.control_period_s);
    }
  }
  std::sort(least.begin(), least.end());
  return least;
}

/// A smooth lap of about that length with as many bends per metre, points 0.2 m apart.
RigLine lap(double length_m) {
  const double radius = length_m / (2.0 * math::kPi);
  const auto points = static_cast<std::size_t>(length_m / 0.2);
  const double bends = std::round(length_m / 12.0);
  std::vector<Vec2> all;
  for (std::size_t i = 0; i < points; ++i) {
    const double t = 2.0 * math::kPi * static_cast<double>(i) / static_cast<double>(points);
    all.push_back((radius + 0.5 * math::sin(bends * t)) * unit_vector(t));
  }
  return {std::move(all), true, 4.0, 0.6};
}

}  // namespace

int main(int argc, char** argv) {
  const int ticks = argc > 1 ? std::max(10, std::atoi(argv[1])) : 1000;
  const int repeats = argc > 1 ? 3 : 20;
  MpcParameters kinematic;
  kinematic.model = LateralKind::kKinematic;
  const std::pair<const char*, Maker> laws[] = {{"pure_pursuit", maker<PurePursuitLaw>()},
                                                {"stanley", maker<StanleyLaw>()},
                                                {"lqr", maker<LqrLaw>()},
                                                {"mpc (dynamic)", maker<MpcLaw>()},
                                                {"mpc (kinematic)", maker<MpcLaw>(kinematic)}};
  std::printf("%-16s %8s %10s %10s %10s   us of CPU time per call, %d ticks, least of %d\n", "law", "lap m", "p50", "p99", "max", ticks,
              repeats);
  for (const double length : {60.0, 1000.0}) {
    const RigLine line = lap(length);
    for (const auto& [name, make] : laws) {
      const std::vector<double> us = times_us(make, line, ticks, repeats);
      std::printf("%-16s %8.0f %10.2f %10.2f %10.2f\n", name, line.path.length_m(), us[us.size() / 2], us[us.size() * 99 / 100], us.back());
    }
  }
  return 0;
}
