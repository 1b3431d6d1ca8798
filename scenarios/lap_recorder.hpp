// SPDX-License-Identifier: Apache-2.0
// When a car that maps a course has been round it. A lap begins where the last one ended, and is closed once the car has left the place,
// driven far, turned round and come back in the same direction; how near it must come widens with what it has turned beyond one round,
// so that a drift of the SLAM does not keep it out for ever. What a SLAM corrects is told from motion by odometry: the pose then jumps
// against the step that odometry measured, and all points of the lap are moved with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/fields.hpp"
#include "core/geometry.hpp"
#include "core/time.hpp"

namespace pitwall::scenarios {

struct LapRules {
  double sample_m = 0.15;                   ///< between the points that are kept
  double departed_m = 2.0;                  ///< farthest from the start at least
  double distance_m = 5.0;                  ///< driven at least
  double turned_rad = 5.235987755982989;    ///< by odometry, at least (300 degrees)
  double lasted_s = 15.0;                   ///< at least
  double closure_m = 1.5;                   ///< to the start, at most ...
  double widen_after = 1.25;                ///< ... and wider by as much again for each revolution beyond so many ...
  double widest_m = 4.0;                    ///< ... up to this
  double heading_rad = 0.5235987755982988;  ///< against the start's, at most (30 degrees)
  std::int64_t points = 3;                  ///< at least
  double jump_m = 0.12;                     ///< of the pose against odometry's step: a correction of the SLAM, no motion
  void fields(FieldVisitor& f);
  /// To the start, after so much turn.
  [[nodiscard]] double allowed_gap_m(double turned) const;
};

/// Where the car was.
struct LapPoint {
  Time stamp;
  Pose2 T_map_base;
  double turned_rad = 0.0;  ///< since the lap began
};

/// What is known of a lap, closed or under way.
struct Lap {
  std::vector<LapPoint> points;  ///< corrected as the SLAM was; of a closed one the last `widen_after` revolutions
  Time start, end;               ///< from where it began, also where the points are fewer
  bool closed = false;
  double distance_m = 0.0;
  double turned_rad = 0.0;     ///< positive to the left
  double departed_m = 0.0;     ///< farthest from its start
  double gap_m = 0.0;          ///< now, to its start
  double allowed_gap_m = 0.0;  ///< now
  double heading_rad = 0.0;    ///< now, against its start's
  std::int64_t corrections = 0;
  /// Why it is not closed: every rule that is not met, with value and bound; empty once it is.
  std::vector<std::string> missing;
  [[nodiscard]] double lasted_s() const { return (end - start).seconds(); }
};

class LapRecorder {
 public:
  explicit LapRecorder(const LapRules& rules) : rules_(rules) {}

  /// The next pose in the order of stamps, by the SLAM and by odometry. Whether it closed a lap; the next one begins there.
  bool add(Time stamp, const Pose2& T_map_base, const Pose2& T_odom_base);

  [[nodiscard]] const std::vector<Lap>& closed() const { return closed_; }
  /// The lap under way, with what it still lacks.
  [[nodiscard]] Lap current() const;

 private:
  struct Seen {
    Pose2 T_map_base;
    Pose2 T_odom_base;
  };
  void begin(Time stamp, const Pose2& T_map_base);
  void take_step(const Pose2& T_map_base, const Pose2& T_odom_base);
  [[nodiscard]] std::vector<std::string> missing(const Lap& lap) const;

  LapRules rules_;
  std::optional<Seen> last_;
  Pose2 T_map_start_;  // of the lap under way, corrected too
  Lap lap_;
  std::vector<Lap> closed_;
};

}  // namespace pitwall::scenarios
