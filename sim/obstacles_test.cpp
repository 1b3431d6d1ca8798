// SPDX-License-Identifier: Apache-2.0
#include "sim/obstacles.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "sim/moments.hpp"
#include "sim/test_world.hpp"

using namespace pitwall;
using namespace pitwall::sim;
using namespace pitwall::sim::testing;

namespace {

Surroundings with(const Obstacle& obstacle) {
  Surroundings surroundings;
  surroundings.obstacles.push_back(obstacle);
  return surroundings;
}

}  // namespace

TEST_CASE("an obstacle goes to and fro along its own axis, for ever, from its phase on") {
  Obstacle o{.name = "o", .T_map_centre = {1.0, 2.0, 0.5 * math::kPi}, .speed_mps = 2.0, .travel_m = 3.0, .phase_m = 1.0};
  CHECK(o.at({}).y == doctest::Approx(3.0));
  CHECK(o.at(Time{1'000'000'000}).y == doctest::Approx(5.0));
  CHECK(o.at(Time{2'000'000'000}).y == doctest::Approx(3.0));
  CHECK(o.at(Time{2'500'000'000}).y == doctest::Approx(2.0));
  CHECK(o.at(Time{3'000'000'000}).y == doctest::Approx(3.0));
  CHECK(o.at(Time{1'000'000'000}).x == doctest::Approx(1.0));
  o.speed_mps = 0.0;
  CHECK(o.at(Time{9'000'000'000}) == o.T_map_centre);
}

TEST_CASE("an obstacle is where the scan sees it, on a map that is not square, with and without a sweep") {
  for (const bool sweep : {false, true}) {
    CarSetup car = setup("car0", {2.0, 1.5, 0.0}, nullptr, false);
    car.sensors.lidar.sweep = sweep;
    auto world = World::make(room(16, 3), {}, cars(std::move(car)),
                             with({.name = "box", .T_map_centre = {6.0, 1.5, 0.0}, .length_m = 0.4, .width_m = 0.2}));
    REQUIRE(world);
    run(*world, 0.025);
    CHECK(world->true_ranges(0)[540] == doctest::Approx(5.8 - 2.27));
    CHECK(world->true_ranges(0)[540 + 20] > 5.0);  // 5 degrees to the left it is missed
    CHECK(world->true_ranges(0)[540 - 4] == doctest::Approx((5.8 - 2.27) / std::cos(math::kPi / 180.0)));
  }
}

TEST_CASE("contact with an obstacle has the time of the closed form and its name, scanner or no scanner") {
  for (const bool lidar : {false, true}) {
    CarSetup car = setup("car0", {2.0, 1.5, 0.0}, nullptr, false);
    car.parameters.rolling_resistance = 0.0;
    car.sensors.lidar.enabled = lidar;
    car.start_speed_mps = 2.0;
    // It comes towards the car at 1 m/s.
    auto world =
        World::make(room(16, 3), {}, cars(std::move(car)),
                    with({.name = "cart", .T_map_centre = {8.0, 1.5, math::kPi}, .length_m = 0.5, .speed_mps = 1.0, .travel_m = 5.0}));
    REQUIRE(world);
    run(*world, 3.0);
    REQUIRE(world->contacts().size() == 1);
    const ContactEvent& event = world->contacts().front();
    CHECK(event.partner == kFirstObstacle);
    CHECK(world->partner_name(event.partner) == "cart");
    const double gap = 7.75 - (2.0 + test_car().chassis().front_m);
    CHECK(event.time.seconds() == within(gap / 3.0, 1e-3));
    CHECK(event.closing_speed_mps == within(3.0, 1e-3));
    CHECK(world->car(0).contact);
  }
}

TEST_CASE("policy respond: a car bounces off a post and does not pass it") {
  WorldSettings settings;
  settings.on_contact = ContactPolicy::kRespond;
  CarSetup car = setup("car0", {2.0, 1.5, 0.0}, steady(0.0, 2.0), false);
  auto world = World::make(room(16, 3), settings, cars(std::move(car)),
                           with({.name = "post", .T_map_centre = {5.0, 1.5, 0.0}, .length_m = 0.1, .width_m = 0.1}));
  REQUIRE(world);
  run(*world, 4.0);
  CHECK(world->car(0).contact);
  CHECK(world->car(0).T_map_base.x + test_car().chassis().front_m < 5.05);
}

TEST_CASE("many obstacles cost no contact, no allocation, and a car in one at the start is refused") {
  Surroundings crowd;
  for (int k = 0; k < 40; ++k)
    crowd.obstacles.push_back({.name = "post", .T_map_centre = {4.0 + 0.3 * k, 0.6, 0.1 * k}, .length_m = 0.05, .width_m = 0.05});
  CarSetup car = setup("car0", {2.0, 1.8, 0.0}, steady(0.0, 2.0));
  auto world = World::make(room(20, 3), {}, cars(std::move(car)), crowd);
  REQUIRE(world);
  run(*world, 2.0);
  CHECK(world->contacts().empty());
  const auto inside =
      World::make(room(20, 3), {}, cars(setup("car0", {2.0, 1.8, 0.0}, nullptr)), with({.name = "box", .T_map_centre = {2.2, 1.8, 0.0}}));
  REQUIRE_FALSE(inside.ok());
  CHECK(inside.error().message.find("obstacle 'box'") != std::string::npos);
  const auto wrong = World::make(room(20, 3), {}, cars(setup("car0", {2.0, 1.8, 0.0}, nullptr)),
                                 with({.name = "box", .T_map_centre = {9, 1, 0}, .speed_mps = 1.0}));
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().message.find("travel_m") != std::string::npos);
}
