// SPDX-License-Identifier: Apache-2.0
// A simulated car behind emulated devices, in real time: what `emulate` serves, and what tests of the car's stack drive against. The
// world is that of a scenario with one car and no controller; the commands that the emulated VESC was sent move it through the
// hardware map of the car's profile, and what the world says comes back as telemetry, scans and IMU readings.
//
//   SET_RPM      the plant's speed target, whose loop the profile was fitted with
//   currents     acceleration: force of the motor per A over the mass
//   released     rolls out; brake and handbrake hold at standstill
//   servo        steering target
//
// On the wire a positive eRPM is forward, in commands and in telemetry.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"
#include "drivers/emulators/rig.hpp"

namespace pitwall::apps {

struct EmulatedCarOptions {
  std::string track;
  std::string car;                       ///< name of a profile with hardware, or its file
  std::filesystem::path folder;          ///< for links and FIFOs; it must exist
  std::int64_t seed = 12345;             ///< of the sensors and of noise on the cables
  int lidar_port = 0;                    ///< of 127.0.0.1; 0: any
  double start_s_m = 0.0;                ///< along the track's line
  std::vector<std::string> assignments;  ///< keys of the scenario, "world.on_contact=record"
};

/// What became of the drive so far; from the truth.
struct EmulatedCarReport {
  double wall_s = 0.0;     ///< since the rig began to serve
  double driven_s = 0.0;   ///< of the world
  double skipped_s = 0.0;  ///< the world stood still while this process did not run
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
  std::int64_t polls = 0;  ///< requests for telemetry
  std::int64_t scans = 0;
  std::map<std::string, std::int64_t, std::less<>> damaged;  ///< messages spoilt on the cable, by device
};

/// The car, its world and the rig that serves it.
class EmulatedCar {
 public:
  /// Errors: an unknown track or car, a car without hardware, a port that is taken.
  static Result<std::unique_ptr<EmulatedCar>> make(const EmulatedCarOptions& options);
  ~EmulatedCar();
  EmulatedCar(const EmulatedCar&) = delete;
  EmulatedCar& operator=(const EmulatedCar&) = delete;

  /// Devices, knobs, start() and stop().
  [[nodiscard]] emulators::Rig& rig();
  /// Thread-safe.
  [[nodiscard]] EmulatedCarReport report() const;

 private:
  class Impl;
  explicit EmulatedCar(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pitwall::apps
