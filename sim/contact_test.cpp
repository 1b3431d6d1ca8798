// SPDX-License-Identifier: Apache-2.0
#include "sim/contact.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/rng.hpp"
#include "sim/contact_approaches.hpp"
#include "sim/test_world.hpp"

using namespace pitwall;
using namespace pitwall::sim;
using namespace pitwall::sim::testing;

namespace {

constexpr BodyRectangle kChassis{-0.10, 0.43, 0.15};
constexpr Duration kStep = from_milliseconds(5);

std::optional<Touch> wall_touch(const tracks::OccupancyMap& map, const Pose2& from, const Pose2& to) {
  return first_wall_touch(kChassis, {from, to}, kStep, map, tracks::DistanceField(map));
}

}  // namespace

TEST_CASE("every approach to walls and thin posts touches in its sub-step as brute force says, none missed, none invented") {
  const auto tally = reference::run_approaches(600, 1);
  CHECK(tally.approaches == 600);
  CHECK(tally.touches > 120);
  CHECK(tally.passes > 120);
  CHECK(tally.missed == 0);
  CHECK(tally.invented == 0);
  CHECK(tally.wrong_time == 0);
}

TEST_CASE("a head-on hit has the time, point, normal and closing speed of the closed form") {
  const auto map = make_map(4.0, 2.0, 0.05, {{3.0, 0.0, 3.2, 2.0}});
  const double speed = 6.0;
  // The front is 12 mm from the wall and the step is 30 mm long.
  const Pose2 from{3.0 - 0.43 - 0.012, 1.0, 0.0};
  const auto touch = wall_touch(map, from, {from.x + speed * 0.005, 1.0, 0.0});
  REQUIRE(touch);
  CHECK(touch->u == doctest::Approx(0.012 / 0.030).epsilon(1e-4));
  CHECK(touch->point.x == doctest::Approx(3.0).epsilon(1e-6));
  CHECK(touch->point.y == doctest::Approx(1.0).epsilon(1e-6));
  CHECK(touch->normal.x == doctest::Approx(-1.0));
  CHECK(touch->normal.y == doctest::Approx(0.0));
  CHECK(touch->closing_speed_mps == doctest::Approx(speed));
}

TEST_CASE("a wall ahead by less than the step's way but more than nothing is touched, one just beyond it is not") {
  const auto map = make_map(4.0, 2.0, 0.05, {{3.0, 0.0, 3.2, 2.0}});
  for (const double gap : {0.0299, 0.0301}) {
    const Pose2 from{3.0 - 0.43 - gap, 1.0, 0.0};
    CHECK(wall_touch(map, from, {from.x + 0.03, 1.0, 0.0}).has_value() == (gap < 0.03));
  }
}

TEST_CASE("a post of one cell between the corners of the bumper is hit at its own place") {
  const auto map = make_map(4.0, 2.0, 0.02, {{3.0, 1.04, 3.02, 1.06}});
  const Pose2 from{3.0 - 0.43 - 0.01, 1.0, 0.0};
  const auto touch = wall_touch(map, from, {from.x + 0.05, 1.0, 0.0});
  REQUIRE(touch);
  CHECK(touch->point.y == doctest::Approx(1.05));
  CHECK(touch->normal.x == doctest::Approx(-1.0));
}

TEST_CASE("a post that flies through the whole car within one step is not missed") {
  const auto map = make_map(4.0, 2.0, 0.02, {{2.0, 1.0, 2.02, 1.02}});
  const auto touch = wall_touch(map, {1.0, 1.0, 0.0}, {3.0, 1.0, 0.0});
  REQUIRE(touch);
  CHECK(touch->u == doctest::Approx((2.0 - 1.43) / 2.0).epsilon(1e-5));
}

