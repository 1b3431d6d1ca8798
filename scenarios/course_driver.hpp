// SPDX-License-Identifier: Apache-2.0
// One car that comes to a course it does not know: it maps it with the SLAM while a reactive driver takes it round, makes map, line and
// speeds, stands, and races on what it made, with the localiser on that very map. A controller like any other: everything it does
// follows from what it is told, so that a replay gives the same map and the same commands.
//
//   mapping     the mapping driver drives; the SLAM has every scan; laps are recorded
//   stopping    after the last lap: zero speed until the car stands
//   making      in one decision: map saved, lap cleaned, profile written, race controller made with it ("profile loaded")
//   transition  stands for a while; the localiser finds itself on the new map
//   racing      the race controller drives
//   failed      something could not be made; stands for good, and says why
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/line_to_follow.hpp"
#include "core/controller.hpp"
#include "core/localiser.hpp"
#include "localization/localizer/localizer.hpp"
#include "localization/pose_track.hpp"
#include "scenarios/course_mapper.hpp"
#include "scenarios/course_spec.hpp"

namespace pitwall::scenarios {

/// What has to happen, in this order.
enum class CoursePhase : std::uint8_t {
  kSlamUp,
  kLapsMapped,
  kMapSaved,
  kLineCleaned,
  kProfileWritten,
  kProfileLoaded,
  kTransition,
  kRacing,
};
inline constexpr std::array<std::string_view, 8> kCoursePhases{"SLAM up",         "laps mapped",    "map saved",       "line cleaned",
                                                               "profile written", "profile loaded", "transition stop", "racing"};

/// How far a car has come with its course; shared with its localiser, and with whoever judges the run.
struct CourseState {
  std::array<std::optional<Time>, kCoursePhases.size()> reached;  ///< when each phase began
  std::string failed;                                             ///< why it cannot go on; empty while it can
  std::shared_ptr<const CourseMap> course;                        ///< once made
  std::shared_ptr<const localization::LocalizerMap> localizer_map;
  Pose2 T_map_base;  ///< where the car stood on it then
  std::int64_t scans_dropped = 0;
  const LapRecorder* laps = nullptr;  ///< while the driver lives
  [[nodiscard]] bool has(CoursePhase phase) const { return reached[static_cast<std::size_t>(phase)].has_value(); }
  /// The first phase that has not begun; nothing: all have.
  [[nodiscard]] std::optional<std::string_view> missing() const;
};

/// Makes the controller that races on a line.
using RaceMaker = std::function<Result<std::unique_ptr<Controller>>(const controllers::LineToFollow&)>;

class CourseDriver final : public Controller {
 public:
  struct Setup {
    CourseSpec spec;
    MappingSettings mapping;
    Pose2 T_base_lidar;
    Pose2 T_map_start;                   ///< what the map calls the place of the first scan
    std::unique_ptr<Controller> mapper;  ///< drives while the course is mapped; runs on each scan
    RaceMaker make_racer;
  };
  explicit CourseDriver(Setup setup);

  [[nodiscard]] std::string_view name() const override { return "course"; }
  /// On each scan, in every phase.
  [[nodiscard]] Trigger trigger() const override { return {}; }
  void reset(const Observation& first) override;
  Command update(const Observation& obs) override;
  [[nodiscard]] std::vector<std::pair<std::string_view, double>> counters() const override;

  [[nodiscard]] std::shared_ptr<const CourseState> state() const { return state_; }

 private:
  void begin(CoursePhase phase, Time now);
  void listen(const Observation& obs);
  void make_course(Time now);
  Command drive_on(const Observation& obs);

  Setup setup_;
  std::shared_ptr<CourseState> state_ = std::make_shared<CourseState>();
  std::optional<CourseMapper> mapping_;
  localization::PoseTrack odometry_;
  std::optional<Odometry> last_odometry_;
  std::uint64_t odometry_sequence_ = 0;
  std::uint64_t scan_sequence_ = 0;
  std::deque<LaserScan> waiting_;  // until odometry covers their stamps
  Pose2 T_map_base_;               // of the last scan that was placed
  std::unique_ptr<Controller> racer_;
};

/// The localiser of such a car: silent until there is a map, then on it.
class CourseLocaliser final : public Localiser {
 public:
  CourseLocaliser(std::shared_ptr<const CourseState> state, const Pose2& T_base_lidar)
      : state_(std::move(state)), T_base_lidar_(T_base_lidar) {}

  void reset(const std::optional<Pose2>& T_map_base) override;
  void add(const Odometry& odometry) override;
  std::optional<PoseEstimate> add(const LaserScan& scan) override;

 private:
  std::shared_ptr<const CourseState> state_;
  Pose2 T_base_lidar_;
  std::unique_ptr<localization::Localizer> on_map_;
};

}  // namespace pitwall::scenarios
