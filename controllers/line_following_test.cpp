// SPDX-License-Identifier: Apache-2.0
#include "controllers/line_following.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace pitwall;
using namespace pitwall::controllers;

namespace {

tracks::Path path_of(std::vector<Vec2> points, bool closed) { return tracks::Path::make(std::move(points), closed).value(); }

// Along +x, half a turn to the left, and back 0.6 m beside it.
tracks::Path hairpin_legs() {
  std::vector<Vec2> points;
  for (double x = 0.0; x < 9.95; x += 0.1) points.push_back({x, 0.0});
  for (int k = 0; k <= 10; ++k) points.push_back(Vec2{10.0, 0.3} + 0.3 * unit_vector(math::kPi * (0.1 * k - 0.5)));
  for (double x = 9.9; x > 0.0; x -= 0.1) points.push_back({x, 0.6});
  return path_of(points, false);
}

tracks::Path straight_line(double length, double spacing) {
  std::vector<Vec2> points;
  const int n = static_cast<int>(std::lround(length / spacing));
  for (int i = 0; i <= n; ++i) points.push_back({i * spacing, 0.0});
  return path_of(std::move(points), false);
}

tracks::Path circle(double radius, int n, bool clockwise = false) {
  std::vector<Vec2> points;
  for (int i = 0; i < n; ++i) points.push_back(radius * unit_vector((clockwise ? -1.0 : 1.0) * 2.0 * math::kPi * i / n));
  return path_of(std::move(points), true);
}

/// A track-like closed curve without corners: wiggles of a circle.
std::vector<Vec2> wiggle(double spacing) {
  const auto at = [](double a) { return (8.0 + 1.2 * math::sin(3.0 * a)) * unit_vector(a); };
  std::vector<Vec2> points{at(0.0)};
  for (double a = 1e-3; a < 2.0 * math::kPi; a += 1e-3) {
    if (distance(points.back(), at(a)) >= spacing && distance(points.front(), at(a)) >= 0.5 * spacing) points.push_back(at(a));
  }
  return points;
}

double steer(const tracks::Path& path, const Pose2& pose, double lookahead, double wheelbase = 0.33) {
  const tracks::Projection q = path.project(pose.position());
  const Target target = lookahead_target(path, pose.position(), q.s_m, lookahead, LineShift{});
  return steering_for(pursuit_curvature(pose, target.point), wheelbase);
}

/// Kinematic car without delays that follows a path by the law alone.
struct FollowingLoop {
  const tracks::Path& path;
  Pose2 pose;
  Lookahead lookahead{};
  double wheelbase = 0.33;
  double lock = 0.41;
  double s = 0.0;
  double lateral = 0.0;
  double heading_error = 0.0;
  double steering = 0.0;

  void step(double v, double dt) {
    const tracks::Projection q = path.project_near(pose.position(), s, 1.0, 1.0);
    s = q.s_m;
    lateral = q.lateral_m;
    heading_error = wrap_angle(pose.yaw - q.heading_rad);
    const Target target = lookahead_target(path, pose.position(), s, lookahead.distance_m(v, lateral), LineShift{});
    steering = std::clamp(steering_for(pursuit_curvature(pose, target.point), wheelbase), -lock, lock);
    const double turned = v * math::tan(steering) / wheelbase * dt;
    const Vec2 p = pose.position() + (v * dt) * unit_vector(pose.yaw + 0.5 * turned);
    pose = {p.x, p.y, wrap_angle(pose.yaw + turned)};
  }
};

}  // namespace

TEST_CASE("on a circle of radius R the steering is atan(L / R), for three wheelbases and both directions") {
  for (const double wheelbase : {0.25, 0.33, 0.50}) {
    for (const bool clockwise : {false, true}) {
      const double radius = 3.0;
      const tracks::Path path = circle(radius, 2000, clockwise);
      const Pose2 pose{radius, 0.0, clockwise ? -0.5 * math::kPi : 0.5 * math::kPi};
      const double expected = (clockwise ? -1.0 : 1.0) * math::atan(wheelbase / radius);
      for (const double lookahead : {0.6, 1.0, 1.5}) CHECK(std::abs(steer(path, pose, lookahead, wheelbase) - expected) < 1e-3);
    }
  }
}

