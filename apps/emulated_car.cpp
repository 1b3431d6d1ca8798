// SPDX-License-Identifier: Apache-2.0
#include "apps/emulated_car.hpp"

#include <utility>

namespace pitwall::apps {

using emulators::Rig;

EmulatedCar::EmulatedCar(std::unique_ptr<EmulatedWorld> world, std::unique_ptr<Rig> rig) : world_(std::move(world)), rig_(std::move(rig)) {
  rig_->set_world([this](Time now, const Rig::Devices& devices) { return world_->advance(now, devices); });
}

Result<std::unique_ptr<EmulatedCar>> EmulatedCar::make(const EmulatedCarOptions& options) {
  Result<std::unique_ptr<EmulatedWorld>> world = EmulatedWorld::make(options);
  if (!world) return world.error();
  emulators::RigOptions devices = (*world)->devices();
  devices.folder = options.folder;
  devices.seed = static_cast<std::uint64_t>(options.seed);
  devices.hokuyo_port = options.lidar_port;
  Result<std::unique_ptr<Rig>> rig = Rig::make(devices);
  if (!rig) return rig.error();
  return std::unique_ptr<EmulatedCar>(new EmulatedCar(*std::move(world), *std::move(rig)));
}

EmulatedCarReport EmulatedCar::report() const {
  EmulatedCarReport report;
  rig_->look([&](const Rig::Devices& devices) { report = world_->report(devices); });
  for (const std::string& device : {std::string("vesc"), world_->lidar(), std::string("joystick")})
    report.damaged[device] = rig_->damaged(device);
  return report;
}

}  // namespace pitwall::apps
