// SPDX-License-Identifier: Apache-2.0
#include "controllers/line_follower.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/pursuit_loop.hpp"

using namespace pitwall;
using namespace pitwall::controllers;
using namespace pitwall::toy;

TEST_CASE("the scripted opponent keeps its commanded speed, brakes for what stands on its line, and steers around nothing") {
  const toy::StraightTrack track;
  const CarParameters car = toy::car();
  LineFollower follower({}, car, track.line);
  follower.reset({});
  Loop loop({4.0, 0.0, 0.0});
  double top = 0.0;
  for (int k = 0; k < 600; ++k) {
    loop.in.scan = track.look(car, loop.body.pose, {toy::centred_at(car, 20.0, 0.1)});
    loop.tick(follower);
    top = std::max(top, loop.body.speed_mps);
    CHECK(std::abs(loop.body.pose.y) < 0.02);
  }
  CHECK(top == doctest::Approx(2.0).epsilon(0.01));
  CHECK(loop.body.speed_mps < 0.02);
  const double gap = 20.0 - 0.5 * car.body_length_m - (loop.body.pose.x + car.padded_body().front_m);
  CHECK(gap > 0.2);
  CHECK(gap < 0.7);
}

TEST_CASE("the scripted opponent is not stopped by what stands beside its line") {
  const toy::StraightTrack track;
  const CarParameters car = toy::car();
  LineFollower follower({}, car, track.line);
  follower.reset({});
  Loop loop({4.0, 0.0, 0.0});
  for (int k = 0; k < 480; ++k) {
    loop.in.scan = track.look(car, loop.body.pose, {toy::centred_at(car, 20.0, 0.6)});
    loop.tick(follower);
  }
  CHECK(loop.body.pose.x > 24.0);
}