TEST_CASE("on a straight_line line the steering is 2 L y / Ld^2 of the chord") {
  const tracks::Path path = straight_line(20.0, 0.5);
  CHECK(std::abs(steer(path, {5.0, 0.0, 0.0}, 1.0)) < 1e-12);
  const double y = 0.3;
  const double expected = math::atan(0.33 * 2.0 * -y / (1.2 * 1.2));
  CHECK(std::abs(steer(path, {5.0, y, 0.0}, 1.2) - expected) < 1e-12);
}

TEST_CASE("a target to the left steers left in all four quadrants and both driving directions") {
  for (int k = 0; k < 4; ++k) {
    const double yaw = wrap_angle(math::kPi / 4.0 + 0.5 * math::kPi * k);
    const Vec2 forward = unit_vector(yaw);
    const Vec2 left{-forward.y, forward.x};
    const Pose2 pose{3.0, -2.0, yaw};
    CHECK(pursuit_curvature(pose, pose.position() + forward + 0.2 * left) > 0.1);
    CHECK(pursuit_curvature(pose, pose.position() + forward - 0.2 * left) < -0.1);
  }
}

TEST_CASE("a mirrored path and pose give the negated steering to 1e-9") {
  std::vector<Vec2> mirrored = wiggle(0.2);
  for (Vec2& p : mirrored) p.y = -p.y;
  const tracks::Path path = path_of(wiggle(0.2), true);
  const tracks::Path mirror = path_of(mirrored, true);
  for (double s = 0.3; s < path.length_m(); s += 1.7) {
    const Vec2 p = path.point_at(s) + Vec2{0.1, 0.05};
    const double yaw = path.heading_at(s) + 0.1;
    CHECK(std::abs(steer(path, {p.x, p.y, yaw}, 0.9) + steer(mirror, {p.x, -p.y, -yaw}, 0.9)) < 1e-9);
  }
}

TEST_CASE("the spacing of the vertices hardly matters: 1 m and 0.05 m steer within 0.01 rad of each other") {
  // The coarse polyline is the fine one's subset of a circle: what differs is the sagitta of its chords.
  const double radius = 8.0;
  const tracks::Path coarse = circle(radius, 50);
  const tracks::Path fine = circle(radius, 1000);
  for (double a = 0.0; a < 1.0; a += 0.013) {
    const Vec2 p = radius * unit_vector(a);
    const Pose2 pose{p.x, p.y, a + 0.5 * math::kPi};
    CHECK(std::abs(steer(coarse, pose, 1.2) - steer(fine, pose, 1.2)) < 0.01);
  }
}

TEST_CASE("the steering is continuous along the path: the target does not snap to vertices") {
  const tracks::Path path = path_of(wiggle(1.0), true);
  double previous = steer(path, {path.point_at(0.0).x, path.point_at(0.0).y, path.heading_at(0.0)}, 1.2);
  for (double s = 0.002; s < path.length_m(); s += 0.002) {
    const Vec2 p = path.point_at(s);
    const double now = steer(path, {p.x, p.y, path.heading_at(s)}, 1.2);
    CHECK(std::abs(now - previous) < 0.005);
    previous = now;
  }
}

TEST_CASE("the target lies on the lookahead circle, ahead, on the line") {
  const tracks::Path path = path_of(wiggle(0.3), true);
  for (double s = 0.0; s < path.length_m(); s += 0.37) {
    const Vec2 p = path.point_at(s) + Vec2{0.2, -0.1};
    const tracks::Projection q = path.project(p);
    const Target target = lookahead_target(path, p, q.s_m, 1.1, LineShift{});
    CHECK(std::abs(distance(p, target.point) - 1.1) < 1e-9);
    CHECK(std::abs(path.project(target.point).lateral_m) < 1e-9);
    CHECK(path.s_difference(target.s_m, q.s_m) > 0.0);
    CHECK(path.s_difference(target.s_m, q.s_m) < 1.6);
  }
}

