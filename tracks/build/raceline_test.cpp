// SPDX-License-Identifier: Apache-2.0
#include "tracks/build/raceline.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/text.hpp"
#include "tracks/build/raceline_io.hpp"
#include "tracks/build/raceline_plot.hpp"
#include "tracks/build/spline.hpp"
#include "tracks/footprint.hpp"
#include "tracks/line_check.hpp"
#include "tracks/line_csv.hpp"

namespace pitwall::tracks::build {
namespace {

constexpr double kPi = math::kPi;
constexpr BodyRectangle kBody{-0.13, 0.45, 0.155};

std::vector<Vec2> ring(double radius, int n = 240) {
  std::vector<Vec2> points;
  for (int i = 0; i < n; ++i) points.push_back(radius * unit_vector(2.0 * kPi * i / n));
  return points;
}

/// A hairpin course: two straights of 12 m, joined by half circles of 2 m.
std::vector<Vec2> oval(bool mirrored = false) {
  std::vector<Vec2> points;
  for (int i = 0; i < 48; ++i) points.push_back({-6.0 + 0.25 * i, -2.0});
  for (int i = 0; i < 26; ++i) points.push_back(Vec2{6.0, 0.0} + 2.0 * unit_vector(-0.5 * kPi + kPi * i / 26));
  for (int i = 0; i < 48; ++i) points.push_back({6.0 - 0.25 * i, 2.0});
  for (int i = 0; i < 26; ++i) points.push_back(Vec2{-6.0, 0.0} + 2.0 * unit_vector(0.5 * kPi + kPi * i / 26));
  if (mirrored) {
    for (Vec2& p : points) p.y = -p.y;
  }
  return points;
}

Room corridor(const std::vector<Vec2>& centre, double half_width, double cell = 0.025) {
  Line line{Path::make(centre, true).value(), {}, {}, {}, {}, {}, "test"};
  line.width_left_m.assign(line.path.size(), half_width);
  line.width_right_m = line.width_left_m;
  return room_from_widths(line, cell).value();
}

RacelineSettings settings(Objective objective = Objective::kCurvature) {
  RacelineSettings s;
  s.objective = objective;
  s.margin_m = 0.1;
  s.speed.v_max_mps = 8.0;
  s.speed.v_min_mps = 0.0;
  s.speed.lateral_mps2 = s.speed.accelerate_mps2 = s.speed.brake_mps2 = 6.0;
  return s;
}

double bending(const Raceline& line) {
  double sum = 0.0;
  for (const double kappa : line.curvature_per_m) sum += kappa * kappa;
  return sum * line.path.length_m() / static_cast<double>(line.curvature_per_m.size());
}

TEST_CASE("a spline goes through its points; on a circle its curvature is that of the circle") {
  const Spline spline(ring(4.0, 60), true);
  CHECK(spline.length_m() == doctest::Approx(2.0 * kPi * 4.0).epsilon(1e-5));
  for (const double kappa : spline.curvatures(173)) CHECK(kappa == doctest::Approx(0.25).epsilon(2e-3));
  const std::vector<Vec2> even = spline.evenly(90);
  for (std::size_t i = 0; i < even.size(); ++i) {
    CHECK(std::fabs(norm(even[i]) - 4.0) < 1e-4);
    CHECK(std::fabs(distance(even[i], even[(i + 1) % 90]) - distance(even[0], even[1])) < 1e-4);
  }
  const Spline open({{0, 0}, {1, 0}, {2, 0}, {4, 0}}, false);
  CHECK(open.length_m() == doctest::Approx(4.0));
  CHECK(distance(open.evenly(5)[4], {4.0, 0.0}) < 1e-12);
}

TEST_CASE("a line takes the place of a recorded lap only if it is clear of walls, bends no more than lap and rack, and is faster") {
  const RacelineSettings how = settings();
  // Round an oval the line of least curvature is faster; round a ring it is the outer wall, and slower.
  const Room room = corridor(oval(), 1.0);
  const Raceline lap = assess_line(room, oval(), true, kBody, how).value();
  const Raceline line = optimise_raceline(room, oval(), true, kBody, how).value();
  CHECK(worse_than_recorded(line, lap, room, 0.2, how) == std::nullopt);
  CHECK(worse_than_recorded(lap, lap, room, 0.2, how)->find("takes ") == 0);
  CHECK(worse_than_recorded(line, lap, room, 0.5, how)->find("m from a wall at s = ") != std::string::npos);
  Raceline tighter = line;
  tighter.max_curvature_per_m = how.max_curvature_per_m + 0.01;
  CHECK(worse_than_recorded(tighter, lap, room, 0.2, how)->find("bends by 0.83 1/m") == 0);
  Raceline tight_lap = lap;
  tight_lap.max_curvature_per_m = how.max_curvature_per_m + 0.02;
  CHECK(worse_than_recorded(tighter, tight_lap, room, 0.2, how) == std::nullopt);
  tighter.faults = {"in a wall"};
  CHECK(worse_than_recorded(tighter, tight_lap, room, 0.2, how) == "in a wall");
  const Room round = corridor(ring(4.0), 1.0);
  const Raceline middle = assess_line(round, ring(4.0), true, kBody, how).value();
  const Raceline outer = optimise_raceline(round, ring(4.0), true, kBody, how).value();
  CHECK(worse_than_recorded(outer, middle, round, 0.2, how)->find("takes ") == 0);
}

TEST_CASE("widths become a room: free within, wall beyond; a line without them is refused") {
  const Room room = corridor(ring(4.0), 1.0);
  CHECK(std::fabs(room.about({4.0, 0.0}) - 1.0) < 0.03);
  CHECK(std::fabs(room.about({4.5, 0.0}) - 0.5) < 0.03);
  CHECK(room.about({2.5, 0.0}) == 0.0);
  CHECK(room.about({100.0, 0.0}) == 0.0);
  const Line bare{Path::make(ring(4.0), true).value(), {}, {}, {}, {}, {}, "bare.csv"};
  const auto refused = room_from_widths(bare);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("widths") != std::string::npos);
}

TEST_CASE("a centre line off the middle is brought back; where rays escape it is interpolated") {
  const Room room = corridor(ring(5.0), 1.0);
  std::vector<Vec2> off = ring(5.0);
  for (Vec2& p : off) p = p + Vec2{0.4, -0.2};
  for (const Vec2 p : refine_centre_line(room, off, true, settings())) CHECK(std::fabs(norm(p) - 5.0) < 0.07);
}

TEST_CASE("least curvature in a ring lies at its outer wall, in either direction") {
  const Room room = corridor(ring(5.0), 1.0);
  std::vector<Vec2> start = ring(5.0);
  for (const bool reversed : {false, true}) {
    if (reversed) std::reverse(start.begin(), start.end());
    const auto line = optimise_raceline(room, start, true, kBody, settings());
    REQUIRE(line.ok());
    CHECK(line->faults.empty());
    // Outer wall at 6 m; half the car and the margin, and the front corner swings out.
    const double corner = std::sqrt(5.7 * 5.7 + 0.45 * 0.45) - 5.7;
    const double expected = 6.0 - 0.155 - 0.1 - corner;
    for (const Vec2 p : line->path.points()) CHECK(std::fabs(norm(p) - expected) < 0.04);
    CHECK(line->min_clearance_m > 0.085);
  }
}

TEST_CASE("the swept chassis keeps its margin, normals do not cross, and less curvature or time is what comes out") {
  const Room room = corridor(oval(), 0.9);
  const auto centre = assess_line(room, oval(), true, kBody, settings());
  const auto curvature = optimise_raceline(room, oval(), true, kBody, settings());
  const auto time = optimise_raceline(room, oval(), true, kBody, settings(Objective::kTime));
  REQUIRE(centre.ok());
  REQUIRE(curvature.ok());
  REQUIRE(time.ok());
  CHECK(bending(*curvature) < 0.8 * bending(*centre));
  CHECK(bending(*curvature) < bending(*time));
  CHECK(curvature->lap_time_s < 0.95 * centre->lap_time_s);
  CHECK(time->lap_time_s < 0.99 * curvature->lap_time_s);
  for (const auto* line : {&*curvature, &*time}) {
    CHECK_MESSAGE(line->faults.empty(), join(line->faults));
    CHECK(line->min_clearance_m > 0.08);
    // Independently of what the optimiser measured, pose by pose.
    CHECK(swept_clearance(kBody, line->path, *room.distance, 1.0, 0.02).clearance_m > 0.075);
    CHECK(check_line(line->path.points(), true).ok());
    const Stations stations = stations_of(line->path.points(), true, 0.3);
    for (std::size_t i = 0; i < stations.size(); ++i) {
      const std::size_t next = (i + 1) % stations.size();
      const Vec2 along = stations.points[next] - stations.points[i];
      CHECK(cross(stations.normals[i], stations.normals[next]) < 1.0);
      CHECK(dot(stations.normals[i], stations.normals[next]) > 0.8);
      CHECK(dot(along, perpendicular(stations.normals[i])) < 0.0);
    }
  }
}

TEST_CASE("every step of least time is drivable: the profile on its line keeps the circle") {
  const Room room = corridor(oval(), 0.9);
  const auto line = optimise_raceline(room, oval(), true, kBody, settings(Objective::kTime));
  REQUIRE(line.ok());
  SpeedLimits strict = settings().speed;
  strict.grip_at_both_ends = true;
  const std::vector<double> v = speed_profile(line->path, strict);
  for (std::size_t i = 0; i < v.size(); ++i) {
    const std::size_t next = (i + 1) % v.size();
    const double ds = (i + 1 < v.size() ? line->path.s_of(i + 1) : line->path.length_m()) - line->path.s_of(i);
    const double along = (v[next] * v[next] - v[i] * v[i]) / (2.0 * ds);
    const double across = v[i] * v[i] * line->path.vertex_curvature(i);
    CHECK(std::sqrt(along * along + across * across) <= 6.0 * (1.0 + 1e-6));
  }
}

TEST_CASE("the line's shape does not depend on which way up the map is, nor on where the lap begins") {
  const auto line = optimise_raceline(corridor(oval(), 0.9), oval(), true, kBody, settings());
  const auto mirrored = optimise_raceline(corridor(oval(true), 0.9), oval(true), true, kBody, settings());
  REQUIRE(line.ok());
  REQUIRE(mirrored.ok());
  CHECK(std::fabs(line->lap_time_s - mirrored->lap_time_s) < 0.01 * line->lap_time_s);
  std::vector<Vec2> rotated = oval();
  std::rotate(rotated.begin(), rotated.begin() + 61, rotated.end());
  const auto elsewhere = optimise_raceline(corridor(oval(), 0.9), rotated, true, kBody, settings());
  REQUIRE(elsewhere.ok());
  CHECK(std::fabs(line->lap_time_s - elsewhere->lap_time_s) < 0.005 * line->lap_time_s);
  double apart = 0.0;
  for (const Vec2 p : elsewhere->path.points()) apart = std::max(apart, std::fabs(line->path.project(p).lateral_m));
  CHECK(apart < 0.05);
}

TEST_CASE("the same input gives the same line to the bit") {
  const Room room = corridor(oval(), 0.9);
  const auto once = optimise_raceline(room, oval(), true, kBody, settings(Objective::kTime));
  const auto again = optimise_raceline(room, oval(), true, kBody, settings(Objective::kTime));
  CHECK(once->path.points() == again->path.points());
}

TEST_CASE("open lines: a bend is cut from end to end") {
  std::vector<Vec2> bend;
  for (int i = 0; i < 30; ++i) bend.push_back({-9.0 + 0.3 * i, -4.0});
  for (int i = 0; i <= 20; ++i) bend.push_back(Vec2{0.0, 0.0} + 4.0 * unit_vector(-0.5 * kPi + 0.5 * kPi * i / 20));
  for (int i = 1; i < 30; ++i) bend.push_back({4.0, 0.3 * i});
  Line line{Path::make(bend, false).value(), {}, {}, {}, {}, {}, "bend"};
  line.width_left_m.assign(bend.size(), 1.0);
  line.width_right_m = line.width_left_m;
  const Room room = room_from_widths(line).value();
  const auto best = optimise_raceline(room, bend, false, BodyRectangle{-0.05, 0.05, 0.155}, settings());
  REQUIRE(best.ok());
  CHECK(best->max_curvature_per_m < 0.24);
  CHECK(best->speed_mps.back() == 0.0);
}

TEST_CASE("faults: a line tighter than the rack, a corridor narrower than the car") {
  RacelineSettings tight = settings();
  tight.max_curvature_per_m = 0.2;
  const auto bent = optimise_raceline(corridor(oval(), 0.9), oval(), true, kBody, tight);
  REQUIRE(bent.ok());
  REQUIRE(bent->faults.size() == 1);
  CHECK(bent->faults[0].find("radius") != std::string::npos);
  const auto narrow = optimise_raceline(corridor(ring(5.0), 0.14), ring(5.0), true, kBody, settings());
  REQUIRE(narrow.ok());
  REQUIRE_FALSE(narrow->faults.empty());
  CHECK(join(narrow->faults).find("touches a wall") != std::string::npos);
  const auto close = optimise_raceline(corridor(ring(5.0), 0.25), ring(5.0), true, kBody, settings());
  REQUIRE(close.ok());
  CHECK_MESSAGE(close->faults.empty(), join(close->faults));
  CHECK_FALSE(close->warnings.empty());
}

TEST_CASE("settings out of range and lines too short are named") {
  RacelineSettings bad = settings();
  bad.spacing_m = 0.0;
  const auto refused = optimise_raceline(corridor(oval(), 0.9), oval(), true, kBody, bad);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message.find("spacing_m") != std::string::npos);
  const auto tiny = optimise_raceline(corridor(ring(0.3, 60), 0.2), ring(0.3, 60), true, kBody, settings());
  REQUIRE_FALSE(tiny.ok());
  CHECK(tiny.error().message.find("long") != std::string::npos);
}

