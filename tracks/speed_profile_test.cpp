// SPDX-License-Identifier: Apache-2.0
#include "tracks/speed_profile.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "core/math.hpp"
#include "tests/support/test_data.hpp"
#include "tracks/track.hpp"

using namespace pitwall;
using namespace pitwall::tracks;

namespace {

Path path_of(std::vector<Vec2> points, bool closed) { return Path::make(std::move(points), closed).value(); }

// Corners of radius 0.7 .. 30 m, unevenly spaced.
std::vector<Vec2> course(int n = 600) {
  std::vector<Vec2> points;
  for (int i = 0; i < n; ++i) {
    const double a = 2.0 * math::kPi * (i + 0.2 * math::sin(0.7 * i)) / n;
    points.push_back((12.0 + 1.5 * math::cos(4.0 * a) + 1.1 * math::sin(7.0 * a)) * unit_vector(a));
  }
  return points;
}

double ds(const Path& path, std::size_t i) { return (i + 1 < path.size() ? path.s_of(i + 1) : path.length_m()) - path.s_of(i); }

// Largest excess of v_b^2 - v_a^2 over what `a` allows per step, taken along or against the path, friction ellipse included.
double worst_excess(const Path& path, const std::vector<double>& v, const SpeedLimits& limits, bool braking) {
  double worst = -1e9;
  for (std::size_t i = 0; i < path.segments(); ++i) {
    const std::size_t next = (i + 1) % path.size();
    const std::size_t known = braking ? next : i;
    const double gained = braking ? v[i] * v[i] - v[next] * v[next] : v[next] * v[next] - v[i] * v[i];
    const double use = v[known] * v[known] * std::fabs(path.vertex_curvature(known)) / limits.lateral_mps2;
    const double share = limits.friction_ellipse ? std::sqrt(std::max(0.0, 1.0 - use * use)) : 1.0;
    worst = std::max(worst, gained - 2.0 * (braking ? limits.brake_mps2 : limits.accelerate_mps2) * share * ds(path, i));
  }
  return worst;
}

double max_difference(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::fabs(a[i] - b[i]));
  return worst;
}

}  // namespace

TEST_CASE("on a circle the speed is that of the lateral limit and the lap time follows") {
  std::vector<Vec2> points;
  for (int i = 0; i < 500; ++i) points.push_back(3.0 * unit_vector(2.0 * math::kPi * i / 500));
  const Path path = path_of(points, true);
  const std::vector<double> v = speed_profile(path, {});
  const double expected = std::sqrt(2.5 * 3.0);
  for (const double speed : v) CHECK(speed == doctest::Approx(expected).epsilon(1e-9));
  CHECK(lap_time_s(path, v) == doctest::Approx(path.length_m() / expected).epsilon(1e-9));
}

TEST_CASE("from rest to rest on a straight line: the closed form of acceleration and braking") {
  std::vector<Vec2> points;
  for (int i = 0; i <= 1000; ++i) points.push_back({0.01 * i, 0.0});
  SpeedLimits limits;
  limits.v_max_mps = 100.0;
  limits.v_min_mps = 0.0;
  const Path path = path_of(points, false);
  const std::vector<double> v = speed_profile(path, limits);
  CHECK(v.back() == 0.0);
  for (std::size_t i = 0; i < v.size(); ++i)
    CHECK(v[i] == doctest::Approx(std::min(100.0, std::sqrt(2.0 * 8.0 * (10.0 - 0.01 * static_cast<double>(i))))).epsilon(1e-9));
  CHECK(lap_time_s(path, v) == doctest::Approx(std::sqrt(2.0 * 10.0 / 8.0)).epsilon(1e-3));
}

TEST_CASE("no step brakes or accelerates harder than the limits, the seam included") {
  for (const bool closed : {true, false}) {
    for (const bool ellipse : {true, false}) {
      const Path path = path_of(course(), closed);
      SpeedLimits limits;
      limits.friction_ellipse = ellipse;
      limits.v_max_mps = 9.0;
      const std::vector<double> v = speed_profile(path, limits);
      CHECK(worst_excess(path, v, limits, true) < 1e-9);
      CHECK(worst_excess(path, v, limits, false) < 1e-9);
      for (std::size_t i = 0; i < v.size(); ++i)
        CHECK(v[i] * v[i] * std::fabs(path.vertex_curvature(i)) <= limits.lateral_mps2 * (1.0 + 1e-12));
      // And it is not slow for nothing: every point is held by its curvature, by v_max or by a neighbour.
      CHECK(*std::max_element(v.begin(), v.end()) > 3.0);
    }
  }
}

TEST_CASE("with the friction ellipse no point is faster than without, and the lap is slower") {
  const Path path = path_of(course(), true);
  SpeedLimits without;
  without.friction_ellipse = false;
  const std::vector<double> a = speed_profile(path, {});
  const std::vector<double> b = speed_profile(path, without);
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] <= b[i] + 1e-12);
  CHECK(lap_time_s(path, a) > lap_time_s(path, b));
}

