// SPDX-License-Identifier: Apache-2.0
// The simulated world: N cars on one map, stepped on a fixed grid of integer nanoseconds. One step from t to t + h:
//
//   0 faults   what the schedule says begins and ends
//   1 look     every sensor that is due at t measures, all from the one instant in which all cars are at t
//   2 decide   in time order over [t, t + h): messages arrive (stamp + latency), controllers run, commands go to the plants
//   3 move     all plants go to t + h (commands that fall due on the way split the step inside the plant), and so do obstacles;
//              the beams of turning scanners that leave on the way are measured
//   4 touch    contact of each chassis with walls, other cars, obstacles and the map's edge, between the two poses
//   5 count    laps, and the running hash of everything that happened
//
// A controller sees messages only after they have arrived, and nothing else. The world is a value of its inputs: same
// settings, same cars, same bits, however often reset() is called and whatever else runs in the process.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/car.hpp"
#include "core/controller.hpp"
#include "core/fields.hpp"
#include "core/localiser.hpp"
#include "core/result.hpp"
#include "core/run_observer.hpp"
#include "plant/plant.hpp"
#include "sim/faults.hpp"
#include "sim/laps.hpp"
#include "sim/obstacles.hpp"
#include "sim/sensors.hpp"
#include "tracks/distance_field.hpp"
#include "tracks/map.hpp"
#include "tracks/raycast.hpp"

namespace pitwall::sim {

/// What a contact (and leaving the map) does to a car. It is recorded in any case.
enum class ContactPolicy {
  kRecord,  ///< nothing: the car drives on, through the wall
  kStop,    ///< the car stands where it touched from then on
  kRespond  ///< it bounces off and pushes (Box2D)
};
inline constexpr std::array<std::string_view, 3> kContactPolicyNames = {"record", "stop", "respond"};

/// What holds for the whole world.
struct WorldSettings {
  double step_s = 0.005;  ///< physics step; sensor periods must be multiples of it
  std::int64_t seed = 12345;
  ContactPolicy on_contact = ContactPolicy::kStop;
  double command_timeout_s = 0.15;  ///< without a command for so long a car's driver commands zero speed; 0: never
  double surface_friction = 0.0;    ///< of the floor; 0: of the floor that each car was calibrated on
  void fields(FieldVisitor& f);
};

/// What the cars drive on. `rays` and `distance` belong to `map`; all three may be shared between worlds.
struct Place {
  std::shared_ptr<const tracks::OccupancyMap> map;
  std::shared_ptr<const tracks::RayCaster> rays;
  std::shared_ptr<const tracks::DistanceField> distance;
  std::optional<LapLine> line;  ///< no laps without
};

/// A parameter of a controller that changes on the way.
struct ParameterChange {
  Time at;                 ///< in force from the first call at or after it
  std::string assignment;  ///< "key=value"
};

/// What one car of the world is made from.
struct CarSetup {
  std::string name;  ///< "car0": names its noise streams, so it must be unique
  CarParameters parameters;
  plant::Options plant;
  SensorSettings sensors;
  std::unique_ptr<Controller> controller;  ///< null: no commands, the car rolls as it started
  std::unique_ptr<Localiser> localiser;    ///< where given, its poses arrive with the scans that they come from, instead of the sensor's
  std::vector<ParameterChange> changes;    ///< in order of time; the controller must take them all
  Pose2 start;                             ///< T_map_base
  double start_speed_mps = 0.0;
};

/// Index of a contact's partner that is no car.
inline constexpr int kWall = -1;
inline constexpr int kMapEdge = -2;
/// Obstacle k is partner kFirstObstacle - k.
inline constexpr int kFirstObstacle = -3;

/// The beginning of a contact: one event per car and partner until they part.
struct ContactEvent {
  Time time;  ///< inside the step, to the nanosecond
  int car = 0;
  int partner = kWall;             ///< kWall, kMapEdge, an obstacle, or the other car (which has its own event)
  Vec2 point;                      ///< m, map frame
  Vec2 normal;                     ///< unit, map frame, from the partner to the car
  double closing_speed_mps = 0.0;  ///< of the touching points against the normal
  Pose2 T_map_base;                ///< of the car at that time
  double speed_mps = 0.0;          ///< of the car before the step
};

/// Why a car cannot go on.
enum class Failure : std::uint8_t {
  kNone,
  kCommandNotFinite,  ///< the controller said NaN or infinity
  kTooManyCommands,   ///< more commands under way than the plant's delay lines hold
  kMotionNotFinite    ///< the plant's state left the real numbers
};

/// The truth about one car at now(); plain values, safe to keep.
struct CarState {
  Pose2 T_map_base;
  Vec2 velocity_mps;  ///< of base_link, body frame
  double yaw_rate_radps = 0.0;
  double steering_rad = 0.0;       ///< of the front wheels
  Command command;                 ///< the last one; zero before the first
  Time command_time;               ///< when it was decided
  double driven_speed_mps = 0.0;   ///< what the car's driver last commanded to the motor, before the plant's delays
  Time driven_since;               ///< when that speed was first commanded
  bool command_timed_out = false;  ///< ... because no command had come for too long
  std::uint64_t ticks = 0;         ///< controller updates since reset
  LapState lap;
  bool contact = false;   ///< latched: has touched a wall or a car since reset
  bool touching = false;  ///< touched one in the last step
  std::int64_t contact_steps = 0;
  bool off_map = false;  ///< latched: a corner has left the map
  Time off_map_time;
  bool stopped = false;  ///< stands for good: policy kStop, or a failure of its motion
  Failure failure = Failure::kNone;
  std::uint64_t failure_tick = 0;  ///< number of the update at fault, from 1
  Time failure_time;
  double max_pose_error_m = 0.0;   ///< of the pose estimate, when measured
  std::int64_t dropped_beams = 0;  ///< lost to dropout
};

/// The simulated world; one thread at a time.
class World {
 public:
  /// Refused, by name and value: settings out of range, a period that is no multiple of the step, names that recur, a start
  /// that is not finite, outside the map, in a wall, in another car or in an obstacle, a car that the plant refuses, and
  /// obstacles and faults that make no sense.
  static Result<World> make(Place place, const WorldSettings& settings, std::vector<CarSetup> cars, Surroundings surroundings = {});
  ~World();
  World(World&&) noexcept;
  World& operator=(World&&) noexcept;

