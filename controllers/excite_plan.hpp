// SPDX-License-Identifier: Apache-2.0
// Where `excite` drives, and what it shakes there: a path inside a free rectangle, cut into stages.
//
//      area_length                        The path lies on two ovals of the same place, one driven each way, with the circle
//   +-----------------------+             that touches both straights in the middle. A round:
//   |    ___________        |
//   |   /    / \    \       |  area_      left    steering steps, circle to the limit, braking on the circle, steering sweep,
//   |  (    (   )    )      |  width      across  to the other straight and the other way round
//   |   \____\_/____/       |             right   speed steps, circle to the limit, braking on the circle, speed sweep,
//   |    ->  start          |             across  back, and speed steps to where it began
//   +-----------------------+
//
// All stages of a round together tell apart what one of them alone mixes up: delay, gain and rate of the servo by steps and sweeps
// of several sizes, the two speed loops by steps too small to reach the tyres' limit, friction and understeer by circles.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/car.hpp"
#include "core/fields.hpp"
#include "core/result.hpp"
#include "tracks/path.hpp"

namespace pitwall::controllers {

/// The free rectangle, and how it is used. Lengths in m.
struct ExciteArea {
  double length_m = 10.0;  ///< along the x axis of the area
  double width_m = 6.0;
  double x_m = 0.0;  ///< centre and heading in the frame of the pose
  double y_m = 0.0;
  double yaw_rad = 0.0;
  double margin_m = 0.3;  ///< the padded body keeps this from the edge
  void fields(FieldVisitor& f);
  [[nodiscard]] Pose2 T_frame_area() const { return {x_m, y_m, yaw_rad}; }
};

/// What is laid over driving along the path.
enum class Excitation : std::uint8_t {
  kNone,
  kSteeringSteps,  ///< square wave of the steering, large and small in turn
  kSteeringSweep,  ///< sine of rising frequency
  kSpeedSteps,     ///< a sprint and a stop on the straights, small steps elsewhere
  kSpeedSweep,     ///< sine of rising frequency
  kLimit,          ///< on the circle faster and faster until the car runs wide, then again
  kBrakeInTurn     ///< on the circle, from near the limit to slow and back
};
std::string_view name(Excitation excitation);

/// A part of the path with one excitation.
struct ExciteStage {
  Excitation excitation = Excitation::kNone;
  double from_m = 0.0;  ///< arc length
  double to_m = 0.0;
  double speed_mps = 0.0;   ///< about which it is driven
  double expected_s = 0.0;  ///< how long it takes
};

/// A straight of the path, where there is room for a sprint.
struct ExciteStraight {
  double from_m = 0.0;  ///< arc length
  double to_m = 0.0;
  double sprint_mps = 0.0;  ///< from which the car brakes in its second half
};

/// Speeds and sizes that the car and the floor allow.
struct ExciteLimits {
  double max_speed_mps = 4.0;
  double gentle_mps2 = 2.0;  ///< acceleration that any floor gives, in any direction
  double duration_s = 120.0;
  double radius_m = 0.0;  ///< of the circles; 0: 1.35 times the tightest that the car turns
  void fields(FieldVisitor& f);
};

/// The path in the frame of the area (origin in its centre, x along its length).
struct ExcitePlan {
  tracks::Path path;
  std::vector<double> ceiling_mps;  ///< highest speed at each point of the path
  std::vector<ExciteStage> stages;
  std::vector<ExciteStraight> straights;
  double radius_m = 0.0;
  double expected_s = 0.0;
};

/// Errors name what does not fit: an area too small for the circles or the change of direction, a duration shorter than one round, a
/// radius that the car cannot turn.
Result<ExcitePlan> plan_excite(const ExciteArea& area, const ExciteLimits& limits, const CarParameters& car);

}  // namespace pitwall::controllers
