// SPDX-License-Identifier: Apache-2.0
#include "analysis/holds.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace pitwall;
using namespace pitwall::analysis;

namespace {

/// A joystick that speaks every 50 ms; pressed in the given stretches.
JoySeries joy_of(double until_s, const std::vector<std::pair<double, double>>& pressed) {
  JoySeries joy;
  for (int k = 0; k * 0.05 < until_s - 1e-9; ++k) {
    const double t = k * 0.05;
    bool down = false;
    for (const auto& [from, to] : pressed) down = down || (t >= from - 1e-9 && t < to - 1e-9);
    joy.arrival_s.push_back(t);
    joy.pressed.push_back(down ? 1.0 : 0.0);
  }
  return joy;
}

}  // namespace

TEST_CASE("a hold lasts from the first pressed message to the first that is not") {
  const auto holds = find_holds(joy_of(10.0, {{1.0, 4.0}, {6.0, 8.0}}), 10.0);
  REQUIRE(holds.size() == 2);
  CHECK(holds[0].begin_s == doctest::Approx(1.0));
  CHECK(holds[0].end_s == doctest::Approx(4.0));
  CHECK(holds[1].seconds() == doctest::Approx(2.0));
  CHECK(holds[0].holds(4.0));
  CHECK_FALSE(holds[0].holds(4.01));
}

TEST_CASE("gaps below 0.2 s are bridged, holds below 1 s are listed and not analysed") {
  const auto holds = find_holds(joy_of(10.0, {{1.0, 2.0}, {2.15, 3.0}, {5.0, 5.5}, {5.7, 6.9}}), 10.0);
  REQUIRE(holds.size() == 3);
  CHECK(holds[0].end_s == doctest::Approx(3.0));
  CHECK_FALSE(holds[0].too_short);
  CHECK(holds[1].too_short);
  CHECK(holds[2].begin_s == doctest::Approx(5.7));
}

TEST_CASE("a joystick that falls silent holds for half a second more") {
  JoySeries joy = joy_of(3.0, {{1.0, 3.0}});
  const auto holds = find_holds(joy, 10.0);
  REQUIRE(holds.size() == 1);
  CHECK(holds[0].end_s == doctest::Approx(2.95 + 0.5));
  // A message without such a button is as one that is not pressed.
  for (double& pressed : joy.pressed) pressed = -1.0;
  CHECK(find_holds(joy, 10.0).empty());
  CHECK(find_holds({}, 10.0).empty());
}