TEST_CASE("what is written is read again, with its remarks as comments; the picture holds line, speed and clearance") {
  const Room room = corridor(oval(), 0.9);
  const auto line = optimise_raceline(room, oval(), true, kBody, settings());
  REQUIRE(line.ok());
  const std::string text = raceline_csv(*line, {"made by: a test", "input hash: 0"});
  CHECK(text.starts_with("# made by: a test\n# input hash: 0\n# s_m;"));
  const auto read = parse_line(text, "line.csv");
  REQUIRE_MESSAGE(read.ok(), (read.ok() ? "" : read.error().message));
  REQUIRE(read->path.size() == line->path.size());
  for (std::size_t i = 0; i < read->path.size(); ++i) {
    CHECK(distance(read->path.points()[i], line->path.points()[i]) < 1e-6);
    CHECK(std::fabs(read->curvature_per_m[i] - line->curvature_per_m[i]) < 1e-6);
    CHECK(std::fabs(read->speed_mps[i] - line->speed_mps[i]) < 1e-4);
  }
  const auto profile = parse_line(profile_csv(line->path, line->speed_mps), "profile.csv");
  REQUIRE(profile.ok());
  CHECK(std::fabs(profile->speed_mps[7] - line->speed_mps[7]) < 1e-3);
  const std::string svg = raceline_svg("a <test>", line->path, line->speed_mps, line->clearance_m, room.map.get());
  CHECK(svg.starts_with("<svg"));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(svg.find("a &lt;test>") != std::string::npos);
  CHECK(svg.find("speed m/s") != std::string::npos);
  CHECK(svg.find("clearance of the chassis") != std::string::npos);
  CHECK(svg.find("nan") == std::string::npos);
}

}  // namespace
}  // namespace pitwall::tracks::build
