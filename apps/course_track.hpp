// SPDX-License-Identifier: Apache-2.0
// A mapped course as a track that every program can be given: the map of the SLAM, the middle of the corridor as its centre line, the
// cleaned lap as its racing line, and the optimised line where that is better.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/car.hpp"
#include "core/result.hpp"
#include "scenarios/course_mapper.hpp"
#include "tracks/build/generator.hpp"
#include "tracks/build/raceline.hpp"

namespace pitwall::apps {

struct CourseTrackOptions {
  CarParameters car;
  tracks::SpeedLimits speed;
  double clearance_m = 0.20;  ///< of an optimised line from walls, at least
  bool optimise = false;
};

struct CourseTrack {
  tracks::build::CentreLine centre;
  tracks::build::Raceline race;                      ///< the cleaned lap
  std::optional<tracks::build::Raceline> optimised;  ///< nothing: not asked for, or worse
  std::string not_optimised;                         ///< why it is worse
};

/// Lines of a course that has one (CourseMap::line), beginning where the drive began. Errors: a line that cannot be followed.
Result<CourseTrack> make_course_track(const scenarios::CourseMap& course, const CourseTrackOptions& options);

/// NAME_map.yaml and .pgm, NAME_centerline.csv, NAME_raceline.csv, NAME_raceline_optimized.csv, raceline_raw.csv (the lap as driven),
/// raceline_profiled.csv (x, y, speed) and trajectory.tum (every scan) in `folder`.
Status write_course_track(const std::string& name, const scenarios::CourseMap& course, const CourseTrack& track, const slam::Slam& slam,
                          const std::filesystem::path& folder);

}  // namespace pitwall::apps
