// SPDX-License-Identifier: Apache-2.0
// The world around the devices of one car: a scenario with that car and no controller. The commands that the emulated VESC was sent move
// the car through the hardware map of its profile, and what the world says comes back as telemetry, scans and IMU readings.
//
//   SET_RPM      the plant's speed target, whose loop the profile was fitted with
//   currents     acceleration: force of the motor per A over the mass
//   released     rolls out; brake and handbrake hold at standstill
//   servo        steering target
//   LiDAR        by the profile's lidar_model: the world's own scans (Hokuyo), or point by point as the sensor turns clockwise
//                (RPLIDAR, LD19), with the profile's noise and lost beams
//
// On the wire a positive eRPM is forward, in commands and in telemetry. The only clock is the one that advance() is given.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "calibration/hardware.hpp"
#include "core/car.hpp"
#include "core/result.hpp"
#include "drivers/emulators/rig.hpp"

namespace pitwall::apps {

struct EmulatedWorldOptions {
  std::string track;
  std::string car;                       ///< name of a profile with hardware, or its file
  std::int64_t seed = 12345;             ///< of the sensors
  double start_s_m = 0.0;                ///< along the track's line
  std::vector<std::string> assignments;  ///< keys of the scenario, "world.on_contact=record"
};

/// What became of the drive so far; from the truth.
struct EmulatedCarReport {
  double wall_s = 0.0;     ///< since the first advance()
  double driven_s = 0.0;   ///< of the world
  double skipped_s = 0.0;  ///< the world stood still because nobody advanced it
  int laps = 0;
  std::vector<double> lap_times_s;
  double progress_m = 0.0;  ///< along the centre line
  double speed_mps = 0.0;   ///< now
  double max_speed_mps = 0.0;
  std::size_t contacts = 0;
  std::string first_contact;  ///< "the wall at 12.3 s"; empty: none
  bool off_map = false;
  std::map<std::string, std::int64_t, std::less<>> commands;  ///< by name
  std::int64_t ignored_commands = 0;
  std::int64_t polls = 0;                                    ///< requests for telemetry
  std::int64_t scans = 0;                                    ///< of a Hokuyo
  std::map<std::string, std::int64_t, std::less<>> damaged;  ///< messages spoilt on the cable, by device
};

class EmulatedWorld {
 public:
  /// Errors: an unknown track or car, a car without hardware.
  static Result<std::unique_ptr<EmulatedWorld>> make(const EmulatedWorldOptions& options);
  ~EmulatedWorld();
  EmulatedWorld(const EmulatedWorld&) = delete;
  EmulatedWorld& operator=(const EmulatedWorld&) = delete;

  /// The devices that fit the car; without a folder.
  [[nodiscard]] emulators::RigOptions devices() const;
  /// Which of them is its LiDAR: "hokuyo", "rplidar" or "ld19".
  [[nodiscard]] std::string lidar() const;
  /// The world catches up with `now`, which never goes back; when it is due again. Where it lags by more than half a second it skips that.
  Time advance(Time now, const emulators::Rig::Devices& devices);
  /// All but `damaged`.
  [[nodiscard]] EmulatedCarReport report(const emulators::Rig::Devices& devices) const;

  [[nodiscard]] const calibration::Hardware& hardware() const;
  [[nodiscard]] const CarParameters& parameters() const;
  /// Acceleration per A of motor current, m/s^2.
  [[nodiscard]] double mps2_per_a() const;
  /// The truth.
  [[nodiscard]] double speed_mps() const;
  [[nodiscard]] double yaw_rate_radps() const;

 private:
  class Impl;
  explicit EmulatedWorld(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pitwall::apps