  /// Everything back to t = 0, to the bit, as make() left it.
  void reset();
  /// Who is told of every message that arrives and every decision from now on; null: nobody. It must outlive the world, or be
  /// taken away, and changes nothing of what happens.
  void observe(RunObserver* observer);
  /// One physics step. Allocates nothing, except where policy kRespond meets a contact.
  void step();

  [[nodiscard]] Time now() const;
  [[nodiscard]] Duration step_duration() const;
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] const CarState& car(std::size_t i) const;
  [[nodiscard]] const CarParameters& parameters(std::size_t i) const;
  [[nodiscard]] const std::string& name(std::size_t i) const;
  /// Null where the car has none.
  [[nodiscard]] const Controller* controller(std::size_t i) const;
  [[nodiscard]] const plant::FrictionReport& friction(std::size_t i) const;
  /// What the car's controller would be told now: the latest delivered messages.
  [[nodiscard]] Observation observation(std::size_t i) const;
  /// Ranges in m of the last scan measured, before any error, noise or latency; +inf without return.
  [[nodiscard]] std::span<const double> true_ranges(std::size_t i) const;
  [[nodiscard]] std::span<const double> lap_times(std::size_t i) const;

  [[nodiscard]] const Surroundings& surroundings() const;
  /// What became of each fault, in the order of surroundings().
  [[nodiscard]] std::span<const FaultRecord> fault_records() const;
  /// "the wall", "the map's edge", the name of a car or of an obstacle.
  [[nodiscard]] std::string partner_name(int partner) const;

  /// Contacts in the order of time, at most 1024; lost_contacts() counts those beyond.
  [[nodiscard]] std::span<const ContactEvent> contacts() const;
  [[nodiscard]] std::size_t lost_contacts() const;
  /// "controller 'gap_follow' of car0: command not finite at tick 12 (t = 0.3 s)"; empty where nothing failed.
  [[nodiscard]] std::string failure_text(std::size_t i) const;
  /// Whether a car has failed: the run's result is void.
  [[nodiscard]] bool failed() const;

  /// Hash of every true state, command and delivered message so far.
  [[nodiscard]] std::uint64_t trace_hash() const;

 private:
  class Impl;
  explicit World(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pitwall::sim
