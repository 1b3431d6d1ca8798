// SPDX-License-Identifier: Apache-2.0
// Prints the trace hash of a world that is put together here, without a file: two cars of profile `car` on both tyre laws, with
// every sensor erring, one of them steered by gap_follow. tests/determinism.sh builds it for another processor and compares.
#include <cinttypes>
#include <cstdio>
#include <memory>

#include "controllers/make.hpp"
#include "sim/test_world.hpp"

namespace {

using namespace pitwall;

/// A ring of corridors about a block, 12 m x 8 m.
sim::Place ring() {
  return sim::testing::place_of(
      sim::testing::make_map(12.0, 8.0, 0.05, {{0, 0, 12, 0.3}, {0, 7.7, 12, 8}, {0, 0, 0.3, 8}, {11.7, 0, 12, 8}, {3, 3, 9, 5}}));
}

sim::CarSetup car(const char* name, const Pose2& start, std::unique_ptr<Controller> controller, plant::Tyre tyre) {
  sim::CarSetup setup = sim::testing::setup(name, start, std::move(controller));
  CarParameters& c = setup.parameters;
  c.rolling_resistance = 0.02;
  c.drag_area_m2 = 0.03;
  c.steering_gain = 0.95;
  c.speed_loop_integral_gain_per_s2 = 1.0;
  c.magic_front_b = 7.4;
  c.magic_front_c = 1.9;
  c.magic_front_d = 0.65;
  c.magic_front_e = 0.37;
  c.magic_rear_b = 20.0;
  c.magic_rear_c = 1.5;
  c.magic_rear_d = 0.62;
  setup.sensors = sim::SensorSettings::of(c, true);
  setup.plant.tyre = tyre;
  return setup;
}

}  // namespace

int main() {
  auto gap = controllers::make("gap_follow", Node::map(), sim::testing::test_car(), nullptr);
  if (!gap) {
    std::fprintf(stderr, "%s\n", gap.error().message.c_str());
    return 1;
  }
  // The second car is thrown about by a script: slides, stops, reverse.
  auto script = std::make_unique<sim::testing::Scripted>(
      [](const Observation& obs) {
        const double t = obs.now.seconds();
        return sim::testing::drive(0.35 * math::sin(2.0 * t), 2.5 * math::sin(0.7 * t));
      },
      from_milliseconds(20));
  sim::WorldSettings settings;
  settings.seed = 12345;
  settings.on_contact = sim::ContactPolicy::kRecord;
  auto world = sim::World::make(ring(), settings,
                                sim::testing::cars(car("ego", {2.0, 1.6, 0.0}, std::move(*gap), plant::Tyre::kBrush),
                                                   car("other", {6.0, 6.3, 3.1}, std::move(script), plant::Tyre::kMagicFormula)));
  if (!world) {
    std::fprintf(stderr, "%s\n", world.error().message.c_str());
    return 1;
  }
  for (int second = 0; second < 10; ++second) {
    sim::testing::run(*world, 1.0);
    std::printf("%2d s  %016" PRIx64 "\n", second + 1, world->trace_hash());
  }
  const auto& a = world->car(0);
  std::printf("ego at %.17g %.17g\n", a.T_map_base.x, a.T_map_base.y);
  return 0;
}