TEST_CASE("a shifted line is aimed at where it is shifted to") {
  const tracks::Path path = straight_line(20.0, 1.0);
  const Target target = lookahead_target(path, {5.0, 0.4}, 5.0, 1.0, {[](const void*, double) { return 0.4; }, nullptr});
  CHECK(std::abs(target.point.y - 0.4) < 1e-9);
  CHECK(std::abs(target.point.x - 6.0) < 1e-9);
}

TEST_CASE("vertices 3 m apart with a lookahead of 0.8 m still drive") {
  const tracks::Path path = path_of({{0, 0}, {3, 0}, {6, 0}, {9, 0.5}, {12, 0}, {15, 0}}, false);
  FollowingLoop loop{path, {0.5, 0.2, 0.0}};
  loop.lookahead = {0.0, 0.8, 0.8, 0.0};
  for (int i = 0; i < 500; ++i) {
    loop.step(1.0, 0.025);
    CHECK(std::abs(loop.lateral) < 0.25);
  }
  CHECK(loop.s > 12.0);
}

TEST_CASE("beyond the end of an open path its last segment goes on") {
  const tracks::Path path = straight_line(5.0, 1.0);
  const Target target = lookahead_target(path, {4.8, 0.0}, 4.8, 1.0, LineShift{});
  CHECK(std::abs(target.point.x - 5.8) < 1e-9);
  CHECK(std::abs(target.point.y) < 1e-9);
}

TEST_CASE("a hairpin inside the lookahead circle gives a target on it, not beyond it") {
  // Legs 0.6 m apart: with a lookahead of 1.5 m the line leaves the circle only a long way down the other leg.
  std::vector<Vec2> points;
  for (double x = 0.0; x < 0.45; x += 0.1) points.push_back({x, 0.0});
  for (int k = 0; k <= 10; ++k) points.push_back(Vec2{0.5, 0.3} + 0.3 * unit_vector(math::kPi * (0.1 * k - 0.5)));
  for (double x = 0.4; x > -6.0; x -= 0.1) points.push_back({x, 0.6});
  const tracks::Path path = path_of(points, false);
  const Target target = lookahead_target(path, {0.3, 0.0}, 0.3, 1.5, LineShift{});
  CHECK(target.s_m - 0.3 <= 2.6);
  CHECK(target.point.y > 0.3);
}

TEST_CASE("the lookahead grows with speed within its bounds, and never below what a delay or an offset demands") {
  const Lookahead l{0.15, 0.6, 1.5, 0.0};
  CHECK(l.distance_m(0.0, 0.0) == doctest::Approx(0.6));
  CHECK(l.distance_m(2.0, 0.0) == doctest::Approx(0.9));
  CHECK(l.distance_m(-2.0, 0.0) == doctest::Approx(0.9));
  CHECK(l.distance_m(10.0, 0.0) == doctest::Approx(1.5));
  CHECK(l.distance_m(0.0, 1.5) == doctest::Approx(1.5 * std::sqrt(2.0)));
  CHECK(Lookahead{0.15, 0.6, 1.5, 0.2}.distance_m(5.0, 0.0) == doctest::Approx(5.0 * 0.2 / 0.52));
}

TEST_CASE("started 1.5 m off the line, the car meets it at less than 60 degrees and overshoots by less than a fifth") {
  const tracks::Path path = straight_line(40.0, 0.5);
  for (const double side : {1.0, -1.0}) {
    for (const double v : {1.0, 2.0, 4.0}) {
      FollowingLoop loop{path, {1.0, 1.5 * side, 0.0}};
      loop.lookahead.delay_s = 0.08;
      double overshoot = 0.0;
      for (int i = 0; i < static_cast<int>(30.0 / v / 0.025); ++i) {
        loop.step(v, 0.025);
        CHECK(std::abs(loop.heading_error) < math::kPi / 3.0);
        overshoot = std::max(overshoot, -side * loop.lateral);
      }
      CHECK(overshoot < 0.3);
      CHECK(std::abs(loop.lateral) < 0.02);
    }
  }
}

