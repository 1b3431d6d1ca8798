// SPDX-License-Identifier: Apache-2.0
#include "controllers/stability.hpp"

#include <doctest/doctest.h>

#include <iostream>

#include "controllers/map_law.hpp"
#include "controllers/pure_pursuit.hpp"
#include "controllers/stanley.hpp"
#include "tests/support/toy_world.hpp"

using namespace pitwall;
using namespace pitwall::controllers;

TEST_CASE("print") {
  for (int which = 0; which < 3; ++which) {
    CarParameters car = toy::car();
    car.mass_kg = 3.74, car.yaw_inertia_kgm2 = 0.04712, car.cog_front_fraction = 0.48, car.cornering_stiffness_front = 4.718,
    car.cornering_stiffness_rear = 5.4562, car.surface_friction = 1.0489, car.steering_servo_gain_per_s = 25, car.steering_delay_s = 0.025;
    if (which == 1) car.steering_delay_s = 0.1, car.wheelbase_m = 0.36, car.surface_friction = 0.7;
    if (which == 2) car.steering_delay_s = 0.02, car.steering_servo_gain_per_s = 50;
    for (double rate : {25.0, 40.0, 50.0, 100.0}) {
      LawSetup setup;
      setup.car = car;
      setup.control_period_s = 1.0 / rate;
      const auto path = tracks::Path::make({{0, 0}, {50, 0}}, false).value();
      const std::vector<double> speeds{4.0, 4.0};
      LawLine line(path, speeds, {}, {});
      setup.line = &line;
      PurePursuitLaw pp({}, setup);
      StanleyLaw st({}, setup);
      StanleyParameters blind;
      blind.delay_aware = false;
      StanleyLaw sb(blind, setup);
      for (double v : {0.5, 1.0, 2.0, 4.0, 6.0, 8.0})
        std::cout << which << " " << rate << " Hz v " << v << " T " << setup.total_delay_s() << " pp "
                  << pp.delay_margin_s(v) / setup.total_delay_s() << " stanley " << st.delay_margin_s(v) / setup.total_delay_s()
                  << " blind " << sb.delay_margin_s(v) / setup.total_delay_s() << "\n";
    }
  }
}
