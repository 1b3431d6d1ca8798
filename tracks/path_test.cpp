// SPDX-License-Identifier: Apache-2.0
#include "tracks/path.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "core/math.hpp"
#include "core/rng.hpp"
#include "tests/support/allocation_guard.hpp"

using namespace pitwall;
using namespace pitwall::tracks;

namespace {

Path make(std::vector<Vec2> points, bool closed) { return Path::make(std::move(points), closed).value(); }

Path circle(int n, double radius) {
  std::vector<Vec2> points;
  for (int i = 0; i < n; ++i) points.push_back(radius * unit_vector(2.0 * math::kPi * i / n));
  return make(std::move(points), true);
}

// A closed course with left and right bends of different sharpness, spaced unevenly.
Path wavy(int n = 400) {
  std::vector<Vec2> points;
  for (int i = 0; i < n; ++i) {
    const double a = 2.0 * math::kPi * (i + 0.3 * math::sin(1.0 * i)) / n;
    points.push_back((20.0 + 3.0 * math::cos(5.0 * a)) * unit_vector(a));
  }
  return make(std::move(points), true);
}

// Distance from p to every segment, written another way: the nearest of many points is bracketed, then the segment.
double brute_distance(const Path& path, Vec2 p) {
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < path.segments(); ++i) {
    const Vec2 a = path.points()[i];
    const Vec2 b = path.points()[(i + 1) % path.size()];
    const double t = std::min(1.0, std::max(0.0, dot(p - a, b - a) / dot(b - a, b - a)));
    best = std::min(best, distance(p, {a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)}));
  }
  return best;
}

}  // namespace

TEST_CASE("bad points are refused by number") {
  const auto message = [](std::vector<Vec2> points, bool closed) { return Path::make(std::move(points), closed).error().message; };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(message({{0, 0}, {1, nan}, {2, 0}}, true).find("point 2 of 3") != std::string::npos);
  CHECK(message({{0, 0}, {1, 0}, {1, 1e-7}, {0, 1}}, true).find("point 2 of 4") != std::string::npos);
  CHECK(message({{0, 0}, {1, 0}}, true).find("at least 3") != std::string::npos);
  CHECK(message({{0, 0}}, false).find("at least 2") != std::string::npos);
  CHECK(message({}, true).find("at least 3") != std::string::npos);
  CHECK_FALSE(Path::make({{0, 0}, {1e308, 0}, {-1e308, 1e308}}, true).ok());
}

TEST_CASE("a repeated first point at the end of a closed path is dropped, on an open one kept") {
  CHECK(make({{0, 0}, {1, 0}, {1, 1}, {0, 0}}, true).size() == 3);
  CHECK(make({{0, 0}, {1, 0}, {1, 1}, {0, 0}}, false).size() == 4);
}

TEST_CASE("the length of a square and of a polygon near a circle") {
  CHECK(make({{0, 0}, {2, 0}, {2, 2}, {0, 2}}, true).length_m() == doctest::Approx(8.0));
  CHECK(make({{0, 0}, {2, 0}, {2, 2}, {0, 2}}, false).length_m() == doctest::Approx(6.0));
  CHECK(circle(1000, 5.0).length_m() == doctest::Approx(2000 * 5.0 * math::sin(math::kPi / 1000)).epsilon(1e-12));
}

TEST_CASE("s wraps on a closed path and stays on an open one") {
  const Path closed = make({{0, 0}, {2, 0}, {2, 2}, {0, 2}}, true);
  CHECK(closed.wrap_s(8.0) == 0.0);
  CHECK(closed.wrap_s(-1.0) == doctest::Approx(7.0));
  CHECK(closed.wrap_s(17.5) == doctest::Approx(1.5));
  CHECK(closed.wrap_s(-1e-17) == 0.0);
  CHECK(closed.s_difference(0.5, 7.5) == doctest::Approx(1.0));
  CHECK(closed.s_difference(7.5, 0.5) == doctest::Approx(-1.0));
  CHECK(closed.s_difference(4.0, 0.0) == 4.0);
  CHECK(closed.s_difference(0.0, 4.0) == 4.0);
  const Path open = make({{0, 0}, {2, 0}, {2, 2}}, false);
  CHECK(open.wrap_s(-1.0) == 0.0);
  CHECK(open.wrap_s(9.0) == 4.0);
  CHECK(open.s_difference(0.0, 4.0) == -4.0);
}

