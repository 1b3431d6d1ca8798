// SPDX-License-Identifier: Apache-2.0
// A simulated car behind emulated devices, in real time: what `emulate` serves, and what tests of the car's stack drive against.
#pragma once

#include <filesystem>
#include <memory>

#include "apps/emulated_world.hpp"
#include "core/result.hpp"
#include "drivers/emulators/rig.hpp"

namespace pitwall::apps {

struct EmulatedCarOptions : EmulatedWorldOptions {
  std::filesystem::path folder;  ///< for links and FIFOs; it must exist
  int lidar_port = 0;            ///< of 127.0.0.1; 0: any
};

/// The world, and the rig that serves its car.
class EmulatedCar {
 public:
  /// Errors: those of the world and of the rig.
  static Result<std::unique_ptr<EmulatedCar>> make(const EmulatedCarOptions& options);
  ~EmulatedCar() { rig_->stop(); }
  EmulatedCar(const EmulatedCar&) = delete;
  EmulatedCar& operator=(const EmulatedCar&) = delete;

  /// Devices, knobs, start() and stop().
  [[nodiscard]] emulators::Rig& rig() { return *rig_; }
  /// The name of its LiDAR on the rig.
  [[nodiscard]] std::string lidar() const { return world_->lidar(); }
  /// Thread-safe.
  [[nodiscard]] EmulatedCarReport report() const;

 private:
  EmulatedCar(std::unique_ptr<EmulatedWorld> world, std::unique_ptr<emulators::Rig> rig);
  std::unique_ptr<EmulatedWorld> world_;
  std::unique_ptr<emulators::Rig> rig_;
};

}  // namespace pitwall::apps
