// SPDX-License-Identifier: Apache-2.0
// controllers_bench: what one answer of each steering law and one tick of gap_follow cost, as p99 over inputs of the least thread CPU
// time of 20 repeats of each input; on a short and on a long line, since neither may depend on the length of the lap.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/support.hpp"
#include "controllers/make.hpp"
#include "plant/plant.hpp"
#include "plant/steady_turn.hpp"
#include "tests/support/law_bench.hpp"
#include "tests/support/toy_world.hpp"

namespace {

using namespace pitwall;

constexpr int kRepeats = 20;

double p99(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() * 99 / 100];
}

/// A rounded course of about this length, with points every 0.2 m.
std::vector<Vec2> course(double length_m) {
  std::vector<Vec2> points;
  const double radius = length_m / (2.0 * math::kPi);
  const int count = static_cast<int>(length_m / 0.2);
  for (int i = 0; i < count; ++i) {
    const double at = 2.0 * math::kPi * i / count;
    points.push_back((radius + 0.05 * radius * math::sin(5.0 * at)) * unit_vector(at));
  }
  return points;
}

CarParameters bench_car() {
  CarParameters car = toy::car();
  car.cog_front_fraction = 0.48, car.surface_friction = 1.0, car.cornering_stiffness_front = 4.7, car.cornering_stiffness_rear = 5.5;
  car.steering_delay_s = 0.05, car.relaxation_length_m = 0.05, car.longitudinal_grip_coupling = 1.0;
  return car;
}

/// p99 of one answer of a law in microseconds.
double law_us(const std::string& law, double length_m, int inputs, int inner) {
  const CarParameters car = bench_car();
  toy::LawBench bench(course(length_m), true, car, 40.0, 4.0);
  const auto plant = plant::Plant::make(car, plant::Options::of(plant::Fidelity::kPlant), car.surface_friction);
  SteeringTable table;
  if (plant) table = plant::steering_table(plant->slip_model(), 5.0);
  bench.setup.table = &table;
  auto made = controllers::make_law(law, Node{}, bench.setup);
  if (!made) {
    std::fprintf(stderr, "%s: %s\n", law.c_str(), made.error().message.c_str());
    return -1.0;
  }
  controllers::SteeringLaw& steers = **made;
  const std::vector<controllers::QueuedSteering> queue{{Time{}, Time{} + from_seconds(0.02), 0.05},
                                                       {Time{}, Time{} + from_seconds(0.045), 0.06}};
  std::vector<double> each;
  double sum = 0.0;
  for (int i = 0; i < inputs; ++i) {
    const double s = bench.path.length_m() * i / inputs;
    const Vec2 p = bench.path.from_frenet({s, 0.1 * math::sin(0.7 * i)});
    controllers::LawInput in = bench.at({p.x, p.y, bench.path.heading_at(s) + 0.05 * math::cos(1.3 * i)}, 1.0 + 0.03 * (i % 100));
    in.queued = queue;
    double least = 1e9;
    for (int r = 0; r < kRepeats; ++r) {
      const double start = bench::thread_cpu_s();
      for (int k = 0; k < inner; ++k) sum += steers.steer(in);
      least = std::min(least, (bench::thread_cpu_s() - start) / inner);
    }
    each.push_back(1e6 * least);
  }
  if (sum == 12345.678) std::puts("");
  return p99(each);
}

double gap_follow_us(int inputs) {
  const CarParameters car = toy::car();
  auto made = controllers::make("gap_follow", Node{}, car, nullptr);
  (*made)->reset({});
  toy::Walls walls = toy::corridor(-20.0, 30.0, 2.2);
  toy::add_polyline(walls, {{8.0, -0.2}, {8.4, -0.2}, {8.4, 0.3}, {8.0, 0.3}}, true);
  toy::Inputs in;
  std::vector<double> each;
  for (int i = 0; i < inputs; ++i) {
    in.scan = toy::look(car, walls, {0.02 * i, 0.3 * math::sin(0.1 * i), 0.2 * math::cos(0.13 * i)}, 1081);
    double least = 1e9;
    for (int r = 0; r < kRepeats; ++r) {
      in.advance(from_milliseconds(25));
      in.odometry.speed_mps = 1.5;
      const Observation obs = in.observe();
      const double start = bench::thread_cpu_s();
      (*made)->update(obs);
      least = std::min(least, bench::thread_cpu_s() - start);
    }
    each.push_back(1e6 * least);
  }
  return p99(each);
}

}  // namespace

/// controllers_bench [--quick]
int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::string(argv[1]) == "--quick";
  const int inputs = quick ? 20 : 500;
  std::printf("thread CPU time per call, p99 over %d inputs, us\n", inputs);
  for (const std::string& law : controllers::steering_laws()) {
    // The clock itself costs about as much as a law: quick ones are timed ten at a time.
    const int inner = law == "mpc" ? 1 : 10;
    std::printf("%-14s lap of 50 m %8.2f   lap of 500 m %8.2f\n", law.c_str(), law_us(law, 50.0, inputs, inner),
                law_us(law, 500.0, inputs, inner));
  }
  std::printf("%-14s 1081 beams  %8.2f\n", "gap_follow", gap_follow_us(inputs));
  return 0;
}
