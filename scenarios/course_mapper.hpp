// SPDX-License-Identifier: Apache-2.0
// From a drive to a course that can be raced on: scans and odometry go through the SLAM and the lap recorder; at the end there is the
// map, the last closed lap on it, cleaned (tracks/lap_cleanup.hpp), and the speeds along it. The line comes from the poses as the SLAM
// has them in the end, in which every correction is contained, so that line and map belong to each other.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/car.hpp"
#include "core/fields.hpp"
#include "core/result.hpp"
#include "localization/slam/slam.hpp"
#include "scenarios/lap_recorder.hpp"
#include "tracks/distance_field.hpp"
#include "tracks/lap_cleanup.hpp"
#include "tracks/map.hpp"
#include "tracks/raycast.hpp"
#include "tracks/speed_profile.hpp"

namespace pitwall::scenarios {

struct MappingSettings {
  slam::SlamParameters slam;
  LapRules laps;
  tracks::LapCleanupSettings cleanup;
  tracks::SpeedLimits speed;
  void fields(FieldVisitor& f);
  /// With the rack and the width of a car: its smaller lock, half its chassis. Beams without return clear nothing: round a course there are
  /// walls, and what the scanner missed would be free lines through them. What is no longer than another car is no wall to register
  /// against: behind one in a corridor the SLAM else believes to stand.
  static MappingSettings of(const CarParameters& car);
};

/// A closed lap, on the map.
struct MappedLap {
  Lap lap;
  /// Its points as the SLAM has them in the end, and what was driven between its end and its start, before it or after it.
  std::vector<Vec2> driven_map;
  std::string refused;  ///< why no line was made of it; empty where one was, or where a later lap served
};

struct CourseMap {
  std::shared_ptr<const tracks::OccupancyMap> map;
  std::shared_ptr<const tracks::RayCaster> rays;
  std::shared_ptr<const tracks::DistanceField> distance;
  std::vector<MappedLap> laps;
  std::optional<std::size_t> line_from;    ///< number of the lap, from 0; nothing: no lap gives a line
  std::optional<tracks::CleanedLap> line;  ///< of it
  std::vector<double> speed_mps;           ///< at the points of the line
  /// Why there is no line; empty where there is one.
  std::string refused;
};

class CourseMapper {
 public:
  CourseMapper(const MappingSettings& settings, const Pose2& T_base_sensor, const Pose2& T_map_start = {});

  /// Takes in the next scan, as slam::Slam::add. What it says of the scan.
  slam::Placed add(const LaserScan& scan, const Pose2& T_odom_base, const std::optional<localization::Twist>& velocity);
  [[nodiscard]] const LapRecorder& laps() const { return laps_; }
  [[nodiscard]] const slam::Slam& slam() const { return slam_; }

  /// The end of the drive: the optimum of the graph, the map, the line. Errors: the solver's, no map (no valid beam).
  Result<CourseMap> finish();

 private:
  [[nodiscard]] MappedLap settled(const Lap& lap, const std::vector<slam::Placed>& trajectory) const;
  void close_up(MappedLap& mapped, const std::vector<slam::Placed>& trajectory) const;

  MappingSettings settings_;
  slam::Slam slam_;
  LapRecorder laps_;
};

}  // namespace pitwall::scenarios
