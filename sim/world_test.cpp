// SPDX-License-Identifier: Apache-2.0
#include "sim/world.hpp"

#include <doctest/doctest.h>

#include "sim/test_world.hpp"

using namespace pitwall;
using namespace pitwall::sim;
using namespace pitwall::sim::testing;

TEST_CASE("a car told to drive at a wall stops there with one event that says when and how fast") {
  auto world = World::make(room(8.0, 3.0), {}, cars(setup("car0", {1.0, 1.5, 0.0}, steady(0.0, 3.0))));
  REQUIRE(world);
  run(*world, 4.0);
  REQUIRE(world->contacts().size() == 1);
  const ContactEvent& event = world->contacts()[0];
  CHECK(event.partner == kWall);
  CHECK(event.point.x == doctest::Approx(7.75));
  CHECK(event.closing_speed_mps == doctest::Approx(3.0).epsilon(0.02));
  CHECK(world->car(0).contact);
  CHECK(world->car(0).stopped);
}
