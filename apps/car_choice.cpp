// SPDX-License-Identifier: Apache-2.0
#include "apps/car_choice.hpp"

#include <cstdlib>

#include "core/files.hpp"
#include "core/text.hpp"

namespace pitwall::apps {

std::string chosen_car(const std::optional<std::string>& flag, const std::string& fallback) {
  if (flag) return *flag;
  const char* environment = std::getenv("PITWALL_CAR");
  return environment != nullptr && *environment != '\0' ? std::string(environment) : fallback;
}

Result<calibration::CarProfile> load_chosen_car(const std::optional<std::string>& flag, const std::string& fallback) {
  return calibration::load_car(chosen_car(flag, fallback), calibration::cars_folder());
}

Result<calibration::CarProfile> load_car_of_this_board() {
  const Result<std::string> serial = read_file("/proc/device-tree/serial-number");
  if (!serial) {
    return Error{"unknown car: this computer's board has no serial number (" + serial.error().message +
                 "); known: " + join(calibration::known_cars(calibration::cars_folder()))};
  }
  return calibration::find_by_serial(*serial, calibration::cars_folder());
}

}  // namespace pitwall::apps
