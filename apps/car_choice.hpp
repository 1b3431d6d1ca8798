// SPDX-License-Identifier: Apache-2.0
// Which car a program is about: what the user asked for, else what the shell says, else the program's own default.
#pragma once

#include <optional>
#include <string>

#include "calibration/car_profile.hpp"

namespace pitwall::apps {

/// Default of the programs that simulate.
inline constexpr const char* kSimulatedCar = "f1tenth";

/// The name by which the car is chosen: `flag` (--car), else the environment variable PITWALL_CAR, else `fallback`.
std::string chosen_car(const std::optional<std::string>& flag, const std::string& fallback = kSimulatedCar);

/// Loads the chosen car from the profiles that ship, or from a file where the name is a path.
Result<calibration::CarProfile> load_chosen_car(const std::optional<std::string>& flag, const std::string& fallback = kSimulatedCar);

/// The car that this computer is part of, by the serial number of its board; an error on any other computer.
Result<calibration::CarProfile> load_car_of_this_board();

}  // namespace pitwall::apps
