// SPDX-License-Identifier: Apache-2.0
// A car that has stopped, for an hour and a half: a million steps.
#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>

#include "plant/plant.hpp"
#include "plant/test_car.hpp"

namespace pitwall::plant {

using namespace testing;

TEST_CASE("a stopped car does not move or ring for a million steps") {
  for (const double steering : {0.0, 0.4}) {
    for (const double integrator : {0.0, 2.0}) {
      CarParameters car = test_car();
      car.rolling_resistance = 0.015;
      car.speed_loop_integral_gain_per_s2 = integrator;
      Plant plant = make(car, {}, 0.6);
      plant.reset({}, 4.0);
      command(plant, steering, 0.0);
      Time now;
      while (norm(plant.base_velocity()) > 0.05) now = run(plant, now, 0.005);
      now = run(plant, now, 1.0);
      const Pose2 stopped = plant.base_pose();
      double fastest = 0.0;
      for (int i = 0; i < 1'000'000; ++i) {
        plant.step(now, kTick);
        now = now + kTick;
        fastest = std::max({fastest, std::abs(plant.body().vx), std::abs(plant.body().vy), std::abs(plant.yaw_rate_radps())});
      }
      CHECK(fastest < 1e-3);
      CHECK(distance(plant.base_pose().position(), stopped.position()) < 2e-3);
    }
  }
}

}  // namespace pitwall::plant
