// SPDX-License-Identifier: Apache-2.0
#include "scenarios/course_mapper.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/math.hpp"
#include "core/text.hpp"

namespace pitwall::scenarios {

namespace {

auto at_or_after(const std::vector<slam::Placed>& trajectory, Time stamp) {
  return std::lower_bound(trajectory.begin(), trajectory.end(), stamp, [](const slam::Placed& placed, Time t) { return placed.stamp < t; });
}

}  // namespace

void MappingSettings::fields(FieldVisitor& f) {
  f.nested("slam", slam);
  f.nested("laps", laps);
  f.nested("cleanup", cleanup);
  f.nested("speed", speed);
}

MappingSettings MappingSettings::of(const CarParameters& car) {
  MappingSettings settings;
  const double lock = std::min(car.steering_max_left_rad, -car.steering_max_right_rad);
  settings.cleanup.max_curvature_per_m = math::tan(lock) / car.wheelbase_m;
  settings.cleanup.least_clearance_m = 0.5 * car.body_width_m;
  settings.slam.map.clear_infinite = false;
  constexpr double kRoughly_m = 0.1;
  const double diagonal_m = norm({car.body_length_m, car.body_width_m});
  settings.slam.registration.least_extent_m = std::max(settings.slam.registration.least_extent_m, diagonal_m + kRoughly_m);
  return settings;
}

CourseMapper::CourseMapper(const MappingSettings& settings, const Pose2& T_base_sensor, const Pose2& T_map_start)
    : settings_(settings), slam_(settings.slam, T_base_sensor, T_map_start), laps_(settings.laps) {}

slam::Placed CourseMapper::add(const LaserScan& scan, const Pose2& T_odom_base, const std::optional<localization::Twist>& velocity) {
  const slam::Placed placed = slam_.add(scan, T_odom_base, velocity);
  if (placed.placement != slam::Placement::kRefused) laps_.add(placed.stamp, placed.T_map_base, placed.T_odom_base);
  return placed;
}

MappedLap CourseMapper::settled(const Lap& lap, const std::vector<slam::Placed>& trajectory) const {
  MappedLap mapped{lap, {}, {}};
  for (const LapPoint& p : lap.points) {
    const auto at = at_or_after(trajectory, p.stamp);
    if (at != trajectory.end() && at->stamp == p.stamp) mapped.driven_map.push_back(at->T_map_base.position());
  }
  close_up(mapped, trajectory);
  return mapped;
}

void CourseMapper::close_up(MappedLap& mapped, const std::vector<slam::Placed>& trajectory) const {
  std::vector<Vec2>& points = mapped.driven_map;
  if (points.empty()) return;
  // Points from `from` on, as long as they come nearer to `goal`.
  const auto approach = [&](auto begin, auto end, Vec2 from, Vec2 goal) {
    std::vector<Vec2> way;
    for (auto at = begin; at != end; ++at) {
      const Vec2 p = at->T_map_base.position();
      if (distance(p, from) < settings_.laps.sample_m) continue;
      if (distance(p, goal) >= distance(from, goal)) break;
      way.push_back(p);
      from = p;
    }
    return way;
  };
  const auto first = at_or_after(trajectory, mapped.lap.points.front().stamp);
  if (first != trajectory.begin() && mapped.lap.start.ns != trajectory.front().stamp.ns) {
    const std::vector<Vec2> before = approach(std::make_reverse_iterator(first), trajectory.rend(), points.front(), points.back());
    points.insert(points.begin(), before.rbegin(), before.rend());
  } else {
    const std::vector<Vec2> after = approach(at_or_after(trajectory, mapped.lap.end), trajectory.end(), points.back(), points.front());
    points.insert(points.end(), after.begin(), after.end());
  }
}

Result<CourseMap> CourseMapper::finish() {
  if (const Status solved = slam_.finish(); !solved) return solved.error();
  Result<slam::BuiltMap> built = slam_.build_map();
  if (!built) return built.error();
  CourseMap course;
  course.map = std::make_shared<const tracks::OccupancyMap>(std::move(built->map));
  course.rays = std::make_shared<const tracks::RayCaster>(course.map);
  course.distance = std::make_shared<const tracks::DistanceField>(*course.map);
  const std::vector<slam::Placed> trajectory = slam_.trajectory();
  for (const Lap& lap : laps_.closed()) course.laps.push_back(settled(lap, trajectory));
  if (course.laps.empty()) course.refused = "no lap was closed: " + join(laps_.current().missing, "; ");
  // The last lap is the one on which the map was known best.
  for (std::size_t k = course.laps.size(); k-- > 0 && !course.line;) {
    Result<tracks::CleanedLap> line =
        tracks::clean_lap(course.laps[k].driven_map, settings_.cleanup, course.map.get(), course.distance.get());
    if (line) {
      course.line_from = k;
      course.speed_mps = tracks::speed_profile(line->path, settings_.speed);
      course.line = *std::move(line);
    } else {
      course.laps[k].refused = line.error().message;
    }
  }
  if (!course.line && !course.laps.empty()) course.refused = course.laps.back().refused;
  return course;
}

}  // namespace pitwall::scenarios
