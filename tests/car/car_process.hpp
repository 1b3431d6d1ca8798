// SPDX-License-Identifier: Apache-2.0
// The program car_run as a process against emulated devices, and what a test asks of the two.
#pragma once

#include <csignal>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "drivers/emulators/rig.hpp"

namespace pitwall::tests {

/// A rig and, while it runs, car_run on its devices. Folders and process are gone with it.
class CarOnRig {
 public:
  /// The rig serves from here on; car_run is not started yet. `name` names the folder.
  explicit CarOnRig(const std::string& name, emulators::RigOptions options = {});
  /// On another's rig, whose folder this is; `lidar` is the device on the rig that is the car's.
  CarOnRig(emulators::Rig& rig, std::filesystem::path folder, std::string lidar = "hokuyo")
      : folder_(std::move(folder)), lidar_(std::move(lidar)), rig_(&rig) {}
  ~CarOnRig();
  CarOnRig(const CarOnRig&) = delete;
  CarOnRig& operator=(const CarOnRig&) = delete;

  /// Starts car_run with these flags beside the devices' own (car rb1 where they name none), in that terminal where one is named.
  void start(const std::vector<std::string>& flags = {}, const std::string& terminal = "");
  /// Ready to arm: telemetry, scans and joystick are there. False after 10 s.
  bool wait_ready();
  /// Presses the deadman until the car drives. False after 3 s.
  bool wait_driving();
  void command(const std::string& line);
  void kill(int signal) const;
  /// Exit code of the process once it has ended (128 + signal where one ended it); -1 after `timeout`.
  int wait_exit(Duration timeout);
  /// What it has said on both streams.
  [[nodiscard]] std::string said() const;
  /// The last line with that in it; empty where there is none.
  [[nodiscard]] std::string last_said(const std::string& with) const;
  /// Waits until it has said that.
  [[nodiscard]] bool wait_said(const std::string& what, Duration timeout) const;

  /// ms from `since` until the first brake, hold or release that came after the last SET_RPM, by the motor controller's log; -1: still
  /// drives, or nothing came within `timeout`.
  [[nodiscard]] double ms_to_brake(Time since, Duration timeout) const;
  /// Commands of that name since then.
  [[nodiscard]] int count(std::string_view name, Time since) const;
  [[nodiscard]] emulators::Rig& rig() const { return *rig_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] int process() const { return process_; }

 private:
  std::filesystem::path folder_;
  std::string lidar_ = "hokuyo";
  std::unique_ptr<emulators::Rig> own_rig_;
  emulators::Rig* rig_ = nullptr;
  int process_ = -1;
};

/// Starts its serving thread with real-time priority where that is allowed (false: it is not): devices that are late because of other
/// load would only test the machine.
bool start_promptly(emulators::Rig& rig);

inline Duration ms(std::int64_t n) { return from_milliseconds(n); }

/// Sleeps.
void pause(Duration length);

}  // namespace pitwall::tests
