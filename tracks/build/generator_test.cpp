// SPDX-License-Identifier: Apache-2.0
#include "tracks/build/generator.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/math.hpp"
#include "core/text.hpp"
#include "tests/support/temp_folder.hpp"
#include "tracks/track.hpp"

namespace pitwall::tracks::build {
namespace {

TrackPlan rectangle(double half_x, double half_y, double radius, double width) {
  TrackPlan plan;
  plan.name = "box";
  plan.group = "test";
  plan.shape = Shape::kRoundedRectangle;
  plan.rectangle = {half_x, half_y, radius};
  plan.width_m = width;
  plan.spacing_m = 0.05;
  plan.min_radius_m = 0.9 * radius;
  return plan;
}

/// A spline around a rectangle of control points every `step` metres.
TrackPlan spline_box(double half_x, double half_y, double step) {
  TrackPlan plan;
  plan.name = "spline";
  for (double x = -half_x; x < half_x; x += step) plan.points.push_back({{x, -half_y}, plan.width_m});
  for (double y = -half_y; y < half_y; y += step) plan.points.push_back({{half_x, y}, plan.width_m});
  for (double x = half_x; x > -half_x; x -= step) plan.points.push_back({{x, half_y}, plan.width_m});
  for (double y = half_y; y > -half_y; y -= step) plan.points.push_back({{-half_x, y}, plan.width_m});
  return plan;
}

std::string error_of(const TrackPlan& plan) {
  const auto track = make_track(plan);
  return track.ok() ? "" : track.error().message;
}

TEST_CASE("a rounded rectangle has the length of its formula, and starts mid-bottom along +x") {
  struct Layout {
    double half_x, half_y, radius, width;
  };
  for (const Layout& l : {Layout{5.0, 3.2, 1.8, 1.8}, Layout{4.5, 2.6, 1.1, 1.4}, Layout{7.0, 4.5, 2.5, 2.6}, Layout{7.5, 5.5, 1.2, 1.5},
                          Layout{3.0, 3.0, 3.0, 1.0}}) {
    const TrackPlan plan = rectangle(l.half_x, l.half_y, l.radius, l.width);
    const auto track = make_track(plan);
    REQUIRE_MESSAGE(track.ok(), (track.ok() ? "" : track.error().message));
    const double expected = 4 * l.half_x + 4 * l.half_y - (8 - 2 * math::kPi) * l.radius;
    CHECK(track->report.length_m == doctest::Approx(expected).epsilon(1e-3));
    CHECK(track->report.min_radius_m == doctest::Approx(l.radius).epsilon(1e-2));
    const auto& points = track->centre.points;
    CHECK(points[0] == Vec2{0.0, -l.half_y});
    CHECK(std::abs(points[1].y + l.half_y) < 5e-4);
    CHECK(points[1].x == doctest::Approx(0.05).epsilon(0.02));
    for (std::size_t i = 0; i < points.size(); ++i) {
      CHECK(distance(points[i], points[(i + 1) % points.size()]) == doctest::Approx(0.05).epsilon(0.02));
      CHECK(std::abs(points[i].x) <= l.half_x + 1e-9);
      CHECK(std::abs(points[i].y) <= l.half_y + 1e-9);
    }
  }
}

TEST_CASE("control points on a line give an exact straight, and a corner the radius of the B-spline") {
  const TrackPlan plan = spline_box(15.0, 10.0, 5.0);
  const auto track = make_track(plan);
  REQUIRE_MESSAGE(track.ok(), (track.ok() ? "" : track.error().message));
  for (const Vec2 p : track->centre.points) {
    if (std::abs(p.x) < 5.0) CHECK(std::abs(p.y) == 10.0);
  }
  // At the knot beside a right angle with arms h: |r'| = h / sqrt 2, |r''| = sqrt 2 h, at right angles: R = h / (2 sqrt 2).
  CHECK(track->report.min_radius_m == doctest::Approx(5.0 / (2.0 * std::sqrt(2.0))).epsilon(0.02));
  CHECK(track->report.longest_straight_m > 10.0);
}

TEST_CASE("cells are free exactly where their centre is within the half width") {
  TrackPlan plan = rectangle(3.0, 2.0, 1.0, 1.0);
  plan.margin_m = 0.3;
  const auto track = make_track(plan);
  REQUIRE(track.ok());
  const OccupancyMap& map = track->map;
  // The outline is symmetric, so the map is; and 7 x 5 m plus margins fit.
  CHECK(map.resolution_m() == 0.05);
  CHECK(map.width() == 152);
  CHECK(map.height() == 112);
  CHECK(map.origin().x == -3.8);
  CHECK(map.origin().y == -2.8);
  for (int j = 0; j < map.height(); ++j) {
    for (int i = 0; i < map.width(); ++i) {
      const Vec2 p = map.to_map({i + 0.5, j + 0.5});
      // Distance to the rounded rectangle: that of a box shrunk by the radius, less the radius.
      const Vec2 q{std::abs(p.x) - 2.0, std::abs(p.y) - 1.0};
      const double outside = std::hypot(std::max(q.x, 0.0), std::max(q.y, 0.0)) + std::min(std::max(q.x, q.y), 0.0) - 1.0;
      if (std::abs(std::abs(outside) - 0.5) < 1e-3) continue;  // on the very edge, where the polygon of the corner decides
      CHECK(map.value(i, j) == (std::abs(outside) < 0.5 ? 0 : 100));
    }
  }
}

TEST_CASE("a track may change its width from point to point") {
  TrackPlan plan = spline_box(15.0, 10.0, 5.0);
  for (ControlPoint& point : plan.points) {
    if (point.position.y > 5.0) point.width_m = 1.2;
  }
  const auto track = make_track(plan);
  REQUIRE(track.ok());
  const auto free_rows = [&track](double x, double y_from, double y_to) {
    int count = 0;
    for (double y = y_from; y < y_to; y += 0.05) {
      const Vec2 cell = track->map.to_grid({x, y});
      count += track->map.blocked(static_cast<int>(cell.x), static_cast<int>(cell.y)) ? 0 : 1;
    }
    return 0.05 * count;
  };
  CHECK(free_rows(0.01, -11.5, -8.5) == doctest::Approx(2.2).epsilon(0.03));
  CHECK(free_rows(0.01, 8.5, 11.0) == doctest::Approx(1.2).epsilon(0.05));
  // On the way up the side the half width blends; the raster follows it to a cell.
  for (std::size_t k = 0; k < track->centre.points.size(); ++k) {
    const Vec2 p = track->centre.points[k];
    if (p.x < 14.999 || std::abs(p.y) > 4.0) continue;
    const double expected = track->centre.half_width_m[k];
    double free = 0.0;
    for (double x = 13.0; x < 17.0; x += 0.01) {
      const Vec2 cell = track->map.to_grid({x, p.y});
      const int i = static_cast<int>(cell.x);
      if (track->map.inside(i, static_cast<int>(cell.y)) && !track->map.blocked(i, static_cast<int>(cell.y))) free += 0.01;
    }
    CHECK(free == doctest::Approx(2.0 * expected).epsilon(0.06));
  }
}

TEST_CASE("a shape that cannot be driven is refused with values and place") {
  TrackPlan tight = spline_box(15.0, 10.0, 5.0);
  tight.min_radius_m = 2.0;
  CHECK(contains(error_of(tight), "track 'spline': radius 1.8"));
  CHECK(contains(error_of(tight), "at least 2 m"));
  TrackPlan folded = rectangle(5.0, 4.0, 1.0, 2.4);
  folded.min_radius_m = 0.5;
  CHECK(contains(error_of(folded), "at least 1.2 m"));

  TrackPlan eight;
  eight.name = "eight";
  for (const Vec2 p : {Vec2{0, 0}, Vec2{10, 10}, Vec2{20, 10}, Vec2{20, -10}, Vec2{10, -10}, Vec2{0, 0}, Vec2{-10, 10}, Vec2{-20, 10},
                       Vec2{-20, -10}, Vec2{-10, -10}}) {
    eight.points.push_back({p, 2.2});
  }
  CHECK(contains(error_of(eight), "crosses itself at"));

  // Two legs 2.5 m apart leave 0.3 m of wall, whatever the hairpin between them is.
  TrackPlan narrow;
  narrow.name = "narrow";
  narrow.min_radius_m = 1.2;
  for (const Vec2 p :
       {Vec2{0, 0}, Vec2{10, 0}, Vec2{20, 0}, Vec2{30, 0}, Vec2{37, 0}, Vec2{42, 2}, Vec2{42, 8}, Vec2{37, 8}, Vec2{33, 4}, Vec2{28, 2.5},
        Vec2{20, 2.5}, Vec2{10, 2.5}, Vec2{0, 2.5}, Vec2{-8, 2.5}, Vec2{-13, 6}, Vec2{-19, 6}, Vec2{-19, 0}, Vec2{-10, 0}}) {
    narrow.points.push_back({p, 2.2});
  }
  CHECK(contains(error_of(narrow), "0.3 m of wall between"));
  narrow.min_wall_m = 0.2;
  CHECK(error_of(narrow).empty());
}

TEST_CASE("the wall between the sides of one bend counts from a half circle of the least distance on") {
  const TrackPlan plan = rectangle(2.0, 2.0, 2.0, 2.2);
  const auto report = check_shape(plan, centre_line(plan));
  REQUIRE(report.ok());
  const double along = 0.5 * math::kPi * (2.2 + 0.5);
  CHECK(report->min_wall_m == doctest::Approx(4.0 * std::sin(along / 4.0) - 2.2).epsilon(0.03));
}

TEST_CASE("a plan is read strictly") {
  const auto error = [](const std::string& text) {
    const auto node = parse_yaml(text, "plan.yaml");
    REQUIRE(node.ok());
    const auto plan = read_plan(*node, "plan.yaml");
    return plan.ok() ? std::string() : plan.error().message;
  };
  const std::string points = "points: [[0, 0], [10, 0], [10, 10, 3], [0, 10]]\n";
  CHECK(error("name: a\ngroup: b\n" + points).empty());
  CHECK(contains(error("name: a\nwidht_m: 2\n" + points), "widht_m"));
  CHECK(contains(error("name: a\nwidth_m: 0.1\n" + points), "plan.yaml:2"));
  CHECK(contains(error("name: a/b\n" + points), "a/b"));
  CHECK(contains(error(points), "name"));
  CHECK(contains(error("name: a\n"), "points"));
  CHECK(contains(error("name: a\npoints: [[0, 0], [1, 0], [1, 1]]\n"), "at least 4"));
  CHECK(contains(error("name: a\npoints: [[0, 0], [1, x], [1, 1], [0, 1]]\n"), "plan.yaml:2: points: 'x'"));
  CHECK(contains(error("name: a\npoints: [[0, 0], [.inf, 1], [1, 1], [0, 1]]\n"), "points"));
  CHECK(contains(error("name: a\npoints: [[0, 0], [1, 0, 0.2], [1, 1], [0, 1]]\n"), "width 0.2"));
  CHECK(contains(error("name: a\npoints: [[0, 0], [0, 0], [1, 1], [0, 1]]\n"), "nearer than 0.1 m"));
  CHECK(contains(error("name: a\nshape: oval\n"), "oval"));
  CHECK(contains(error("name: a\nshape: rounded_rectangle\nrectangle: {half_x_m: 2, half_y_m: 1, radius_m: 1.5}\n"), "radius_m = 1.5"));
}

TEST_CASE("a plan written as YAML is read back") {
  TrackPlan plan = random_plan(3);
  plan.points[1].width_m = 1.9;
  const auto node = parse_yaml(plan_yaml(plan), "plan.yaml");
  REQUIRE(node.ok());
  const auto read = read_plan(*node, "plan.yaml");
  REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : read.error().message));
  CHECK(read->name == plan.name);
  REQUIRE(read->points.size() == plan.points.size());
  for (std::size_t i = 0; i < plan.points.size(); ++i) {
    CHECK(read->points[i].position == plan.points[i].position);
    CHECK(read->points[i].width_m == plan.points[i].width_m);
  }
}

