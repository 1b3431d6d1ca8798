// SPDX-License-Identifier: Apache-2.0
#include "scenarios/metrics.hpp"

#include <doctest/doctest.h>

using namespace pitwall;
using scenarios::PassCounter;

TEST_CASE("a pass is behind, then a metre ahead") {
  PassCounter passes(1);
  passes.update(0, -2.0);
  passes.update(0, 0.5);
  CHECK(passes.completed() == 0);
  passes.update(0, 0.999);
  CHECK(passes.completed() == 0);
  passes.update(0, 1.0);
  CHECK(passes.completed() == 1);
  passes.update(0, 5.0);
  CHECK(passes.completed() == 1);
}

TEST_CASE("a car that was never behind has passed nobody") {
  PassCounter passes(1);
  passes.update(0, 0.5);
  passes.update(0, 3.0);
  CHECK(passes.completed() == 0);
}

TEST_CASE("half a lap behind is half a lap ahead, and no pass; side by side for long is one at most") {
  PassCounter passes(1);
  for (const double lead : {-20.0, -20.8, 20.8, 20.0, 3.0}) passes.update(0, lead);
  CHECK(passes.completed() == 0);
  for (const double lead : {-0.5, 0.2, -0.1, 0.3, -0.2, 0.9, 1.1}) passes.update(0, lead);
  CHECK(passes.completed() == 1);
}

TEST_CASE("a car that is passed back must pass again") {
  PassCounter passes(1);
  for (const double lead : {-1.0, 2.0, -0.5, 1.5}) passes.update(0, lead);
  CHECK(passes.completed() == 2);
}

TEST_CASE("each other car is passed for itself") {
  PassCounter passes(2);
  passes.update(0, -1.0);
  passes.update(1, -1.0);
  passes.update(0, 2.0);
  CHECK(passes.completed() == 1);
  passes.update(1, 2.0);
  CHECK(passes.completed() == 2);
}

namespace {

/// A 4 m x 2 m room of 5 cm cells whose left column of cells is blocked.
tracks::Track room_with_left_wall() {
  constexpr int kWidth = 80;
  constexpr int kHeight = 40;
  std::vector<std::int8_t> values(static_cast<std::size_t>(kWidth) * kHeight, 0);
  for (std::size_t j = 0; j < kHeight; ++j) values[j * kWidth] = 100;
  auto made = tracks::OccupancyMap::make(kWidth, kHeight, 0.05, {0.0, 0.0, 0.0}, std::move(values));
  REQUIRE(made.ok());
  tracks::Track track;
  track.map = std::make_shared<const tracks::OccupancyMap>(*std::move(made));
  track.distance = std::make_shared<const tracks::DistanceField>(*track.map);
  return track;
}

}  // namespace

TEST_CASE("a post of one cell beside the middle of an edge counts in full") {
  std::vector<std::int8_t> values(80 * 40, 0);
  values[20 * 80 + 40] = 100;  // [2.00, 2.05] x [1.00, 1.05]
  auto made = tracks::OccupancyMap::make(80, 40, 0.05, {0.0, 0.0, 0.0}, std::move(values));
  REQUIRE(made.ok());
  tracks::Track track;
  track.map = std::make_shared<const tracks::OccupancyMap>(*std::move(made));
  track.distance = std::make_shared<const tracks::DistanceField>(*track.map);
  const BodyRectangle chassis{-0.3, 0.3, 0.15};
  for (const double x : {1.8, 1.87, 1.95, 2.025, 2.1, 2.17}) {
    CHECK(scenarios::chassis_clearance_m(chassis, {x, 0.8, 0.0}, track, 5.0) == doctest::Approx(0.05).epsilon(1e-3));
  }
}

TEST_CASE("the clearance of a chassis is the distance of its nearest edge from the wall") {
  const tracks::Track track = room_with_left_wall();
  const BodyRectangle chassis{-0.1, 0.4, 0.15};
  // Facing away from the wall (its face is at x = 0.05): the rear edge is 0.1 m behind base_link.
  CHECK(scenarios::chassis_clearance_m(chassis, {1.0, 1.0, 0.0}, track, 5.0) == doctest::Approx(0.85).epsilon(1e-9));
  // Facing it: the front edge is 0.4 m ahead.
  CHECK(scenarios::chassis_clearance_m(chassis, {1.0, 1.0, math::kPi}, track, 5.0) == doctest::Approx(0.55).epsilon(1e-9));
  // Along it: half the width.
  CHECK(scenarios::chassis_clearance_m(chassis, {1.0, 1.0, 0.5 * math::kPi}, track, 5.0) == doctest::Approx(0.80).epsilon(1e-9));
  // Askew: a corner is nearest.
  const double corner = 1.0 + 0.4 * math::cos(2.5) - 0.15 * math::sin(2.5);
  CHECK(scenarios::chassis_clearance_m(chassis, {1.0, 1.0, 2.5}, track, 5.0) == doctest::Approx(corner - 0.05).epsilon(1e-9));
  CHECK(scenarios::chassis_clearance_m(chassis, {1.0, 1.0, 0.0}, track, 0.5) == 0.5);
}
