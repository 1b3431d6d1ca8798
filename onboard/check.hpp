// SPDX-License-Identifier: Apache-2.0
// Inspects a car before it drives: what its devices say of themselves, what can be measured of their settings while it stands, and what
// to change. Nothing that it sends can move the car: the motor is released, the servo centred.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "onboard/runner.hpp"

namespace pitwall::onboard {

enum class Verdict { kGood, kNote, kChange };

struct Finding {
  Verdict verdict = Verdict::kGood;
  std::string what;    ///< "motor controller: timeout"
  std::string found;   ///< "0.15 s"
  std::string advice;  ///< what to change; empty where nothing is to be
};

/// Watches the devices for about 12 s (until `stop`). Errors: an address or a LiDAR model that is not known.
Result<std::vector<Finding>> check_car(const calibration::Hardware& hardware, const CarParameters& car, const DeviceAddresses& addresses,
                                       const std::function<bool()>& stop);

/// A line a finding.
std::string text_of(const std::vector<Finding>& findings);

}  // namespace pitwall::onboard
