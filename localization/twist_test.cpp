// SPDX-License-Identifier: Apache-2.0
#include "localization/twist.hpp"

#include <doctest/doctest.h>

#include <initializer_list>

using namespace pitwall;
using namespace pitwall::localization;

TEST_CASE("a quarter of a circle is driven along its arc") {
  // 2 m/s at 0.5 rad/s is a radius of 4 m.
  const Pose2 T = travelled({2.0, 0.0, 0.5}, math::kPi);
  CHECK(T.x == doctest::Approx(4.0));
  CHECK(T.y == doctest::Approx(4.0));
  CHECK(T.yaw == doctest::Approx(0.5 * math::kPi));
  const Pose2 back = travelled({-2.0, 0.0, -0.5}, math::kPi);
  CHECK(norm((T * back).position()) < 1e-12);
}

TEST_CASE("two halves of the way make the whole, and the velocity of a way drives it") {
  for (const double yaw_rate : {0.0, 1e-7, 1e-3, -0.7, 6.0}) {
    const Twist v{1.3, -0.4, yaw_rate};
    const Pose2 whole = travelled(v, 0.4);
    const Pose2 halves = travelled(v, 0.2) * travelled(v, 0.2);
    CHECK(halves.x == doctest::Approx(whole.x).epsilon(1e-12));
    CHECK(halves.y == doctest::Approx(whole.y).epsilon(1e-12));
    const Twist again = velocity_of(whole, 0.4);
    CHECK(again.x_mps == doctest::Approx(v.x_mps).epsilon(1e-10));
    CHECK(again.y_mps == doctest::Approx(v.y_mps).epsilon(1e-10));
    CHECK(again.yaw_radps == doctest::Approx(v.yaw_radps).epsilon(1e-10));
  }
}

TEST_CASE("the velocity at a mount is that of its poses") {
  const Pose2 mount{0.33, -0.1, 0.4};
  const Twist base{2.0, 0.3, -1.5};
  const Twist sensor = at_frame(base, mount);
  const double dt = 1e-6;
  const Pose2 moved = inverse(mount) * travelled(base, dt) * mount;
  const Twist by_poses = velocity_of(moved, dt);
  CHECK(sensor.x_mps == doctest::Approx(by_poses.x_mps).epsilon(1e-5));
  CHECK(sensor.y_mps == doctest::Approx(by_poses.y_mps).epsilon(1e-5));
  CHECK(sensor.yaw_radps == doctest::Approx(-1.5));
  const Twist there_and_back = at_frame(sensor, inverse(mount));
  CHECK(there_and_back.x_mps == doctest::Approx(base.x_mps));
  CHECK(there_and_back.y_mps == doctest::Approx(base.y_mps));
}
