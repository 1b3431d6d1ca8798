// SPDX-License-Identifier: Apache-2.0
// Emulated devices served in real time, for programs and tests that talk to hardware: a VESC on a pseudo-terminal, a LiDAR on TCP or a
// pseudo-terminal, a joystick on a FIFO. Everything that can go wrong is a line of text (command()).
//
//   auto rig = *Rig::make({.folder = folder});
//   rig->start();                                     // serves in a thread of its own until stop() or the end of the rig
//   run_car(rig->vesc_path(), rig->hokuyo_port(), rig->joystick_path());
//   const Time at = Rig::now();
//   rig->command("joystick release");
//   REQUIRE(rig->wait(from_milliseconds(50), [&](const Rig::Devices& d) { return braked_since(*d.vesc, at); }));
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drivers/emulators/bno055.hpp"
#include "drivers/emulators/hokuyo.hpp"
#include "drivers/emulators/joystick.hpp"
#include "drivers/emulators/ld19.hpp"
#include "drivers/emulators/rplidar.hpp"
#include "drivers/emulators/vesc.hpp"

namespace pitwall::emulators {

/// What is on the rig; a device without a configuration is not there.
struct RigOptions {
  std::filesystem::path folder;  ///< for links and FIFOs; it must exist
  std::uint64_t seed = 12345;    ///< of noise on the cables
  std::optional<VescConfig> vesc = VescConfig{};
  std::optional<HokuyoConfig> hokuyo = HokuyoConfig{};
  std::optional<JoystickConfig> joystick = JoystickConfig{};
  std::optional<RplidarConfig> rplidar;
  std::optional<Ld19Config> ld19;
  bool bno055 = false;  ///< on its serial port
  int hokuyo_port = 0;  ///< of 127.0.0.1; 0: any
};

/// The devices with their cables and ports. Thread-safe, but for what is said otherwise.
class Rig {
 public:
  /// Null for what is not there.
  struct Devices {
    Vesc* vesc = nullptr;
    Hokuyo* hokuyo = nullptr;
    Joystick* joystick = nullptr;
    Rplidar* rplidar = nullptr;
    Ld19* ld19 = nullptr;
    Bno055* bno055 = nullptr;
  };
  /// The world around the devices: called on the serving thread, with the devices its own, and then again at the time it returns.
  using World = std::function<Time(Time now, const Devices& devices)>;

  /// Errors: a folder that is not there, a port that is taken.
  static Result<std::unique_ptr<Rig>> make(const RigOptions& options);
  ~Rig();
  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;

  /// Paths as a by-id link shows them; the same over unplug and plug.
  [[nodiscard]] std::filesystem::path path(std::string_view device) const;
  [[nodiscard]] std::filesystem::path vesc_path() const { return path("vesc"); }
  [[nodiscard]] std::filesystem::path joystick_path() const { return path("joystick"); }
  [[nodiscard]] std::filesystem::path rplidar_path() const { return path("rplidar"); }
  [[nodiscard]] std::filesystem::path ld19_path() const { return path("ld19"); }
  /// Of 127.0.0.1.
  [[nodiscard]] int hokuyo_port() const;

  /// The clock of the rig and of the VESC's log: CLOCK_MONOTONIC.
  static Time now();

  /// Before start().
  void set_world(World world);
  /// Serves in a thread until stop().
  void start();
  void stop();
  /// Serves on the caller's thread until `stop` says so, which is asked at least every 5 ms.
  void serve(const std::function<bool()>& stop);

  /// A line such as "vesc mute 1", "hokuyo badsum 3", "joystick unplug", "vesc brownout 2" (README.md lists them; "help" does too).
  /// The answer of "help", or nothing; errors name what is known.
  Result<std::string> command(std::string_view line);
  /// Looks at the devices between two steps of the serving thread.
  void look(const std::function<void(const Devices&)>& at) const;
  /// Waits until that holds; false after `timeout`. Looks after every step of the serving thread.
  [[nodiscard]] bool wait(Duration timeout, const std::function<bool(const Devices&)>& holds) const;
  /// A copy of Vesc::log().
  [[nodiscard]] std::vector<VescEvent> vesc_log() const;
  /// Messages of that device ("hokuyo") that its cable has damaged so far.
  [[nodiscard]] std::int64_t damaged(std::string_view device) const;

 private:
  class Impl;
  explicit Rig(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace pitwall::emulators