TEST_CASE("a hairpin of 1.5 m radius is cut by less than 0.15 m") {
  std::vector<Vec2> points;
  for (double x = 0.0; x < 9.95; x += 0.1) points.push_back({x, 0.0});
  for (int k = 0; k <= 40; ++k) points.push_back(Vec2{10.0, 1.5} + 1.5 * unit_vector(math::kPi * (k / 40.0 - 0.5)));
  for (double x = 9.9; x > 0.0; x -= 0.1) points.push_back({x, 3.0});
  const tracks::Path path = path_of(points, false);
  FollowingLoop loop{path, {0.5, 0.0, 0.0}};
  loop.lookahead.delay_s = 0.08;
  double worst = 0.0;
  for (int i = 0; i < 430; ++i) {
    loop.step(1.9, 0.025);
    worst = std::max(worst, std::abs(loop.lateral));
  }
  CHECK(loop.s > 18.0);
  CHECK(worst < 0.15);
  CHECK(worst > 0.005);
}

TEST_CASE("recovers from 0.8 m off the line and 30 degrees off its heading, on either side") {
  const tracks::Path path = straight_line(40.0, 0.5);
  for (const double d : {-0.8, 0.8}) {
    for (const double psi : {-math::kPi / 6.0, math::kPi / 6.0}) {
      FollowingLoop loop{path, {1.0, d, psi}};
      for (int i = 0; i < 400; ++i) {
        loop.step(2.0, 0.025);
        CHECK(std::abs(loop.lateral) < 1.1);
      }
      CHECK(std::abs(loop.lateral) < 0.02);
    }
  }
}

TEST_CASE("on a figure eight progress goes on through the crossing and never changes branch") {
  std::vector<Vec2> points;
  for (int i = 0; i < 400; ++i) {
    const double a = 2.0 * math::kPi * i / 400.0;
    points.push_back({6.0 * math::sin(a), 3.0 * math::sin(2.0 * a)});
  }
  const tracks::Path path = path_of(points, true);
  LineTracker tracker;
  double s = 0.3;
  std::optional<double> last;
  for (double driven = 0.0; driven < path.length_m(); driven += 0.07) {
    const Vec2 p = path.point_at(s + driven) + Vec2{0.05, -0.03};
    const auto fix = tracker.locate(path, {p.x, p.y, path.heading_at(s + driven)}, 0.07);
    REQUIRE(fix);
    CHECK(std::abs(path.s_difference(fix->on_line.s_m, s + driven)) < 0.15);
    if (last) CHECK(path.s_difference(fix->on_line.s_m, *last) > -0.02);
    last = fix->on_line.s_m;
  }
}

TEST_CASE("between parallel legs 0.6 m apart the place stays on its own leg, even nearer to the other one") {
  const tracks::Path path = hairpin_legs();
  LineTracker tracker;
  for (double x = 0.0; x < 9.6; x += 0.05) {
    // From 2 m on the car is 0.4 m off its leg, 0.2 m from the other.
    const auto fix = tracker.locate(path, {x, std::min(0.4, 0.2 * x), 0.0}, 0.05);
    REQUIRE(fix);
    CHECK(fix->on_line.s_m == doctest::Approx(x).epsilon(0.02));
  }
}

