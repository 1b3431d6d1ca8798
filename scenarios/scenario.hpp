// SPDX-License-Identifier: Apache-2.0
// A scenario: everything that one run depends on, as data. A suite is a YAML file of scenarios that may leave choices
// open (the track, the car, the seed, the floor); resolving closes them. A resolved scenario is itself a suite of one,
// so running the file that a run wrote repeats that run, and its trace hash, to the bit.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/fields.hpp"
#include "core/result.hpp"
#include "plant/plant.hpp"
#include "scenarios/course_spec.hpp"
#include "sim/world.hpp"
#include "tracks/speed_profile.hpp"

namespace pitwall::scenarios {

/// Which of a track's lines is followed.
enum class LineChoice { kShipped, kOptimized, kCenterline };
inline constexpr std::array<std::string_view, 3> kLineChoices{"shipped", "optimized", "centerline"};

/// Where the poses of cars with sensing errors come from.
enum class Localization { kTruth, kModel, kScan };
inline constexpr std::array<std::string_view, 3> kLocalizations{"truth", "model", "scan"};

/// On which tracks of the list a scenario of a suite runs.
enum class OnTracks { kEvery, kFirst };
inline constexpr std::array<std::string_view, 2> kOnTracks{"every", "first"};

/// One car. The first one of a scenario is the car under test.
struct CarSpec {
  std::string name;
  std::string controller;
  double start_s_m = 0.0;
  double start_lateral_m = 0.0;
  double start_heading_rad = 0.0;
  double start_speed_mps = 0.0;
  bool sensing_errors = true;
  Node parameters = Node::map();  ///< of its controller, over those that the scenario gives to all cars with it
  Node changes = Node::map();     ///< name -> ChangeSpec: parameters of its controller that change on the way
  void fields(FieldVisitor& f);
};

/// One of them.
struct ChangeSpec {
  double at_s = 0.0;
  std::string set;  ///< "key=value"
  void fields(FieldVisitor& f);
};

/// What makes a run a pass: no contact, on the map, and all of these. 0 switches a bound off.
struct Criteria {
  double laps_at_least = 0.0;
  double progress_laps_at_least = 0.0;
  double cross_track_below_m = 0.0;
  std::int64_t passes_at_least = 0;
  double every_car_laps_at_least = 0.0;  ///< true progress of each car
  double stall_after_s = 0.0;            ///< a car that comes less than 0.5 m farther in this time has failed
  bool end_of_path = false;              ///< the controller under test has come to the end of its path, and its car stands
  void fields(FieldVisitor& f);
};

/// Everything that one run depends on; an open field is closed by resolving.
struct Scenario {
  std::string id;
  OnTracks tracks = OnTracks::kEvery;
  std::string track;  ///< as a --tracks argument; empty: open
  std::string track_hash;
  std::string default_tracks = "circuits";  ///< on which without --tracks
  LineChoice raceline = LineChoice::kShipped;
  plant::Fidelity fidelity = plant::Fidelity::kCar;
  Localization localization = Localization::kModel;
  std::string car;                    ///< profile; empty: open
  Node car_parameters = Node::map();  ///< over the profile's; all of them once resolved
  double timeout_s = 240.0;
  tracks::SpeedLimits speed;
  sim::WorldSettings world;  ///< with the seed and the floor's friction
  Criteria criteria;
  CourseSpec course;                   ///< mapped first, then raced on
  Node cars = Node::map();             ///< name -> CarSpec, the car under test first
  sim::SensorChoice sensors;           ///< how wrong, in profile car
  Node sensor_settings = Node::map();  ///< values over those that the profiles give
  Node obstacles = Node::map();        ///< name -> ObstacleSpec
  Node faults = Node::map();           ///< name -> FaultSpec
  std::vector<Node> controllers;       ///< parameters, in the order of controllers::names()
  std::string trace_hash;              ///< what the run gave; empty before it ran

  Scenario();
  void fields(FieldVisitor& f);
  /// A scenario that a run wrote: nothing in it is open.
  [[nodiscard]] bool resolved() const { return !track_hash.empty(); }
};

/// A scenario under the name that --scenario calls it.
struct NamedScenario {
  std::string name;
  Scenario scenario;
};

/// Reads a suite file; `assignments` are --set key=value pairs, each applied to every scenario in it. Strict: unknown
/// or misplaced keys are errors with file and line.
Result<std::vector<NamedScenario>> suite_of(const Node& suite, const std::string& name, const std::vector<std::string>& assignments);
Result<std::vector<NamedScenario>> load_suite(const std::filesystem::path& file, const std::vector<std::string>& assignments);

/// The parameters that the scenario gives to every controller of that name.
Node controller_parameters(const Scenario& scenario, const std::string& controller);
/// The parameters of one car's controller: those of the scenario, and the car's own over them.
Node parameters_of(const Scenario& scenario, const CarSpec& car);

/// What changes on the way, in order of time.
Result<std::vector<sim::ParameterChange>> load_changes(const CarSpec& car);

/// The cars of a scenario, the car under test first.
Result<std::vector<CarSpec>> load_cars(const Scenario& scenario);

}  // namespace pitwall::scenarios
