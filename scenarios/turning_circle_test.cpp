// SPDX-License-Identifier: Apache-2.0
#include "scenarios/turning_circle.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace pitwall;
using namespace pitwall::scenarios;

namespace {

/// A rectangle with rounded corners: straights of 6 m and of `side` m.
tracks::Line rectangle(double radius, double side, double width) {
  std::vector<Vec2> points;
  const Vec2 corners[] = {{6.0, 0.0}, {6.0, side}, {0.0, side}, {0.0, 0.0}};
  for (int k = 0; k < 4; ++k) {
    const double from = 0.5 * math::kPi * (k - 1);
    for (int i = 0; i < 30; ++i) points.push_back(corners[k] + radius * unit_vector(from + 0.5 * math::kPi * i / 30));
    const Vec2 end = corners[k] + radius * unit_vector(from + 0.5 * math::kPi);
    const Vec2 next = corners[(k + 1) % 4] + radius * unit_vector(from + 0.5 * math::kPi);
    for (int i = 0; i < 30; ++i) points.push_back(end + (i / 30.0) * (next - end));
  }
  tracks::Line line{tracks::Path::make(std::move(points), true).value(), {}, {}, {}, {}, {}, {}};
  line.width_left_m = line.width_right_m = std::vector<double>(line.path.size(), 0.5 * width);
  return line;
}

/// Two straights and two half circles.
tracks::Line stadium(double radius, double width) {
  std::vector<Vec2> points;
  for (int i = 0; i < 60; ++i) points.push_back({0.1 * i, -radius});
  for (int i = 0; i < 60; ++i) points.push_back(Vec2{6.0, 0.0} + radius * unit_vector(-0.5 * math::kPi + math::kPi * i / 60));
  for (int i = 0; i < 60; ++i) points.push_back({6.0 - 0.1 * i, radius});
  for (int i = 0; i < 60; ++i) points.push_back(radius * unit_vector(0.5 * math::kPi + math::kPi * i / 60));
  tracks::Line line{tracks::Path::make(std::move(points), true).value(), {}, {}, {}, {}, {}, {}};
  line.width_left_m = line.width_right_m = std::vector<double>(line.path.size(), 0.5 * width);
  return line;
}

CarParameters car(double lock) {
  CarParameters c;
  c.wheelbase_m = 0.36;
  c.width_m = 0.31;
  c.steering_max_left_rad = lock;
  c.steering_max_right_rad = -lock;
  return c;
}

}  // namespace

TEST_CASE("a half circle fits up to its radius and the free half width, and not beyond") {
  // Turning circle 0.36 / tan(0.26) = 1.353 m; free half width w / 2 - 0.155 - 0.05.
  CHECK_FALSE(turning_circle_refusal(stadium(1.1, 1.4), car(0.26)));
  CHECK_FALSE(turning_circle_refusal(stadium(0.95, 1.4), car(0.26)));
  const auto refused = turning_circle_refusal(stadium(0.75, 1.4), car(0.26));
  REQUIRE(refused);
  CHECK(refused->find("1.353") != std::string::npos);
  CHECK_FALSE(turning_circle_refusal(stadium(0.75, 1.4), car(0.4189)));
}

TEST_CASE("two quarter turns with a short way between them are half a turn") {
  // Legs 3 + 2.2 m apart, free half width 0.495 m: 3.095 m of arc; 0.36 / tan(0.1) = 3.59 m, 0.36 / tan(0.12) = 2.99 m.
  const auto refused = turning_circle_refusal(rectangle(1.1, 3.0, 1.4), car(0.1));
  REQUIRE(refused);
  CHECK(refused->find("half turn") != std::string::npos);
  CHECK_FALSE(turning_circle_refusal(rectangle(1.1, 3.0, 1.4), car(0.12)));
  CHECK_FALSE(turning_circle_refusal(rectangle(1.1, 5.0, 1.4), car(0.1)));
}

TEST_CASE("a corridor narrower than the car with its margin is refused in its corners") {
  CHECK(turning_circle_refusal(stadium(1.2, 0.40), car(0.26)));
  CHECK_FALSE(turning_circle_refusal(stadium(3.0, 0.60), car(0.26)));
}
