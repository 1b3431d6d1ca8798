// SPDX-License-Identifier: Apache-2.0
// bench_controllers: CPU time of one steer() per law, on a short and a long lap, and of one tick of gap_follow: the minimum of 20 repeats
// of every input, and of those the median, the 99th percentile and the maximum (design/style.md, Times). The car is kicked
// sideways every second, so that the rows of mpc matter. The clock itself is in the figures: under 1 us.
//
//   bench_controllers [inputs, default 1000]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>

#include "bench/support.hpp"
#include "controllers/make.hpp"
#include "plant/plant.hpp"
#include "plant/steady_turn.hpp"
#include "tests/support/law_rig.hpp"
#include "tests/support/toy_world.hpp"

namespace {

using namespace pitwall;
using namespace pitwall::controllers;

SteeringTable table_of(const CarParameters& car) {
  const auto plant = plant::Plant::make(car, plant::Options::of(plant::Fidelity::kPlant), car.surface_friction);
  return plant ? plant::steering_table(plant->slip_model(), 5.0) : SteeringTable{};
}

/// CPU time in us of each tick, the least of `repeats` identical runs, sorted.
std::vector<double> law_us(const std::string& name, const Node& parameters, const RigLine& line, int ticks, int repeats) {
  LawSetup setup = rig_setup(rig_car(), line, 50.0);
  const SteeringTable table = table_of(setup.car);
  setup.table = &table;
  auto law_made = make_law(name, parameters, setup);
  if (!law_made) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), law_made.error().message.c_str());
    std::exit(1);
  }
  SteeringLaw& law = **law_made;
  std::vector<double> least(static_cast<std::size_t>(ticks), std::numeric_limits<double>::infinity());
  for (int run = 0; run < repeats; ++run) {
    law.reset();
    Rig rig(setup, SlipLaw::kBrush, {line.path.points()[0].x, line.path.points()[0].y, line.path.heading_at(0.0)}, 4.0);
    for (int k = 0; k < ticks; ++k) {
      if (k % 50 == 49) rig.set_pose(rig.pose() * Pose2{0.0, k % 100 == 49 ? 0.2 : -0.2, 0.0});
      const LawInput in = rig.input();
      const double before = bench::thread_cpu_s();
      const double wanted = law.steer(in);
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

/// CPU time in us of a tick of gap_follow on each of `inputs` scans, the least of `repeats`, sorted.
std::vector<double> gap_follow_us(int inputs, int repeats) {
  const CarParameters car = toy::car();
  auto made = make("gap_follow", Node{}, car, nullptr);
  (*made)->reset({});
  toy::Walls walls = toy::corridor(-20.0, 30.0, 2.2);
  toy::add_polyline(walls, {{8.0, -0.2}, {8.4, -0.2}, {8.4, 0.3}, {8.0, 0.3}}, true);
  toy::Inputs in;
  std::vector<double> each;
  for (int i = 0; i < inputs; ++i) {
    in.scan = toy::look(car, walls, {0.02 * i, 0.3 * math::sin(0.1 * i), 0.2 * math::cos(0.13 * i)}, 1081);
    double least = 1e9;
    for (int r = 0; r < repeats; ++r) {
      in.advance(from_milliseconds(25));
      in.odometry.speed_mps = 1.5;
      const Observation obs = in.observe();
      const double start = bench::thread_cpu_s();
      (*made)->update(obs);
      least = std::min(least, bench::thread_cpu_s() - start);
    }
    each.push_back(1e6 * least);
  }
  std::sort(each.begin(), each.end());
  return each;
}

void print(const char* name, double lap_m, const std::vector<double>& us) {
  std::printf("%-16s %8.0f %10.2f %10.2f %10.2f\n", name, lap_m, us[us.size() / 2], us[us.size() * 99 / 100], us.back());
}

}  // namespace

int main(int argc, char** argv) {
  const int inputs = argc > 1 ? std::max(10, std::atoi(argv[1])) : 1000;
  const int repeats = argc > 1 ? 3 : 20;
  Node kinematic = Node::map();
  kinematic.set("mpc_model", Node("kinematic"));
  std::printf("%-16s %8s %10s %10s %10s   us of CPU time per call, %d inputs, least of %d\n", "controller", "lap m", "p50", "p99", "max",
              inputs, repeats);
  for (const double length : {60.0, 1000.0}) {
    const RigLine line = lap(length);
    for (const std::string& law : steering_laws())
      print(law.c_str(), line.path.length_m(), law_us(law, Node::map(), line, inputs, repeats));
    print("mpc (kinematic)", line.path.length_m(), law_us("mpc", kinematic, line, inputs, repeats));
  }
  print("gap_follow", 0.0, gap_follow_us(inputs, repeats));
  return 0;
}