TEST_CASE("segment_at and point_at agree with the vertices, on both sides of the seam") {
  const Path path = wavy();
  for (std::size_t i = 0; i < path.size(); ++i) {
    CHECK(path.segment_at(path.s_of(i)) == i);
    CHECK(path.point_at(path.s_of(i)) == path.points()[i]);
  }
  CHECK(path.segment_at(path.length_m() - 1e-9) == path.size() - 1);
  CHECK(distance(path.point_at(path.length_m() - 1e-9), path.points()[0]) < 2e-9);
  CHECK(path.segment_at(path.length_m()) == 0);
  const Path open = make({{0, 0}, {2, 0}, {2, 2}}, false);
  CHECK(open.segment_at(4.0) == 1);
  CHECK(open.point_at(4.0) == Vec2{2, 2});
  CHECK(open.point_at(99.0) == Vec2{2, 2});
}

TEST_CASE("a projection is the nearest point of the path, by brute force") {
  const Path path = wavy();
  const Rng rng(7, "path");
  for (std::uint64_t k = 0; k < 300; ++k) {
    const Vec2 p{60.0 * rng.uniform(k, 0) - 30.0, 60.0 * rng.uniform(k, 1) - 30.0};
    const Projection at = path.project(p);
    CHECK(std::fabs(at.lateral_m) == doctest::Approx(brute_distance(path, p)).epsilon(1e-12));
    CHECK(distance(at.foot, p) == std::fabs(at.lateral_m));
    CHECK(distance(at.foot, path.point_at(at.s_m)) < 1e-12);
    CHECK(at.segment == path.segment_at(at.s_m));
    CHECK(at.s_m >= 0.0);
    CHECK(at.s_m < path.length_m());
  }
}

TEST_CASE("lateral is positive to the left, negated by mirroring, turned over by reversing") {
  const Path path = wavy();
  std::vector<Vec2> mirrored_points;
  for (const Vec2 p : path.points()) mirrored_points.push_back({p.x, -p.y});
  std::vector<Vec2> reversed_points(path.points().rbegin(), path.points().rend());
  const Path mirrored = make(mirrored_points, true);
  const Path reversed = make(reversed_points, true);
  CHECK(path.project({0.0, 0.0}).lateral_m > 0.0);  // counter-clockwise: the inside is on the left
  CHECK(path.project({99.0, 0.0}).lateral_m < 0.0);
  const Rng rng(8, "path");
  for (std::uint64_t k = 0; k < 100; ++k) {
    const Vec2 p = (17.0 + 6.0 * rng.uniform(k, 0)) * unit_vector(6.28 * rng.uniform(k, 1));
    const double d = path.project(p).lateral_m;
    CHECK(mirrored.project({p.x, -p.y}).lateral_m == doctest::Approx(-d).epsilon(1e-12));
    CHECK(reversed.project(p).lateral_m == doctest::Approx(-d).epsilon(1e-12));
  }
}

TEST_CASE("outside a sharp corner the sign does not flicker between the segments") {
  const Path path = make({{0, 0}, {10, 0}, {0, 2}, {-5, 1}}, true);  // hairpin to the left at (10, 0)
  for (int k = -50; k <= 50; ++k) {
    const Vec2 p = Vec2{10, 0} + 0.5 * unit_vector(-0.1 + 0.015 * k);
    const Projection at = path.project(p);
    if (at.foot == Vec2{10, 0}) CHECK(at.lateral_m < 0.0);
  }
}

TEST_CASE("of two equally near legs the first is taken, every time") {
  const Path path = make({{0, 0}, {10, 0}, {10, 2}, {0, 2}}, true);
  CHECK(path.project({5, 1}).segment == 0);
  CHECK(path.project_near({5, 1}, 17.0, 4.0, 4.0).segment == 2);
  CHECK(path.project_near({5, 1}, 11.0, 11.0, 11.0).segment == 0);
}

TEST_CASE("the window moves with the hint over the seam, both ways") {
  const Path path = wavy();
  const double length = path.length_m();
  for (double s = -3.0; s < 3.0; s += 0.01) {
    const Vec2 p = path.from_frenet({s, 0.4});
    const Projection whole = path.project(p);
    for (const double error : {-0.8, 0.0, 0.8}) {
      const Projection near = path.project_near(p, s + error, 1.0, 1.0);
      CHECK(near.s_m == whole.s_m);
      CHECK(near.lateral_m == whole.lateral_m);
      CHECK(near.segment == whole.segment);
      CHECK(path.project_near(p, s + error + 3.0 * length, 1.0, 1.0).segment == whole.segment);
    }
  }
}