TEST_CASE("the mirrored path has the same profile") {
  std::vector<Vec2> mirrored = course();
  for (Vec2& p : mirrored) p.y = -p.y;
  CHECK(max_difference(speed_profile(path_of(course(), true), {}), speed_profile(path_of(mirrored, true), {})) < 1e-12);
}

TEST_CASE("with equal limits the path driven backwards has the same profile backwards") {
  std::vector<Vec2> reversed = course();
  std::reverse(reversed.begin(), reversed.end());
  SpeedLimits limits;
  limits.brake_mps2 = limits.accelerate_mps2;
  std::vector<double> v = speed_profile(path_of(reversed, true), limits);
  std::reverse(v.begin(), v.end());
  CHECK(max_difference(v, speed_profile(path_of(course(), true), limits)) < 1e-9);
}

TEST_CASE("the profile does not depend on where a closed path begins") {
  const std::vector<Vec2> points = course();
  const std::vector<double> v = speed_profile(path_of(points, true), {});
  for (const std::ptrdiff_t shift : {1, 77, 300, 599}) {
    std::vector<Vec2> rotated = points;
    std::rotate(rotated.begin(), rotated.begin() + shift, rotated.end());
    std::vector<double> w = speed_profile(path_of(rotated, true), {});
    std::rotate(w.begin(), w.end() - shift, w.end());
    CHECK(max_difference(v, w) < 1e-9);
  }
}

TEST_CASE("the floor never lifts a speed over the curvature limit or the braking way") {
  std::vector<Vec2> points;  // a turn of 0.02 m radius: sqrt(2.5 * 0.02) = 0.22 m/s
  for (int i = 0; i <= 50; ++i) points.push_back({-2.0 + 0.04 * i, 0.0});
  for (int i = 1; i <= 20; ++i) points.push_back(Vec2{0.0, 0.02} + 0.02 * unit_vector(-math::kPi / 2.0 + math::kPi * i / 20));
  for (int i = 1; i <= 50; ++i) points.push_back({-0.04 * i, 0.04});
  const Path path = path_of(points, false);
  SpeedLimits limits;
  limits.v_min_mps = 1.5;
  const std::vector<double> v = speed_profile(path, limits);
  CHECK(v[60] == doctest::Approx(std::sqrt(2.5 * 0.02)).epsilon(0.02));
  for (std::size_t i = 0; i < v.size(); ++i)
    CHECK(v[i] * v[i] * std::fabs(path.vertex_curvature(i)) <= limits.lateral_mps2 * (1.0 + 1e-12));
  CHECK(worst_excess(path, v, limits, true) < 1e-9);
  CHECK(v.back() == 0.0);
  CHECK(v[75] >= 1.5);  // out of the turn the floor does act
  limits.v_min_mps = 0.0;
  CHECK(speed_profile(path, limits)[75] < 1.5);
}

TEST_CASE("the spec's lap times of three race lines") {
  struct Row {
    const char* name;
    double length_m;
    double time_s;
  };
  for (const Row& row : {Row{"Spielberg", 338.128, 85.6}, Row{"Silverstone", 446.20, 113.9}, Row{"BrandsHatch", 350.85, 88.5}}) {
    const auto folder = test_data("maps/racetracks/" + std::string(row.name));
    if (!folder) return;
    const Result<Line> line = load_line(*folder / (std::string(row.name) + "_raceline.csv"));
    REQUIRE_MESSAGE(line.ok(), line.error().message);
    CHECK(std::fabs(line->path.length_m() - row.length_m) < 0.006);
    CHECK(std::fabs(lap_time_s(line->path, speed_profile(line->path, {})) - row.time_s) <= 0.05);
  }
}

