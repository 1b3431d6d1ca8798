// SPDX-License-Identifier: Apache-2.0
// Golden traces: a stop from 4 m/s and a lane change at the limit, to the bit. When the physics is meant to change:
//   PITWALL_UPDATE_GOLDEN=1 pitwall_plant_test --source-file='*golden_test.cpp'
// writes them anew and prints what moved; the commit says why.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/files.hpp"
#include "core/text.hpp"
#include "plant/plant.hpp"
#include "plant/test_car.hpp"
#include "tests/support/source_dir.hpp"

namespace pitwall::plant {

using namespace testing;

namespace {

CarParameters golden_car() {
  CarParameters car = test_car();
  car.rolling_resistance = 0.02;
  car.drag_area_m2 = 0.03;
  car.steering_delay_s = 0.023;
  car.speed_delay_s = 0.041;
  return car;
}

std::string row(Time now, const Plant& plant) {
  const SlipState& s = plant.body();
  std::string text = format_number(now.seconds(), 6);
  for (const double v : {s.x, s.y, s.yaw, s.vx, s.vy, s.yaw_rate, s.steering, s.front_m, s.rear_m}) text += "," + format_exact(v);
  return text + "\n";
}

template <class CommandAt>
std::string trace(Plant plant, double seconds, const CommandAt& command_at) {
  std::string text = "t_s,x_m,y_m,yaw_rad,vx_mps,vy_mps,yaw_rate_radps,steering_rad,front_m,rear_m\n";
  Time now;
  for (int tick = 0; tick < static_cast<int>(seconds / 0.025 + 0.5); ++tick) {
    const auto [steering, speed] = command_at(0.025 * tick);
    command(plant, steering, speed, now);
    text += row(now, plant);
    now = run(plant, now, 0.025);
  }
  return text + row(now, plant);
}

/// Largest difference of each column, for people.
std::string what_moved(const std::string& before, const std::string& after) {
  const auto a = split(before, '\n');
  const auto b = split(after, '\n');
  if (a.size() != b.size()) return "other length";
  std::vector<double> most(10, 0.0);
  for (std::size_t i = 1; i < a.size(); ++i) {
    const auto x = split(a[i], ',');
    const auto y = split(b[i], ',');
    for (std::size_t k = 0; k < most.size() && k < x.size() && k < y.size(); ++k) {
      most[k] = std::max(most[k], std::abs(parse_double(x[k]).value_or(0.0) - parse_double(y[k]).value_or(0.0)));
    }
  }
  std::string text = "largest differences:";
  for (const double m : most) text += " " + format_number(m, 3);
  return text;
}

void compare(const std::string& name, const std::string& now) {
  const std::string file = source_dir().string() + "/plant/golden/" + name + ".csv";
  const auto golden = read_file(file);
  if (std::getenv("PITWALL_UPDATE_GOLDEN") != nullptr) {
    MESSAGE(name << ": " << (golden ? what_moved(*golden, now) : std::string("new")));
    REQUIRE(write_file(file, now).ok());
    return;
  }
  REQUIRE(golden);
  INFO(what_moved(*golden, now));
  CHECK(*golden == now);
}

}  // namespace

TEST_CASE("a stop from 4 m/s is the golden one to the bit") {
  Plant plant = make(golden_car(), {}, 0.7);
  plant.reset({1.0, 2.0, 0.5}, 4.0);
  compare("stop", trace(plant, 2.5, [](double t) { return std::pair{t < 0.3 ? 0.0 : 0.05, t < 0.1 ? 4.0 : 0.0}; }));
}

TEST_CASE("a lane change at the limit is the golden one to the bit") {
  Plant plant = make(golden_car(), {}, 0.7);
  plant.reset({0.0, 0.0, 0.0}, 4.0);
  const std::string now = trace(plant, 2.5, [](double t) {
    const double steering = t < 0.2 ? 0.0 : t < 0.6 ? 0.3 : t < 1.0 ? -0.3 : 0.0;
    return std::pair{steering, 4.0};
  });
  compare("lane_change", now);
}

}  // namespace pitwall::plant
