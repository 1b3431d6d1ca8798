// SPDX-License-Identifier: Apache-2.0
#include "core/geometry.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/messages.hpp"
#include "core/rng.hpp"

using namespace pitwall;

namespace {

Pose2 random_pose(const Rng& rng, std::uint64_t i) {
  return {20.0 * rng.uniform(i, 0) - 10.0, 20.0 * rng.uniform(i, 1) - 10.0, wrap_angle(8.0 * rng.uniform(i, 2))};
}

}  // namespace

TEST_CASE("left is positive: y left of x, perpendicular turns left") {
  CHECK(cross({1.0, 0.0}, {0.0, 1.0}) == 1.0);
  CHECK(perpendicular({1.0, 0.0}) == Vec2{0.0, 1.0});
  CHECK(dot({1.0, 2.0}, {3.0, 4.0}) == 11.0);
  CHECK(norm({3.0, -4.0}) == 5.0);
  CHECK(distance({1.0, 1.0}, {4.0, 5.0}) == 5.0);
  CHECK(unit_vector(0.0) == Vec2{1.0, 0.0});
}

TEST_CASE("a pose takes points of its frame to the outer frame") {
  const Pose2 T_map_base{2.0, 3.0, 0.5 * math::kPi};
  const Vec2 p_map = T_map_base * Vec2{1.0, 0.0};
  CHECK(p_map.x == doctest::Approx(2.0));
  CHECK(p_map.y == doctest::Approx(4.0));
}

TEST_CASE("composition agrees with applying one after the other, and the inverse undoes it") {
  const Rng rng(1, "geometry_test");
  for (std::uint64_t i = 0; i < 200; ++i) {
    const Pose2 a = random_pose(rng, 2 * i);
    const Pose2 b = random_pose(rng, 2 * i + 1);
    const Vec2 p{rng.uniform(i, 3), rng.uniform(i, 4)};
    CHECK(distance((a * b) * p, a * (b * p)) < 1e-13);
    const Pose2 identity = a * inverse(a);
    CHECK(norm(identity.position()) < 1e-13);
    CHECK(std::fabs(identity.yaw) < 1e-15);
  }
}

TEST_CASE("angles wrap into (-pi, pi]") {
  CHECK(wrap_angle(math::kPi) == math::kPi);
  CHECK(wrap_angle(-math::kPi) == math::kPi);
  CHECK(wrap_angle(3.0 * math::kPi) == doctest::Approx(math::kPi));
  CHECK(wrap_angle(-0.5) == -0.5);
  CHECK(wrap_angle(7.0) == doctest::Approx(7.0 - 2.0 * math::kPi));
  CHECK(wrap_angle(-7.0) == -wrap_angle(7.0));
  for (double x = -50.0; x < 50.0; x += 0.37) {
    const double w = wrap_angle(x);
    CHECK(w > -math::kPi);
    CHECK(w <= math::kPi);
    CHECK(std::fabs(math::sin(w) - math::sin(x)) < 1e-14);
    CHECK(std::fabs(math::cos(w) - math::cos(x)) < 1e-14);
  }
}

TEST_CASE("yaw survives the quaternion") {
  for (double yaw = -3.14; yaw <= 3.14; yaw += 0.01) {
    CHECK(std::fabs(yaw_of(to_quaternion(yaw)) - yaw) < 1e-15 * 4);
  }
  CHECK(yaw_of({1.0, 0.0}) == doctest::Approx(math::kPi));
  // q and -q are one rotation.
  CHECK(yaw_of({-math::sin(0.2), -math::cos(0.2)}) == yaw_of({math::sin(0.2), math::cos(0.2)}));
}