namespace {

SpeedLimits strict(GripShape shape, double grip = 7.65) {
  SpeedLimits limits;
  limits.v_max_mps = 8.0;
  limits.v_min_mps = 0.0;
  limits.lateral_mps2 = limits.accelerate_mps2 = limits.brake_mps2 = grip;
  limits.grip_shape = shape;
  limits.grip_at_both_ends = true;
  return limits;
}

// Largest use of the grip at any point, with the acceleration of the piece before it and of that after it; 1 is the limit.
double largest_use(const Path& path, const std::vector<double>& v, double grip, GripShape shape) {
  double worst = 0.0;
  for (std::size_t i = 0; i < path.segments(); ++i) {
    const std::size_t next = (i + 1) % path.size();
    const double along = std::fabs(v[next] * v[next] - v[i] * v[i]) / (2.0 * ds(path, i)) / grip;
    for (const std::size_t end : {i, next}) {
      const double across = v[end] * v[end] * std::fabs(path.vertex_curvature(end)) / grip;
      worst = std::max(worst, shape == GripShape::kCircle ? std::sqrt(along * along + across * across) : along + across);
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("circle and diamond: no point uses more than the grip, the seam included, and the diamond is the slower one") {
  for (const bool closed : {true, false}) {
    const Path path = path_of(course(2000), closed);
    const std::vector<double> circle = speed_profile(path, strict(GripShape::kCircle));
    const std::vector<double> diamond = speed_profile(path, strict(GripShape::kDiamond));
    CHECK(largest_use(path, circle, 7.65, GripShape::kCircle) <= 1.0 + 1e-6);
    CHECK(largest_use(path, diamond, 7.65, GripShape::kDiamond) <= 1.0 + 1e-6);
    CHECK(largest_use(path, circle, 7.65, GripShape::kDiamond) > 1.2);
    for (std::size_t i = 0; i < circle.size(); ++i) CHECK(diamond[i] <= circle[i] + 1e-12);
    CHECK(lap_time_s(path, diamond) > 1.01 * lap_time_s(path, circle));
  }
}

TEST_CASE("with both ends held, every point is held by its curvature, the top speed, or all of the grip on a piece beside it") {
  const Path path = path_of(course(2000), true);
  for (const GripShape shape : {GripShape::kCircle, GripShape::kDiamond}) {
    const std::vector<double> v = speed_profile(path, strict(shape));
    for (std::size_t i = 0; i < v.size(); ++i) {
      const std::size_t before = (i + v.size() - 1) % v.size();
      double use = std::max(v[i] / 8.0, v[i] * v[i] * std::fabs(path.vertex_curvature(i)) / 7.65);
      for (const std::size_t segment : {before, i}) {
        const std::size_t next = (segment + 1) % v.size();
        const double along = std::fabs(v[next] * v[next] - v[segment] * v[segment]) / (2.0 * ds(path, segment)) / 7.65;
        for (const std::size_t end : {segment, next}) {
          const double across = v[end] * v[end] * std::fabs(path.vertex_curvature(end)) / 7.65;
          use = std::max(use, shape == GripShape::kCircle ? std::sqrt(along * along + across * across) : along + across);
        }
      }
      CHECK(use > 1.0 - 1e-9);
    }
  }
}

TEST_CASE("more grip is never slower, anywhere") {
  const Path path = path_of(course(), true);
  for (const GripShape shape : {GripShape::kCircle, GripShape::kDiamond}) {
    std::vector<double> before = speed_profile(path, strict(shape, 3.0));
    for (const double grip : {4.0, 6.0, 7.65, 10.29}) {
      const std::vector<double> v = speed_profile(path, strict(shape, grip));
      for (std::size_t i = 0; i < v.size(); ++i) CHECK(v[i] >= before[i] - 1e-12);
      before = v;
    }
  }
}

TEST_CASE("the closed path's profile with both ends held does not depend on where it begins, nor on its mirror") {
  const std::vector<Vec2> points = course();
  const std::vector<double> v = speed_profile(path_of(points, true), strict(GripShape::kDiamond));
  std::vector<Vec2> rotated = points;
  std::rotate(rotated.begin(), rotated.begin() + 211, rotated.end());
  std::vector<double> w = speed_profile(path_of(rotated, true), strict(GripShape::kDiamond));
  std::rotate(w.begin(), w.end() - 211, w.end());
  CHECK(max_difference(v, w) < 1e-9);
  std::vector<Vec2> mirrored = points;
  for (Vec2& p : mirrored) p.x = -p.x;
  CHECK(max_difference(v, speed_profile(path_of(mirrored, true), strict(GripShape::kDiamond))) < 1e-9);
}

TEST_CASE("a motor weaker than the grip: it drives with what it has until cornering leaves less") {
  const Path path = path_of(course(), true);
  SpeedLimits limits = strict(GripShape::kCircle);
  limits.grip_at_both_ends = false;
  limits.accelerate_mps2 = 3.0;
  limits.brake_mps2 = 3.0;
  const double shared = lap_time_s(path, speed_profile(path, limits));
  limits.longitudinal_grip_mps2 = 7.65;
  const std::vector<double> v = speed_profile(path, limits);
  CHECK(lap_time_s(path, v) < shared);
  for (std::size_t i = 0; i < path.segments(); ++i) {
    const std::size_t next = (i + 1) % path.size();
    CHECK(std::fabs(v[next] * v[next] - v[i] * v[i]) <= 2.0 * 3.0 * ds(path, i) + 1e-9);
  }
}

TEST_CASE("constant power: on a straight the speed's cube grows with the way") {
  std::vector<Vec2> points;
  for (int i = 0; i <= 4000; ++i) points.push_back({0.01 * i, 0.0});
  SpeedLimits limits;
  limits.v_max_mps = 100.0;
  limits.accelerate_mps2 = 4.0;
  limits.brake_mps2 = 100.0;
  limits.full_drive_to_mps = 3.0;
  limits.v_min_mps = 0.0;
  // From rest at the start: the open path is entered at any speed, so that a tight turn holds it there.
  points[0] = {-1e-3, 0.0};
  points.insert(points.begin(), {-1e-3, 1e-3});
  const std::vector<double> v = speed_profile(path_of(points, false), limits);
  const auto at = [&](double x) { return v[1 + static_cast<std::size_t>(std::lround(x / 0.01))]; };
  const double v0 = at(10.0);
  CHECK(v0 > 3.0);
  // a = P / v: v^3 = v0^3 + 3 P x with P = 12 m^2/s^3 per kilogram.
  CHECK(at(20.0) == doctest::Approx(std::cbrt(v0 * v0 * v0 + 3.0 * 12.0 * 10.0)).epsilon(2e-3));
}

TEST_CASE("a window over the curvature takes off what is narrower than it, and leaves a circle alone") {
  std::vector<Vec2> points = course(2000);
  for (std::size_t i = 0; i < points.size(); ++i) points[i] = (1.0 + (i % 2 == 0 ? 1e-5 : -1e-5)) * points[i];
  SpeedLimits limits;
  const double rough = lap_time_s(path_of(points, true), speed_profile(path_of(points, true), limits));
  limits.curvature_window = 3;
  const double smooth = lap_time_s(path_of(points, true), speed_profile(path_of(points, true), limits));
  const double truth = lap_time_s(path_of(course(2000), true), speed_profile(path_of(course(2000), true), {}));
  CHECK(std::fabs(smooth - truth) < 0.2 * std::fabs(rough - truth));
  std::vector<Vec2> ring;
  for (int i = 0; i < 300; ++i) ring.push_back(4.0 * unit_vector(2.0 * math::kPi * i / 300));
  for (const double speed : speed_profile(path_of(ring, true), limits)) CHECK(speed == doctest::Approx(std::sqrt(10.0)).epsilon(1e-9));
}

TEST_CASE("ForzaETH's line within the grip of its tyre file and +-3 m/s^2 of its motor") {
  const auto file = test_data("maps/forzaeth/JFR_racingv5/global_traj_wpnts_iqp.csv");
  if (!file) return;
  const Result<Line> line = load_line(*file);
  REQUIRE_MESSAGE(line.ok(), line.error().message);
  SpeedLimits limits;
  limits.v_max_mps = 12.0;
  limits.v_min_mps = 0.0;
  limits.lateral_mps2 = limits.longitudinal_grip_mps2 = 0.618 * 9.81;  // D of the weaker axle
  limits.accelerate_mps2 = limits.brake_mps2 = 3.0;
  limits.grip_at_both_ends = true;
  const std::vector<double> v = speed_profile(line->path, limits);
  // Its planner says 10.172 s, with a grip beyond that of its own tyre file.
  CHECK(std::fabs(lap_time_s(line->path, v) - 13.49) < 0.02);
  CHECK(largest_use(line->path, v, 0.618 * 9.81, GripShape::kCircle) <= 1.0 + 1e-6);
}

TEST_CASE("the benchmark's lines: the diamond's time is the published one, and the circle is worth what was measured") {
  struct Row {
    const char* name;
    double flying_diamond_s;  // planned, from 8 m/s
    double gain_s;            // of the circle, between standing starts
  };
  for (const Row& row : {Row{"aut", 15.674, 16.18 - 15.34}, Row{"esp", 34.442, 34.95 - 33.51}, Row{"gbr", 29.571, 30.09 - 28.89},
                         Row{"mco", 26.601, 27.13 - 26.09}}) {
    const auto file = test_data("maps/evans/" + std::string(row.name) + "_raceline_mu90.csv");
    if (!file) return;
    const Result<Line> line = load_line(*file);
    REQUIRE_MESSAGE(line.ok(), line.error().message);
    SpeedLimits limits = strict(GripShape::kDiamond);
    limits.grip_at_both_ends = false;
    // The points of these lines are rounded to a grid: their curvature is noise, that of the file is the planner's.
    REQUIRE(line->curvature_per_m.size() == line->path.size());
    const double diamond = lap_time_s(line->path, speed_profile(line->path, line->curvature_per_m, limits));
    limits.grip_shape = GripShape::kCircle;
    const double circle = lap_time_s(line->path, speed_profile(line->path, line->curvature_per_m, limits));
    CAPTURE(row.name);
    CHECK(std::fabs(diamond - row.flying_diamond_s) < 0.01 * row.flying_diamond_s);
    CHECK(std::fabs(diamond - circle - row.gain_s) < 0.15 * row.gain_s);
  }
}
