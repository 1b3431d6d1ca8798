// SPDX-License-Identifier: Apache-2.0
#include "apps/course_track.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/files.hpp"
#include "core/text.hpp"
#include "recording/pose_graph.hpp"
#include "tracks/build/raceline_io.hpp"
#include "tracks/line_check.hpp"
#include "tracks/line_csv.hpp"

namespace pitwall::apps {

namespace {

using tracks::build::Raceline;
using tracks::build::RacelineSettings;
using tracks::build::Room;

constexpr double kCentreSpacing_m = 0.1;
constexpr double kFarthest_m = 10.0;

/// The closed line from the point nearest to the map's origin on, which is where the drive began.
std::vector<Vec2> from_the_start(std::vector<Vec2> points) {
  const auto first = std::min_element(points.begin(), points.end(), [](Vec2 a, Vec2 b) { return norm(a) < norm(b); });
  std::rotate(points.begin(), first, points.end());
  return points;
}

RacelineSettings settings_for(const CourseTrackOptions& options) {
  RacelineSettings settings;
  settings.speed = options.speed;
  settings.max_curvature_per_m = scenarios::MappingSettings::of(options.car).cleanup.max_curvature_per_m;
  return settings;
}

/// The middle of the corridor about the racing line. Errors: it cannot be followed.
Result<tracks::build::CentreLine> centre_about(const Room& room, const std::vector<Vec2>& race, const CourseTrackOptions& options) {
  const auto middle = tracks::build::refine_centre_line(room, race, true, settings_for(options));
  const tracks::build::Stations even = tracks::build::stations_of(from_the_start(middle), true, kCentreSpacing_m);
  tracks::build::CentreLine centre;
  centre.points = even.points;
  for (std::size_t i = 0; i < even.size(); ++i) {
    const double left = room.rays->cast(even.points[i], even.normals[i], kFarthest_m);
    const double right = room.rays->cast(even.points[i], -even.normals[i], kFarthest_m);
    centre.half_width_m.push_back(std::min({left, right, kFarthest_m}));
  }
  if (const Status fit = tracks::check_line(centre.points, true); !fit) return fit.error();
  const auto path = tracks::Path::make(centre.points, true);
  if (!path) return path.error();
  if (const auto wall = tracks::check_walls(*path, *room.map, *room.distance, 0.5 * options.car.body_width_m)) return Error{*wall};
  return centre;
}

}  // namespace

Result<CourseTrack> make_course_track(const scenarios::CourseMap& course, const CourseTrackOptions& options) {
  const Room room{course.map, course.distance, course.rays};
  const std::vector<Vec2> lap = from_the_start(course.line->path.points());
  const RacelineSettings settings = settings_for(options);
  Result<tracks::build::CentreLine> centre = centre_about(room, lap, options);
  if (!centre) return Error{"centre line: " + centre.error().message};
  Result<Raceline> race = tracks::build::assess_line(room, lap, true, options.car.chassis(), settings);
  if (!race) return race.error();
  CourseTrack track{*std::move(centre), *std::move(race), std::nullopt, {}};
  if (!options.optimise) return track;
  Result<Raceline> optimised = tracks::build::optimise_raceline(room, track.centre.points, true, options.car.chassis(), settings);
  if (!optimised) {
    track.not_optimised = optimised.error().message;
  } else if (auto worse = tracks::build::worse_than_recorded(*optimised, track.race, room, options.clearance_m, settings)) {
    track.not_optimised = *std::move(worse);
  } else {
    track.optimised = *std::move(optimised);
  }
  return track;
}

Status write_course_track(const std::string& name, const scenarios::CourseMap& course, const CourseTrack& track, const slam::Slam& slam,
                          const std::filesystem::path& folder) {
  Status written = tracks::build::write_track(name, *course.map, track.centre, folder);
  const auto add = [&](const std::string& file, const std::string& text) {
    if (written) written = write_file(folder / file, text);
  };
  add(name + "_raceline.csv", tracks::build::raceline_csv(track.race, {"made by: map_course, the recorded lap, cleaned"}));
  if (track.optimised) {
    add(name + "_raceline_optimized.csv", tracks::build::raceline_csv(*track.optimised, {"made by: map_course, line of least curvature"}));
  }
  add("raceline_raw.csv", tracks::points_csv(course.laps[*course.line_from].driven_map));
  add("raceline_profiled.csv", tracks::profile_csv(track.race.path, track.race.speed_mps));
  std::vector<recording::StampedPose> poses;
  for (const slam::Placed& placed : slam.trajectory()) poses.push_back({placed.stamp, recording::Pose3::of(placed.T_map_base)});
  add("trajectory.tum", recording::to_tum(poses));
  return written;
}

}  // namespace pitwall::apps