TEST_CASE("what lies at the very end of a long step is not lost by the broad phase, along nor across") {
  const auto map = make_map(8.0, 3.0, 0.02, {{4.0, 0.0, 4.02, 3.0}});
  const auto ahead = wall_touch(map, {0.6, 1.5, 0.0}, {0.6 + 3.0, 1.5, 0.0});
  REQUIRE(ahead);
  CHECK(ahead->u == doctest::Approx((4.0 - 1.03) / 3.0).epsilon(1e-5));
  const auto across = wall_touch(map, {0.8, 1.5, 0.5 * math::kPi}, {0.8 + 3.1, 1.5, 0.5 * math::kPi});
  REQUIRE(across);
  CHECK(across->u == doctest::Approx((4.0 - 0.95) / 3.1).epsilon(1e-5));
}

TEST_CASE("a turning car sweeps a post with its tail although both end poses are clear") {
  // The post lies on the circle of the rear corner, passed in the middle of the turn.
  const double radius = std::hypot(0.10, 0.15);
  const double corner = math::atan2(-0.15, -0.10);
  const double at = corner + 0.2;
  const auto map = make_map(4.0, 4.0, 0.02,
                            {{2.0 + (radius - 0.004) * math::cos(at) - 0.02, 2.0 + (radius - 0.004) * math::sin(at) - 0.02,
                              2.0 + (radius - 0.004) * math::cos(at), 2.0 + (radius - 0.004) * math::sin(at)}});
  const Pose2 from{2.0, 2.0, 0.0};
  const Pose2 to{2.0, 2.0, 0.4};
  REQUIRE_FALSE(overlaps(kChassis, from, map));
  const auto touch = wall_touch(map, from, to);
  REQUIRE(touch);
  CHECK(touch->u > 0.0);
  CHECK(touch->u < 1.0);
}

TEST_CASE("yaw turns the short way across pi") {
  const Pose2 middle = pose_at({{0, 0, math::kPi - 0.1}, {0, 0, -math::kPi + 0.3}}, 0.5);
  CHECK(std::abs(wrap_angle(middle.yaw - (math::kPi + 0.1))) < 1e-12);
}

TEST_CASE("a car that stands in a wall, or scrapes along it, touches in every step") {
  const auto map = make_map(4.0, 2.0, 0.05, {{0.0, 0.0, 4.0, 0.5}});
  for (int k = 0; k < 100; ++k) {
    const auto standing = wall_touch(map, {2.0, 0.6, 0.0}, {2.0, 0.6, 0.0});
    REQUIRE(standing);
    CHECK(standing->u == 0.0);
    CHECK(standing->closing_speed_mps == 0.0);
    const double x = 0.5 + 0.02 * k;
    const auto scraping = wall_touch(map, {x, 0.5 + 0.149, 0.0}, {x + 0.02, 0.5 + 0.149, 0.0});
    REQUIRE(scraping);
    CHECK(scraping->u == 0.0);
    CHECK(scraping->normal.y > 0.999);
  }
  CHECK_FALSE(wall_touch(map, {2.0, 0.5 + 0.151, 0.0}, {2.05, 0.5 + 0.151, 0.0}));
}

TEST_CASE("on a wall made of cells an oblique corner gets the wall's normal, wherever along the cells it lands") {
  const auto map = make_map(4.0, 2.0, 0.05, {{0.0, 0.0, 4.0, 0.5}});
  for (int k = 0; k < 50; ++k) {
    const double x = 1.5 + 0.0137 * k;
    const auto touch = wall_touch(map, {x, 0.95, -0.9}, {x + 0.03, 0.85, -0.9});
    REQUIRE(touch);
    CHECK(touch->normal.x == doctest::Approx(0.0));
    CHECK(touch->normal.y == doctest::Approx(1.0));
    CHECK(touch->point.y == doctest::Approx(0.5).epsilon(1e-5));
    CHECK(touch->closing_speed_mps == doctest::Approx(0.1 / 0.005));
  }
}

