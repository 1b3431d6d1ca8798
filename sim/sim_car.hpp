// SPDX-License-Identifier: Apache-2.0
// One car of the World: its plant, its sensors with their messages under way, its controller and the truth about it.
// Internal to sim; world.hpp is the interface.
#pragma once

#include <optional>
#include <span>

#include "core/controller.hpp"
#include "core/hash.hpp"
#include "core/run_observer.hpp"
#include "plant/plant.hpp"
#include "sim/channel.hpp"
#include "sim/contact.hpp"
#include "sim/laps.hpp"
#include "sim/sensors.hpp"
#include "sim/world.hpp"

namespace pitwall::sim {

/// A car that the World steps in the order of world.hpp; after reset nothing allocates.
class SimCar {
 public:
  SimCar(CarSetup setup, plant::Plant plant, const Place& place, std::uint64_t seed);

  void reset();
  /// Who is told of arrivals and decisions, under that number; null: nobody.
  void observe(RunObserver* observer, std::size_t index) {
    observer_ = observer;
    index_ = index;
  }

  /// Measures with every sensor that is due at `now`.
  void look(Time now, std::span<const SeenCar> others);
  /// The next instant at which a message arrives or the controller runs by its own rate.
  [[nodiscard]] Time next_event() const;
  /// Delivers what arrives at `now`.
  void deliver(Time now, Hash& trace);
  /// Runs the controller if it is due at `now`, after deliver().
  void decide(Time now, Hash& trace);
  /// Moves the plant over one step; motion() is what it did.
  void move(Time from, Duration step);
  /// Puts the car to rest for good at that pose.
  void stand(const Pose2& T_map_base);
  /// Takes pose and velocities from the plant into the state.
  void refresh();
  /// Laps at the end of a step, and the truth into the trace.
  void count(Time now, Hash& trace);

  [[nodiscard]] Observation observation(Time now) const;
  [[nodiscard]] const Motion& motion() const { return motion_; }
  [[nodiscard]] SeenCar seen() const { return {chassis_, state_.T_map_base}; }

  [[nodiscard]] const CarSetup& setup() const { return setup_; }
  [[nodiscard]] const BodyRectangle& chassis() const { return chassis_; }
  [[nodiscard]] const Lidar& lidar() const { return lidar_; }
  [[nodiscard]] plant::Plant& plant() { return plant_; }
  [[nodiscard]] const plant::Plant& plant() const { return plant_; }
  [[nodiscard]] CarState& state() { return state_; }
  [[nodiscard]] const CarState& state() const { return state_; }
  [[nodiscard]] std::span<const double> lap_times() const;

 private:
  template <class Message>
  bool deliver_due(Channel<Message>& channel, Time now, Hash& trace);
  void fail(Failure failure, Time now);
  void send(Time now, const Command& command, Hash& trace);

  CarSetup setup_;
  BodyRectangle chassis_;
  plant::Plant plant_;
  Lidar lidar_;
  OdometrySensor odometry_;
  PoseSensor pose_;
  Channel<LaserScan> scans_;
  Channel<Odometry> odometries_;
  Channel<PoseEstimate> poses_;
  Channel<Joy> joys_;
  std::optional<LapCounter> laps_;
  std::optional<Duration> period_;
  Time next_tick_;
  bool scan_arrived_ = false;
  Motion motion_;
  CarState state_;
  RunObserver* observer_ = nullptr;
  std::size_t index_ = 0;
};

}  // namespace pitwall::sim
