// SPDX-License-Identifier: Apache-2.0
// What a scenario puts on the track and what it lets go wrong, as data:
//
//   obstacles:
//     boxes: {shape: box, count: 3, s_m: 30, s_spread_m: 20, lateral_spread_m: 0.6, length_m: 0.3, width_m: 0.3}
//     walker: {shape: post, s_m: 40, lateral_m: -0.8, heading_rad: 1.57, width_m: 0.1, speed_mps: 0.5, travel_m: 1.6}
//   faults:
//     scans_lost: {kind: scan_loss, start_s: 5, length_s: 1.5, expect: stop, within_s: 0.5}
//     oil: {kind: slippery_patch, tightest_bend: true, radius_m: 0.5, start_s: 0, length_s: 100, size: 0.6, expect: recover, within_s: 5}
//
// Places are given along the followed line. What a spread leaves open is drawn from the run's seed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/fields.hpp"
#include "core/result.hpp"
#include "scenarios/scenario.hpp"
#include "sim/faults.hpp"
#include "tracks/path.hpp"

namespace pitwall::scenarios {

enum class Shape { kBox, kPost };
inline constexpr std::array<std::string_view, 2> kShapes{"box", "post"};

/// One kind of obstacle, `count` of them.
struct ObstacleSpec {
  std::string name;
  Shape shape = Shape::kBox;
  std::int64_t count = 1;
  double s_m = 0.0;
  double s_spread_m = 0.0;
  double lateral_m = 0.0;
  double lateral_spread_m = 0.0;
  double heading_rad = 0.0;
  double length_m = 0.3;
  double width_m = 0.3;
  double speed_mps = 0.0;
  double travel_m = 0.0;
  void fields(FieldVisitor& f);
};

/// What the car under test owes after a fault.
enum class Expect {
  kNothing,  ///< no contact, as always
  kStop,     ///< zero speed commanded to the motor within the deadline and one control tick
  kRecover   ///< back near the line within the deadline after the fault's end
};
inline constexpr std::array<std::string_view, 3> kExpectations{"nothing", "stop", "recover"};

struct FaultSpec {
  std::string name;
  sim::FaultKind kind = sim::FaultKind::kPoseFrozen;
  std::string car;  ///< empty: the car under test
  double start_s = 0.0;
  double start_spread_s = 0.0;
  double length_s = 1.0;
  double size = 0.0;
  std::int64_t seed = 0;  ///< 0: the run's
  double bearing_rad = 0.0;
  bool tightest_bend = false;
  double at_s_m = 0.0;
  double lateral_m = 0.0;
  double radius_m = 0.0;
  Expect expect = Expect::kNothing;
  double within_s = 0.0;
  double back_within_m = 0.3;
  void fields(FieldVisitor& f);
};

Result<std::vector<ObstacleSpec>> load_obstacles(const Scenario& scenario);
/// Refuses a stop that is due after its fault's end.
Result<std::vector<FaultSpec>> load_faults(const Scenario& scenario);

/// Everything placed and drawn.
sim::Surroundings surroundings_of(const std::vector<ObstacleSpec>& obstacles, const std::vector<FaultSpec>& faults,
                                  const std::vector<CarSpec>& cars, const tracks::Path& line, std::int64_t seed);

}  // namespace pitwall::scenarios
