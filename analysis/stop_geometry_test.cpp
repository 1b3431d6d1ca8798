// SPDX-License-Identifier: Apache-2.0
#include "analysis/stop_geometry.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "core/rng.hpp"

using namespace pitwall;
using namespace pitwall::analysis;

namespace {

constexpr BodyRectangle kBody{-0.1, 0.43, 0.14};

/// Moves the body along its arc in steps of 0.2 mm.
double slow_way(const BodyRectangle& body, double curvature, Vec2 point) {
  constexpr double kStep_m = 2e-4;
  const double most = std::abs(curvature) < 1e-6 ? 20.0 : math::kPi / std::abs(curvature);
  for (double s = 0.0; s <= most; s += kStep_m) {
    Pose2 at{s, 0.0, 0.0};
    if (std::abs(curvature) >= 1e-6) {
      const double turned = s * curvature;
      at = {math::sin(turned) / curvature, (1.0 - math::cos(turned)) / curvature, turned};
    }
    const Vec2 seen = inverse(at) * point;
    if (seen.x >= body.rear_m && seen.x <= body.front_m && std::abs(seen.y) <= body.half_width_m) return s;
  }
  return INFINITY;
}

}  // namespace

TEST_CASE("straight ahead the way is the distance from the front edge") {
  CHECK(way_until_contact(kBody, 0.0, {2.0, 0.1}) == doctest::Approx(1.57));
  CHECK(std::isinf(way_until_contact(kBody, 0.0, {2.0, 0.15})));
  CHECK(std::isinf(way_until_contact(kBody, 0.0, {-1.0, 0.0})));
  CHECK(way_until_contact(kBody, 0.0, {0.2, 0.1}) == 0.0);
}

TEST_CASE("on an arc the way is that of a body moved along it step by step, and mirrored it is the same") {
  const Rng draw(3, "points");
  int met = 0;
  int grazed = 0;
  for (std::uint64_t k = 0; k < 60; ++k) {
    const double curvature = 2.4 * draw.uniform(k, 0) - 1.2;
    // Beside the way of the rear axle, a little more often in the way of the body than not.
    const double along = 2.5 * draw.uniform(k, 1);
    const double beside = 0.5 * draw.uniform(k, 2) - 0.25;
    const double turned = along * curvature;
    const Pose2 at{math::sin(turned) / curvature, (1.0 - math::cos(turned)) / curvature, turned};
    const Vec2 point = at * Vec2{0.3, beside};
    const double way = way_until_contact(kBody, curvature, point);
    const double slow = slow_way(kBody, curvature, point);
    CAPTURE(curvature);
    CAPTURE(point.x);
    CAPTURE(point.y);
    CAPTURE(way);
    CAPTURE(slow);
    // A corner that is grazed is within a step of being missed.
    grazed += std::isinf(way) != std::isinf(slow) ? 1 : 0;
    if (std::isinf(way) || std::isinf(slow)) continue;
    CHECK(std::abs(way - slow) < 1e-3);
    CHECK(way_until_contact(kBody, -curvature, {point.x, -point.y}) == way);
    ++met;
  }
  CHECK(met > 8);
  CHECK(grazed <= 1);
}

TEST_CASE("what is met only after more than half a turn is not in the way") {
  const auto on_circle = [](double turned) { return Vec2{math::sin(turned), 1.0 - math::cos(turned)}; };
  CHECK(way_until_contact(kBody, 1.0, on_circle(1.1 * math::kPi)) < math::kPi);
  CHECK(std::isinf(way_until_contact(kBody, 1.0, on_circle(1.3 * math::kPi))));
}

TEST_CASE("an almost straight arc is as straight") {
  CHECK(way_until_contact(kBody, 2e-6, {3.0, 0.05}) == doctest::Approx(2.57).epsilon(1e-4));
  CHECK(offset_from_path(2e-6, {3.0, 0.05}) == doctest::Approx(0.05).epsilon(1e-3));
  CHECK(offset_from_path(0.0, {3.0, -0.05}) == 0.05);
  CHECK(offset_from_path(0.5, {2.0, 2.0}) == doctest::Approx(0.0).scale(1.0));
  CHECK(offset_from_path(-0.5, {2.0, -2.5}) == doctest::Approx(std::sqrt(4.25) - 2.0));
}

TEST_CASE("verdicts at their bounds") {
  CHECK(verdict_of(0.1, 1.5, 1.0) == Verdict::kFalseAlarm);
  CHECK(verdict_of(0.1, 1.49, 1.0) == Verdict::kMarginal);
  CHECK(verdict_of(-0.1, 9.0, 1.0) == Verdict::kMarginal);
  CHECK(verdict_of(0.1, 0.99, 1.0) == Verdict::kJustified);
  CHECK(verdict_of(0.1, INFINITY, 0.0) == Verdict::kFalseAlarm);
}

TEST_CASE("a stop beside a wall is a false alarm, before a wall it is justified") {
  CarParameters car;
  car.wheelbase_m = 0.33;
  car.width_m = 0.31;
  car.length_m = 0.58;
  car.body_width_m = 0.28;
  car.body_length_m = 0.53;
  car.lidar_x_m = 0.33;
  LaserScan scan;
  scan.angle_min = -1.0F;
  scan.angle_increment = 0.01F;
  scan.angle_max = 1.0F;
  scan.range_min = 0.05F;
  scan.range_max = 30.0F;
  scan.ranges.assign(201, 30.0F);
  scan.ranges[160] = 0.5F;  // 0.6 rad to the left: 0.28 m beside
  controllers::ScanView view(car);
  view.reset();
  REQUIRE(view.update(scan));
  const StopGeometry beside = judge_stop(view, car, 0.0, -2.0, 160, {3.0, 0.1});
  CHECK(beside.bearing_rad == doctest::Approx(0.6).epsilon(1e-3));
  CHECK(beside.path_offset_m == doctest::Approx(0.5 * std::sin(0.6)).epsilon(1e-3));
  CHECK(beside.outside_m == doctest::Approx(0.5 * std::sin(0.6) - 0.14).epsilon(1e-3));
  CHECK(beside.stopping_m == doctest::Approx(4.0 / 6.0 + 0.2));
  CHECK(beside.speed_mps == 2.0);
  CHECK(beside.clear_m > 20.0);
  CHECK(beside.verdict == Verdict::kFalseAlarm);

  scan.ranges[100] = 0.7F;
  REQUIRE(view.update(scan));
  const StopGeometry before = judge_stop(view, car, 0.0, 2.0, 100, {3.0, 0.1});
  // Front of the chassis: half the wheelbase plus half its length.
  CHECK(before.clear_m == doctest::Approx(0.33 + 0.7 - 0.165 - 0.265).epsilon(1e-3));
  CHECK(before.clear_padded_m == doctest::Approx(0.33 + 0.7 - 0.165 - 0.29).epsilon(1e-3));
  CHECK(before.clear_beam == 100);
  CHECK(before.verdict == Verdict::kJustified);
  CHECK(judge_stop(view, car, 0.0, 2.0, -1, {3.0, 0.1}).verdict == Verdict::kNone);
}
