// SPDX-License-Identifier: Apache-2.0
#include "tracks/lap_cleanup.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/rng.hpp"

namespace pitwall::tracks {
namespace {

// A rounded rectangle, 14 m x 8 m with corners of 2 m, from the middle of its lower side, at `step`.
std::vector<Vec2> course(double step, double revolutions = 1.0, double phase_m = 0.0) {
  const double a = 10.0;
  const double b = 4.0;
  const double r = 2.0;
  const double arc = 0.5 * math::kPi * r;
  const double lap = 2.0 * (a + b) + 4.0 * arc;
  const auto at = [&](double s) {
    s = std::fmod(s + phase_m, lap);
    Vec2 corner{0.5 * a, 0.0};
    double heading = 0.0;
    const double sides[5] = {0.5 * a, b, a, b, 0.5 * a};
    Vec2 p{0.0, 0.0};
    for (int k = 0; k < 5; ++k) {
      if (s <= sides[k] || k == 4) return p + s * unit_vector(heading);
      s -= sides[k];
      p = p + sides[k] * unit_vector(heading);
      const Vec2 centre = p + r * perpendicular(unit_vector(heading));
      const double turn = std::min(s, arc) / r;
      p = centre + r * unit_vector(heading - 0.5 * math::kPi + turn);
      if (s <= arc) return p;
      s -= arc;
      heading += 0.5 * math::kPi;
    }
    return corner;
  };
  std::vector<Vec2> points;
  for (double s = 0.0; s <= revolutions * lap; s += step) points.push_back(at(s));
  return points;
}

double lap_length() { return 2.0 * 14.0 + 4.0 * math::kPi; }

std::vector<Vec2> noisy(std::vector<Vec2> points, double sd) {
  const Rng rng(7, "lap");
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto n = rng.normal_pair(i, 0);
    points[i] = points[i] + Vec2{sd * n[0], sd * n[1]};
  }
  return points;
}

OccupancyMap room(double clear_m) {
  // Free where the course is nearer than clear_m.
  const Path path = Path::make(course(0.05), true).value();
  const int width = 400;
  const int height = 260;
  std::vector<std::int8_t> cells;
  for (int j = 0; j < height; ++j) {
    for (int i = 0; i < width; ++i) {
      const Vec2 p{-10.0 + 0.05 * (i + 0.5), -2.0 + 0.05 * (j + 0.5)};
      cells.push_back(std::fabs(path.project(p).lateral_m) < clear_m ? 0 : 100);
    }
  }
  return OccupancyMap::make(width, height, 0.05, {-10.0, -2.0, 0.0}, std::move(cells)).value();
}

TEST_CASE("a noisy lap comes out smooth, within the rack and near what was driven") {
  const auto lap = clean_lap(noisy(course(0.15, 1.0), 0.03), {}, nullptr, nullptr);
  REQUIRE_MESSAGE(lap.ok(), (lap.ok() ? "" : lap.error().message));
  CHECK(lap->max_curvature_per_m <= 0.739);
  CHECK(lap->deviation_m < 0.2);
  CHECK(std::fabs(lap->path.length_m() - lap_length()) < 0.3);
  const Path truth = Path::make(course(0.02), true).value();
  double worst = 0.0;
  for (const Vec2 p : lap->path.points()) worst = std::max(worst, std::fabs(truth.project(p).lateral_m));
  CHECK(worst < 0.15);
  for (std::size_t i = 0; i + 1 < lap->path.size(); ++i)
    CHECK(std::fabs(distance(lap->path.points()[i], lap->path.points()[i + 1]) - 0.15) < 0.02);
}

TEST_CASE("a circle keeps its radius to a hundredth of a millimetre") {
  std::vector<Vec2> points;
  for (int i = 0; i < 400; ++i) points.push_back(3.0 * unit_vector(2.0 * math::kPi * i / 400));
  const auto lap = clean_lap(points, {}, nullptr, nullptr);
  REQUIRE(lap.ok());
  for (const Vec2 p : lap->path.points()) CHECK(std::fabs(norm(p) - 3.0) < 2e-4);
  CHECK(lap->max_curvature_per_m == doctest::Approx(1.0 / 3.0).epsilon(1e-3));
  CHECK(lap->share_over == 0.0);
}

TEST_CASE("only the last of several revolutions is kept; a single one is left whole") {
  for (const double revolutions : {2.0, 2.4, 1.5}) {
    CAPTURE(revolutions);
    const auto lap = clean_lap(course(0.1, revolutions), {}, nullptr, nullptr);
    REQUIRE_MESSAGE(lap.ok(), (lap.ok() ? "" : lap.error().message));
    CHECK(std::fabs(lap->path.length_m() - lap_length()) < 0.4);
    CHECK(std::fabs(lap->trimmed_m - (revolutions - 1.0) * lap_length()) < 0.7);
  }
  const auto single = clean_lap(course(0.1, 1.0), {}, nullptr, nullptr);
  REQUIRE(single.ok());
  CHECK(single->trimmed_m == 0.0);
}

TEST_CASE("repeated points are dropped and counted") {
  std::vector<Vec2> points = course(0.1, 1.0);
  points.insert(points.begin() + 50, 7, points[50]);
  const auto lap = clean_lap(points, {}, nullptr, nullptr);
  REQUIRE(lap.ok());
  CHECK(lap->points_dropped == 7);
}

TEST_CASE("of the lines that fit, the one with most detail is taken") {
  const auto lap = clean_lap(course(0.1, 1.0), {}, nullptr, nullptr);
  REQUIRE(lap.ok());
  LapCleanupSettings coarse;
  coarse.shortest_feature_m = 6.0;
  const auto less = clean_lap(course(0.1, 1.0), coarse, nullptr, nullptr);
  REQUIRE(less.ok());
  CHECK(less->harmonics < lap->harmonics);
  CHECK(lap->deviation_m < less->deviation_m);
}

TEST_CASE("a corner that the rack cannot follow is rounded, or refused where that takes too much") {
  std::vector<Vec2> square;
  const Vec2 corners[4] = {{0, 0}, {8, 0}, {8, 6}, {0, 6}};
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < 60; ++i) square.push_back(corners[k] + (i / 60.0) * (corners[(k + 1) % 4] - corners[k]));
  }
  const auto lap = clean_lap(square, {}, nullptr, nullptr);
  REQUIRE_MESSAGE(lap.ok(), (lap.ok() ? "" : lap.error().message));
  CHECK(lap->max_curvature_per_m <= 1.5 * 0.739);
  LapCleanupSettings strict;
  strict.max_deviation_m = 0.02;
  const auto refused = clean_lap(square, strict, nullptr, nullptr);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("radius") != std::string::npos);
}