TEST_CASE("a random circuit is the same for the same seed, differs between seeds, and passes the checks") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const TrackPlan plan = random_plan(seed);
    CHECK(check_shape(plan, centre_line(plan)).ok());
    CHECK(plan_yaml(plan) == plan_yaml(random_plan(seed)));
    CHECK(plan_yaml(plan) != plan_yaml(random_plan(seed + 1)));
  }
}

TEST_CASE("a written track is loaded back to the same line and map") {
  const TempFolder folder("generator_test");
  const TrackPlan plan = rectangle(4.0, 3.0, 1.5, 1.4);
  const auto track = make_track(plan);
  REQUIRE(track.ok());
  REQUIRE(write_track(plan.name, track->map, track->centre, folder.path() / plan.name).ok());
  const auto loaded = load_track((folder.path() / "box").string(), {});
  REQUIRE_MESSAGE(loaded.ok(), (loaded.ok() ? "" : loaded.error().message));
  CHECK(loaded->warnings.empty());
  CHECK(loaded->map->content_hash() == track->map.content_hash());
  REQUIRE(loaded->centre.has_value());
  CHECK(loaded->centre->path.points() == track->centre.points);
  CHECK(loaded->centre->width_left_m == track->centre.half_width_m);
  CHECK(loaded->centre->width_right_m == track->centre.half_width_m);
}

}  // namespace
}  // namespace pitwall::tracks::build
