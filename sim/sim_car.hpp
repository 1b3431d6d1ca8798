// SPDX-License-Identifier: Apache-2.0
// One car of the World: its plant, its sensors with their messages under way, its controller and the truth about it.
// Internal to sim; world.hpp is the interface.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "core/controller.hpp"
#include "core/hash.hpp"
#include "core/run_observer.hpp"
#include "plant/plant.hpp"
#include "sim/channel.hpp"
#include "sim/contact.hpp"
#include "sim/faults.hpp"
#include "sim/laps.hpp"
#include "sim/sensors.hpp"
#include "sim/world.hpp"

namespace pitwall::sim {

/// A car that the World steps in the order of world.hpp; after reset nothing allocates.
class SimCar {
 public:
  SimCar(CarSetup setup, plant::Plant plant, const Place& place, const WorldSettings& settings, double surface_friction);

  void reset();
  /// Who is told of arrivals and decisions, under that number; null: nobody.
  void observe(RunObserver* observer, std::size_t index) {
    observer_ = observer;
    index_ = index;
  }

  /// What is wrong from now on.
  void suffer(const FaultEffects& effects);

  /// Whether look() casts a whole scan at `now`.
  [[nodiscard]] bool sees_now(Time now) const;
  /// Measures with every sensor that is due at `now`. `all` are cars and obstacles, this car at `self` among them; only read where
  /// sees_now().
  void look(Time now, std::span<const SeenCar> all, std::size_t self);
  /// Measures with the scanner's beams that leave during the step that motion() made; `all` and `self` as for look().
  void sweep(Time from, Duration step, std::span<const SeenMotion> all, std::size_t self);
  /// The next instant at which a message arrives, the controller runs by its own rate, or the driver gives up waiting.
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
  /// During the last step no point of the chassis was farther from where base_link is now.
  [[nodiscard]] double reach_m() const { return radius_m_ + distance(motion_.from.position(), motion_.to.position()); }
  [[nodiscard]] SeenCar seen() const { return {chassis_, state_.T_map_base}; }
  [[nodiscard]] bool sweeping() const { return lidar_.sweeping(); }
  /// When the last input arrives that a fault of that kind, beginning at `start`, does not touch.
  [[nodiscard]] Time last_good(FaultKind kind, Time start) const;

  [[nodiscard]] const CarSetup& setup() const { return setup_; }
  [[nodiscard]] const BodyRectangle& chassis() const { return chassis_; }
  [[nodiscard]] const Lidar& lidar() const { return lidar_; }
  /// Lidar::share_fan() of both scanners.
  bool share_beams(const SimCar& other) { return lidar_.share_fan(other.lidar_); }
  [[nodiscard]] plant::Plant& plant() { return plant_; }
  [[nodiscard]] const plant::Plant& plant() const { return plant_; }
  [[nodiscard]] CarState& state() { return state_; }
  [[nodiscard]] const CarState& state() const { return state_; }
  [[nodiscard]] std::span<const double> lap_times() const;

 private:
  template <class Message>
  bool deliver_due(Channel<Message>& channel, Time now, Hash& trace);
  void fail(Failure failure, Time now);
  void change_parameters(Time now);
  void send(Time now, const Command& command, Hash& trace);
  void watch(Time now, Hash& trace);
  void drive(Time now, double steering_rad, double speed_mps);
  [[nodiscard]] bool waiting() const { return heard_ && !state_.command_timed_out && command_timeout_.ns > 0 && !state_.stopped; }
  [[nodiscard]] ImuTruth imu_truth() const;
  void localise(Time now, Hash& trace);
  [[nodiscard]] Vec2 true_place(Time t) const;

  CarSetup setup_;
  BodyRectangle chassis_;
  double radius_m_;  // of its farthest corner about base_link
  plant::Plant plant_;
  Lidar lidar_;
  OdometrySensor odometry_;
  PoseSensor pose_;
  ImuSensor imu_;
  Channel<LaserScan> scans_;
  Channel<Odometry> odometries_;
  Channel<PoseEstimate> poses_;
  Channel<Joy> joys_;
  Channel<Imu> imus_;
  std::optional<LapCounter> laps_;
  std::optional<Duration> period_;
  Time next_tick_;
  bool scan_arrived_ = false;
  std::size_t next_change_ = 0;
  Motion motion_;
  CarState state_;
  // The driver of motor and servo.
  Duration command_timeout_;
  bool heard_ = false;
  Time heard_at_;
  double steering_heard_rad_ = 0.0;
  FaultEffects effects_;
  double surface_friction_;
  Vec2 acceleration_map_mps2_;  // of base_link over the last step
  Duration step_;
  std::array<Vec2, 64> way_{};  // of base_link in the last steps
  RunObserver* observer_ = nullptr;
  std::size_t index_ = 0;
};

}  // namespace pitwall::sim