TEST_CASE("a corner deep in a wall of small cells is still pushed out by the wall's face") {
  const auto map = make_map(4.0, 2.0, 0.01, {{0.0, 0.0, 4.0, 0.5}});
  for (int k = 0; k < 20; ++k) {
    const Pose2 pose{1.5 + 0.0037 * k, 0.5 + 0.43 * std::sin(0.9) + 0.15 * std::cos(0.9) - 0.03, -0.9};
    const auto touch = wall_touch(map, pose, pose);
    REQUIRE(touch);
    CHECK(touch->normal.y > 0.975);
  }
  // Wholly inside there is no side; the answer is still a unit vector.
  const auto buried = wall_touch(make_map(4.0, 2.0, 0.05, {{0.0, 0.0, 4.0, 2.0}}), {2.0, 1.0, 0.3}, {2.0, 1.0, 0.3});
  REQUIRE(buried);
  CHECK(norm(buried->normal) == doctest::Approx(1.0));
}

TEST_CASE("turning the map and the car together turns the answer and nothing else") {
  const std::vector<Block> blocks{{3.0, 0.6, 3.02, 0.62}, {1.0, 1.5, 3.9, 1.6}};
  const auto straight = make_map(4.0, 2.0, 0.02, blocks);
  const Pose2 turned{-7.0, 3.0, 2.1};
  const auto map = make_map(4.0, 2.0, 0.02, blocks, turned);
  const tracks::DistanceField straight_distance(straight);
  const tracks::DistanceField distance_field(map);
  const Rng rng(3, "poses");
  int touches = 0;
  for (std::uint64_t k = 0; k < 300; ++k) {
    const Pose2 from{0.5 + 3.0 * rng.uniform(k, 0), 0.3 + 1.4 * rng.uniform(k, 1), 6.0 * rng.uniform(k, 2)};
    const Pose2 to{from.x + 0.2 * rng.uniform(k, 3), from.y - 0.1 + 0.2 * rng.uniform(k, 4), from.yaw + 0.1};
    const auto a = first_wall_touch(kChassis, {from, to}, kStep, straight, straight_distance);
    const auto b = first_wall_touch(kChassis, {turned * from, turned * to}, kStep, map, distance_field);
    REQUIRE(a.has_value() == b.has_value());
    if (!a) continue;
    ++touches;
    CHECK(a->u == doctest::Approx(b->u).epsilon(1e-4));
    CHECK(distance(turned * a->point, b->point) < 1e-3);
    CHECK(distance(rotate(turned.yaw, a->normal), b->normal) < 1e-3);
    CHECK(a->closing_speed_mps == doctest::Approx(b->closing_speed_mps).epsilon(1e-3));
  }
  CHECK(touches > 30);
}

TEST_CASE("two cars that meet head-on touch at the time of the closed form, seen from both sides") {
  const Motion a{{0.0, 0.0, 0.0}, {0.02, 0.0, 0.0}};
  const Motion b{{0.86 + 0.03, 0.05, math::kPi}, {0.86 + 0.03 - 0.04, 0.05, math::kPi}};
  const auto touch = first_car_touch(kChassis, a, kChassis, b, kStep);
  REQUIRE(touch);
  CHECK(touch->u == doctest::Approx(0.5).epsilon(1e-4));
  CHECK(touch->closing_speed_mps == doctest::Approx(12.0));
  CHECK(touch->normal.x == doctest::Approx(-1.0));
  CHECK(touch->point.x == doctest::Approx(0.43 + 0.01).epsilon(1e-4));
  CHECK(touch->point.y == doctest::Approx(0.025));
  const auto other = first_car_touch(kChassis, b, kChassis, a, kStep);
  REQUIRE(other);
  CHECK(other->u == doctest::Approx(touch->u));
  CHECK(other->normal.x == doctest::Approx(1.0));
  CHECK(other->closing_speed_mps == doctest::Approx(12.0));
}