TEST_CASE("a window is a window: its ends hold the foot") {
  const Path path = make({{0, 0}, {10, 0}, {10, 10}, {0, 10}}, true);
  CHECK(path.project_near({9.0, 1.0}, 4.0, 1.0, 2.0).s_m == doctest::Approx(6.0));
  CHECK(path.project_near({1.0, 1.0}, 4.0, 1.0, 2.0).s_m == doctest::Approx(3.0));
  CHECK(path.project_near({1.0, 1.0}, 4.0, 0.0, 0.0).s_m == doctest::Approx(4.0));
  CHECK(path.project_near({1.0, 0.5}, 39.0, 1.0, 5.0).s_m == doctest::Approx(1.0));
  CHECK(path.project_near({1.0, 0.5}, 1.0, 5.0, 1.0).s_m == doctest::Approx(1.0));
  const Path open = make({{0, 0}, {10, 0}, {10, 10}}, false);
  CHECK(open.project_near({-3.0, 1.0}, 0.5, 2.0, 2.0).s_m == 0.0);
  CHECK(open.project_near({12.0, 14.0}, 19.5, 2.0, 2.0).s_m == 20.0);
}

TEST_CASE("between hairpin legs 0.6 m apart a tracked projection never jumps") {
  std::vector<Vec2> points;
  for (int k = 0; k <= 100; ++k) points.push_back({0.2 * k, 0.0});
  for (int k = 1; k < 8; ++k) points.push_back(Vec2{20.0, 0.3} + 0.3 * unit_vector(-math::kPi / 2.0 + math::kPi * k / 8.0));
  for (int k = 100; k >= 0; --k) points.push_back({0.2 * k, 0.6});
  for (int k = 1; k < 8; ++k) points.push_back(Vec2{0.0, 0.3} + 0.3 * unit_vector(math::kPi / 2.0 + math::kPi * k / 8.0));
  const Path path = make(points, true);
  // Drive the lower leg 0.5 m to its left: the upper leg is 0.1 m away all the way.
  double s = 1.0;
  for (double x = 1.0; x < 18.9; x += 0.04) {
    const Projection at = path.project_near({x, 0.5}, s, 0.5, 1.0);
    CHECK(at.s_m == doctest::Approx(x).epsilon(1e-9));
    CHECK(at.lateral_m == doctest::Approx(0.5));
    s = at.s_m;
  }
}

TEST_CASE("a figure of eight is followed through its crossing") {
  std::vector<Vec2> points;
  for (int k = 0; k < 300; ++k) {
    const double a = 2.0 * math::kPi * k / 300;
    points.push_back({10.0 * math::sin(a), 5.0 * math::sin(2.0 * a)});
  }
  const Path path = make(points, true);
  double s = 0.0;
  for (double truth = 0.0; truth < 2.0 * path.length_m(); truth += 0.1) {  // two laps: every index wraps
    const Projection at = path.project_near(path.from_frenet({truth, 0.2}), s, 0.5, 1.0);
    CHECK(std::fabs(path.s_difference(at.s_m, truth)) < 0.05);
    s = at.s_m;
  }
}

TEST_CASE("Frenet coordinates come back within 1e-9 m on the whole lap and the seam") {
  const Path path = wavy();
  for (double s = -2.0; s < path.length_m() + 2.0; s += 0.037) {
    for (const double d : {-1.1, -0.3, 0.0, 0.3, 1.1}) {
      const Vec2 p = path.from_frenet({s, d});
      const Frenet at = path.to_frenet(p, path.project(p));
      CHECK(std::fabs(path.s_difference(at.s_m, s)) < 1e-9);
      CHECK(std::fabs(at.d_m - d) < 1e-9);
      const Frenet tracked = path.to_frenet(p, path.project_near(p, s, 1.0, 1.0));
      CHECK(tracked.s_m == at.s_m);
      CHECK(distance(path.from_frenet(at), p) < 1e-9);
    }
  }
}