TEST_CASE("released on parallel legs, the tracker finds the leg that runs with the car") {
  const tracks::Path path = hairpin_legs();
  LineTracker tracker;
  const auto with = tracker.locate(path, {5.0, 0.4, 0.0}, 0.0);
  REQUIRE(with);
  CHECK(with->on_line.s_m == doctest::Approx(5.0));
  tracker.release();
  const auto against = tracker.locate(path, {5.0, 0.2, math::kPi}, 0.0);
  REQUIRE(against);
  CHECK(against->on_line.s_m > 14.0);
}

TEST_CASE("a pause at 80 % of a lap does not send progress back") {
  const tracks::Path path = path_of(wiggle(0.2), true);
  LineTracker tracker;
  const double s = 0.8 * path.length_m();
  for (int i = 0; i < 400; ++i) {
    // Standing, with a pose that trembles by 2 cm.
    const Vec2 p = path.point_at(s + 0.02 * ((i % 3) - 1));
    const auto fix = tracker.locate(path, {p.x, p.y, path.heading_at(s)}, 0.0);
    REQUIRE(fix);
    CHECK(std::abs(path.s_difference(fix->on_line.s_m, s)) < 0.1);
  }
  const Vec2 p = path.point_at(s + 0.1);
  CHECK(path.s_difference(tracker.locate(path, {p.x, p.y, path.heading_at(s)}, 0.1)->on_line.s_m, s) > 0.0);
}

TEST_CASE("farther off than max_cross_track the whole line is searched, and a far car or a reversed one is off the line") {
  const tracks::Path path = path_of(wiggle(0.2), true);
  LineTracker tracker;
  const auto at = [&](double s, double d, double turned) {
    const double yaw = path.heading_at(s);
    const Vec2 p = path.point_at(s) + d * Vec2{-math::sin(yaw), math::cos(yaw)};
    return tracker.locate(path, {p.x, p.y, wrap_angle(yaw + turned)}, 0.05);
  };
  REQUIRE(at(1.0, 0.0, 0.0));
  const auto relocalised = at(20.0, 0.1, 0.0);
  REQUIRE(relocalised);
  CHECK(relocalised->on_line.s_m == doctest::Approx(20.0).epsilon(0.02));
  CHECK_FALSE(at(20.0, 1.2, 0.0));
  CHECK_FALSE(at(20.0, -1.2, 0.0));
  CHECK_FALSE(at(20.0, 0.0, math::kPi));
  CHECK(at(20.0, 0.9, 0.0));
}

TEST_CASE("a car that is shifted on purpose is measured against the shifted line") {
  const tracks::Path path = straight_line(20.0, 0.5);
  LineTracker tracker;
  CHECK(tracker.locate(path, {5.0, 1.3, 0.0}, 0.0, 0.8));
  CHECK(tracker.locate(path, {5.05, 1.3, 0.0}, 0.05, 0.8));
  CHECK_FALSE(tracker.locate(path, {5.1, -0.7, 0.0}, 0.05, 0.8));
}

TEST_CASE("speed between vertices is that of constant acceleration, and the look ahead finds the slowest point") {
  const tracks::Path path = straight_line(4.0, 1.0);
  const std::vector<double> speed{4.0, 4.0, 2.0, 3.0, 0.0};
  CHECK(speed_at(path, speed, 1.5) == doctest::Approx(std::sqrt(10.0)));
  CHECK(speed_at(path, speed, 4.0) == doctest::Approx(0.0));
  CHECK(speed_ahead(path, speed, 0.0, 0.5) == doctest::Approx(4.0));
  CHECK(speed_ahead(path, speed, 0.0, 1.5) == doctest::Approx(std::sqrt(10.0)));
  CHECK(speed_ahead(path, speed, 1.2, 1.5) == doctest::Approx(2.0));
  CHECK(speed_ahead(path, speed, 2.5, 9.0) == doctest::Approx(0.0));
  // Over the seam of a closed path.
  const tracks::Path ring = circle(1.0, 6);
  const std::vector<double> round{1.0, 3.0, 3.0, 3.0, 3.0, 3.0};
  CHECK(speed_ahead(ring, round, 5.5, 1.0) == doctest::Approx(1.0));
}