TEST_CASE("walls: the clearance asked for is that of the driven lap at most, and half the car at least") {
  const OccupancyMap wide = room(1.0);
  const DistanceField wide_field(wide);
  const auto lap = clean_lap(course(0.1), {}, &wide, &wide_field);
  REQUIRE_MESSAGE(lap.ok(), (lap.ok() ? "" : lap.error().message));
  CHECK(lap->clearance_m >= 0.20);
  CHECK(lap->driven_clearance_m > 0.8);
  const OccupancyMap narrow = room(0.12);
  const DistanceField narrow_field(narrow);
  const auto refused = clean_lap(course(0.1), {}, &narrow, &narrow_field);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("half the car") != std::string::npos);
}

TEST_CASE("what is no lap is refused with the reason") {
  const auto message = [](const std::vector<Vec2>& points) {
    const auto lap = clean_lap(points, {}, nullptr, nullptr);
    return lap.ok() ? std::string() : lap.error().message;
  };
  std::vector<Vec2> bad = course(0.1);
  bad[20].x = std::numeric_limits<double>::quiet_NaN();
  CHECK(message(bad).find("point 21 is not finite") != std::string::npos);
  CHECK(message({{0, 0}, {1, 0}}).find("at least 8") != std::string::npos);
  std::vector<Vec2> straight;
  for (int i = 0; i < 100; ++i) straight.push_back({0.2 * i, 0.0});
  CHECK(message(straight).find("apart") != std::string::npos);
}

TEST_CASE("the mirrored lap gives the mirrored line") {
  std::vector<Vec2> points = noisy(course(0.15), 0.03);
  const auto lap = clean_lap(points, {}, nullptr, nullptr);
  for (Vec2& p : points) p.y = -p.y;
  const auto mirrored = clean_lap(points, {}, nullptr, nullptr);
  REQUIRE(lap.ok());
  REQUIRE(mirrored.ok());
  REQUIRE(lap->path.size() == mirrored->path.size());
  for (std::size_t i = 0; i < lap->path.size(); ++i) {
    const Vec2 p = lap->path.points()[i];
    CHECK(distance(mirrored->path.points()[i], {p.x, -p.y}) < 1e-9);
  }
}

}  // namespace
}  // namespace pitwall::tracks