TEST_CASE("points beside the path come back from Frenet coordinates, also outside corners") {
  const Path path = circle(24, 5.0);  // 15 degrees a corner
  const Rng rng(9, "path");
  for (std::uint64_t k = 0; k < 500; ++k) {
    const Vec2 p = (3.0 + 4.0 * rng.uniform(k, 0)) * unit_vector(6.2832 * rng.uniform(k, 1));
    CHECK(distance(path.from_frenet(path.to_frenet(p, path.project(p))), p) < 1e-9);
  }
}

TEST_CASE("on the line itself projection is exact to 1e-9 m, seam included") {
  const Path path = wavy();
  for (double s = 0.0; s < path.length_m(); s += 0.0173) {
    const Projection at = path.project(path.point_at(s));
    CHECK(std::fabs(path.s_difference(at.s_m, s)) < 1e-9);
    CHECK(std::fabs(at.lateral_m) < 1e-12);
  }
}

TEST_CASE("curvature is that of the circle through three points, signed") {
  const Path path = circle(60, 4.0);
  for (std::size_t i = 0; i < path.size(); ++i) CHECK(path.vertex_curvature(i) == doctest::Approx(0.25).epsilon(1e-9));
  std::vector<Vec2> reversed(path.points().rbegin(), path.points().rend());
  CHECK(make(reversed, true).vertex_curvature(5) == doctest::Approx(-0.25).epsilon(1e-9));
  CHECK(path.curvature_at(7.77) == doctest::Approx(0.25).epsilon(1e-9));
  const Path open = make({{0, 0}, {1, 0}, {2, 0.5}}, false);
  CHECK(open.vertex_curvature(0) == 0.0);
  CHECK(open.vertex_curvature(2) == 0.0);
  CHECK(open.vertex_curvature(1) > 0.0);
}

TEST_CASE("a path that turns back on itself is not straight") {
  CHECK(std::fabs(make({{0, 0}, {1, 0}, {0.5, 0}, {0.5, 1}}, false).vertex_curvature(1)) > 3.0);
  CHECK(std::fabs(make({{0, 0}, {1, 0}, {0, 0}}, false).vertex_curvature(1)) > 3.0);
}

TEST_CASE("heading and curvature are continuous everywhere, seam and wrap included") {
  const Path path = wavy();
  const double step = 1e-4;
  for (double s = -1.0; s < path.length_m() + 1.0; s += 0.01) {
    CHECK(std::fabs(wrap_angle(path.heading_at(s + step) - path.heading_at(s))) < 2.0 * step);
    CHECK(std::fabs(path.curvature_at(s + step) - path.curvature_at(s)) < 20.0 * step);
  }
  for (std::size_t i = 0; i < path.size(); ++i) {
    CHECK(std::fabs(wrap_angle(path.heading_at(path.s_of(i) + 1e-9) - path.heading_at(path.s_of(i) - 1e-9))) < 1e-6);
  }
  const Path ring = circle(100, 3.0);
  for (double s = 0.0; s < ring.length_m(); s += 0.1) {
    const Vec2 p = ring.point_at(s);
    CHECK(std::fabs(wrap_angle(ring.heading_at(s) - math::atan2(p.y, p.x) - math::kPi / 2.0)) < 1e-3);
  }
}

TEST_CASE("projection and Frenet coordinates allocate nothing") {
  const Path path = wavy();
  const AllocationGuard guard;
  const Projection at = path.project_near({20.0, 3.0}, 3.0, 1.0, 5.0);
  const Frenet frenet = path.to_frenet({20.0, 3.0}, at);
  const Vec2 p = path.from_frenet(frenet);
  const std::size_t allocations = guard.count();
  CHECK(allocations == 0);
  CHECK(distance(p, {20.0, 3.0}) < 1e-9);
}

TEST_CASE("a position or hint that is not a number gives a projection that says so and reads nothing outside") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const bool closed : {true, false}) {
    const Path path = make({{0, 0}, {10, 0}, {10, 10}, {0, 10}}, closed);
    CHECK(std::isnan(path.project({nan, 1.0}).lateral_m));
    CHECK(std::isnan(path.project_near({nan, 1.0}, 3.0, 1.0, 1.0).lateral_m));
    CHECK(path.project_near({1.0, 1.0}, nan, 1.0, 1.0).segment < path.segments());
    CHECK(path.project_near({1.0, 1.0}, std::numeric_limits<double>::infinity(), 1.0, 1.0).segment < path.segments());
  }
}