TEST_CASE("cars that swap places within one step have met, cars that move alike have not") {
  const Motion there{{0.0, 0.0, 0.0}, {3.0, 0.0, 0.0}};
  const Motion back{{3.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
  CHECK(first_car_touch(kChassis, there, kChassis, back, kStep).has_value());
  const Motion ahead{{0.54, 0.0, 0.0}, {3.54, 0.0, 0.0}};
  CHECK_FALSE(first_car_touch(kChassis, there, kChassis, ahead, kStep).has_value());
}

TEST_CASE("random car pairs touch in their sub-step as brute force says") {
  const Rng rng(11, "pairs");
  int touches = 0;
  for (std::uint64_t k = 0; k < 250; ++k) {
    const auto pick = [&](std::uint32_t lane, double low, double high) { return low + (high - low) * rng.uniform(k, lane); };
    const Pose2 a0{0.0, 0.0, pick(0, -3, 3)};
    const Pose2 b0{pick(1, -0.7, 0.7), pick(2, -0.7, 0.7), pick(3, -3, 3)};
    if (overlaps(kChassis, a0, kChassis, b0)) continue;
    const Motion a{a0, {pick(4, -0.25, 0.25), pick(5, -0.25, 0.25), a0.yaw + pick(6, -0.1, 0.1)}};
    const Motion b{b0, {b0.x + pick(7, -0.25, 0.25), b0.y + pick(8, -0.25, 0.25), b0.yaw + pick(9, -0.1, 0.1)}};
    const auto touch = first_car_touch(kChassis, a, kChassis, b, kStep);
    double first = 2.0;
    double first_deep = 2.0;
    for (int part = 512; part >= 0; --part) {
      const double u = part / 512.0;
      const auto pa = reference::chassis_polygon(kChassis, pose_at(a, u), 0.0);
      const auto pb = reference::chassis_polygon(kChassis, pose_at(b, u), 0.0);
      if (reference::polygons_overlap(pa, pb)) first = u;
      if (reference::polygons_overlap(reference::chassis_polygon(kChassis, pose_at(a, u), -1e-4), pb)) first_deep = u;
    }
    if (touch) {
      ++touches;
      CHECK(touch->u <= first + 1e-9);
      CHECK(touch->u <= first_deep);
      // Either the next picture shows it, or it was a graze that was over by then.
      const auto grown = reference::chassis_polygon(kChassis, pose_at(a, touch->u), 1e-7);
      CHECK(reference::polygons_overlap(grown, reference::chassis_polygon(kChassis, pose_at(b, touch->u), 1e-7)));
    } else {
      CHECK(first_deep > 1.0);
    }
  }
  CHECK(touches > 20);
}

TEST_CASE("the first corner across the map's edge is an exit, a wall nowhere near") {
  for (const Pose2 origin : {Pose2{}, Pose2{5.0, -2.0, 0.7}}) {
    const auto map = make_map(4.0, 2.0, 0.05, {}, origin);
    const Motion out{origin * Pose2{3.55, 1.0, 0.0}, origin * Pose2{3.59, 1.0, 0.0}};
    const auto exit = first_exit(kChassis, out, kStep, map);
    REQUIRE(exit);
    CHECK(exit->u == doctest::Approx(0.5).epsilon(1e-3));
    CHECK(exit->closing_speed_mps == doctest::Approx(8.0).epsilon(1e-6));
    CHECK(dot(exit->normal, unit_vector(origin.yaw)) == doctest::Approx(-1.0));
    CHECK_FALSE(first_wall_touch(kChassis, out, kStep, map, tracks::DistanceField(map)));
    CHECK(inside(kChassis, out.from, map));
    CHECK_FALSE(inside(kChassis, out.to, map));
    const Pose2 far = origin * Pose2{9.0, 1.0, 0.0};
    CHECK(first_exit(kChassis, {far, far}, kStep, map)->u == 0.0);
  }
}

TEST_CASE("an unknown cell is a wall for the chassis as it is for rays") {
  std::vector<std::int8_t> values(40 * 20, 0);
  values[10 * 40 + 30] = tracks::OccupancyMap::kUnknown;
  const auto map = tracks::OccupancyMap::make(40, 20, 0.1, {}, values).value();
  CHECK(overlaps(kChassis, {2.7, 1.05, 0.0}, map));
  CHECK_FALSE(overlaps(kChassis, {2.5, 1.05, 0.0}, map));
}
