// SPDX-License-Identifier: Apache-2.0
#include "scenarios/course_mapper.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "localization/slam/test_course.hpp"
#include "tracks/path.hpp"

namespace pitwall::scenarios {
namespace {

namespace course = slam::course;

CarParameters car() {
  CarParameters car;
  car.wheelbase_m = 0.33;
  car.steering_max_left_rad = 0.42;
  car.steering_max_right_rad = -0.42;
  car.body_width_m = 0.31;
  car.body_length_m = 0.55;
  return car;
}

/// The smooth track of 73 m between walls 1.2 m to either side, at 3 m/s and 10 Hz, with an odometry that is 5 and 3 % off; one beam in
/// fifty finds nothing.
course::Drive around(double laps) {
  course::Drive drive = course::along(course::scenes::smooth_track(), 73.0 * laps);
  for (std::size_t k = 0; k < drive.scans.size(); ++k) {
    std::vector<float>& ranges = drive.scans[k].ranges;
    for (std::size_t i = k % 50; i < ranges.size(); i += 50) ranges[i] = std::numeric_limits<float>::infinity();
  }
  return drive;
}

CourseMap mapped(const course::Drive& drive, const MappingSettings& settings) {
  CourseMapper mapper(settings, {}, drive.truth.front());
  for (std::size_t k = 0; k < drive.scans.size(); ++k) mapper.add(drive.scans[k], drive.odometry[k], std::nullopt);
  auto made = mapper.finish();
  REQUIRE_MESSAGE(made.ok(), (made.ok() ? "" : made.error().message));
  return *std::move(made);
}

double farthest_from(const tracks::Path& path, const course::scenes::Scene& scene) {
  std::vector<Vec2> line;
  for (const Pose2& pose : scene.line) line.push_back(pose.position());
  const auto truth = tracks::Path::make(line, true);
  REQUIRE(truth.ok());
  double farthest = 0.0;
  for (const Vec2 p : path.points()) farthest = std::max(farthest, std::fabs(truth->project(p).lateral_m));
  return farthest;
}

/// Free cells farther than that from the line.
std::size_t free_beyond(const tracks::OccupancyMap& map, const tracks::Path& line, double away_m) {
  std::size_t count = 0;
  for (int j = 0; j < map.height(); ++j) {
    for (int i = 0; i < map.width(); ++i) {
      if (map.blocked(i, j)) continue;
      count += std::fabs(line.project(map.to_map({i + 0.5, j + 0.5})).lateral_m) > away_m ? 1 : 0;
    }
  }
  return count;
}

}  // namespace

TEST_CASE("a lap becomes a line on its map, 10 cm from where was driven although odometry is 5 % off") {
  const course::Drive drive = around(1.2);
  const CourseMap made = mapped(drive, MappingSettings::of(car()));
  REQUIRE_MESSAGE(made.line, made.refused);
  CHECK(made.laps.size() == 1);
  CHECK(made.line_from == std::size_t{0});
  CHECK(std::fabs(made.line->path.length_m() - 73.0) < 1.0);
  CHECK(farthest_from(made.line->path, course::scenes::smooth_track()) < 0.10);
  CHECK(made.speed_mps.size() == made.line->path.size());
  // Closed up: no chord of 1.5 m over the gap in which the lap counted as closed.
  CHECK(distance(made.laps[0].driven_map.front(), made.laps[0].driven_map.back()) < 0.4);
  CHECK(made.laps[0].lap.gap_m > 0.8);
}

TEST_CASE("a map for racing has no free cell behind its walls") {
  const course::Drive drive = around(1.2);
  MappingSettings settings = MappingSettings::of(car());
  const CourseMap made = mapped(drive, settings);
  REQUIRE(made.line);
  CHECK(free_beyond(*made.map, made.line->path, 1.35) == 0);
  // What the drop-outs would draw there.
  settings.slam.map.clear_infinite = true;
  CHECK(free_beyond(*mapped(drive, settings).map, made.line->path, 1.35) > 1000);
}

TEST_CASE("without a lap, or with one that the rack cannot follow, there is a map and a reason") {
  const CourseMap half = mapped(around(0.5), MappingSettings::of(car()));
  CHECK(half.map->width() > 100);
  CHECK_FALSE(half.line);
  CHECK(half.refused.find("no lap was closed: turned ") == 0);
  // A rack that cannot follow any lap.
  MappingSettings stiff = MappingSettings::of(car());
  stiff.cleanup.max_curvature_per_m = 0.02;
  const CourseMap refused = mapped(around(1.2), stiff);
  CHECK_FALSE(refused.line);
  CHECK(refused.refused == refused.laps[0].refused);
  CHECK(refused.refused.find("recorded lap: ") == 0);
}

}  // namespace pitwall::scenarios
