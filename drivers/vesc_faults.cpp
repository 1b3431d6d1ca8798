// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>

#include "drivers/vesc.hpp"

namespace pitwall::vesc {
namespace {

struct FaultText {
  std::string_view name;
  std::string_view hint;
};

constexpr std::string_view kWiring = "check motor phases and connectors, then repeat the motor detection";
constexpr std::string_view kSensor = "check the offset calibration of the current sensors with the motor at rest; the board may be damaged";
constexpr std::string_view kEncoder = "check encoder wiring, magnet and the encoder settings";
constexpr std::string_view kFlash = "write the configuration (or the firmware) again";
constexpr std::string_view kGateSupply = "gate driver supply: check the battery voltage under load; the board may be damaged";
constexpr std::string_view kSpeedLimit = "the speed left its configured limits: check ERPM limits and the load on the wheels";

// In the order of their codes.
constexpr std::array<FaultText, 34> kFaults{{
    {"no fault", ""},
    {"over-voltage", "braking charges a battery that is full: lower the brake current or the battery's charge"},
    {"under-voltage", "battery empty, or its cable or connector drops too much at this current"},
    {"DRV (gate driver)", "short circuit or overload at a phase: check the motor cables before the next try"},
    {"absolute over-current", "current peaked above the limit: repeat the motor detection, lower the acceleration or the current limit"},
    {"FET over-temperature", "let it cool; more air or less current"},
    {"motor over-temperature", "let it cool; with no sensor fitted switch the motor temperature sensor off in the settings"},
    {"gate driver over-voltage", kGateSupply},
    {"gate driver under-voltage", kGateSupply},
    {"MCU under-voltage", "the 3.3 V supply drops: take external loads (receiver, servo, sensors) off it"},
    {"booted from watchdog reset", "the firmware hung and restarted; report it if it comes again"},
    {"encoder SPI", kEncoder},
    {"encoder sin/cos below minimum", kEncoder},
    {"encoder sin/cos above maximum", kEncoder},
    {"flash corruption", kFlash},
    {"high offset of current sensor 1", kSensor},
    {"high offset of current sensor 2", kSensor},
    {"high offset of current sensor 3", kSensor},
    {"unbalanced currents", kWiring},
    {"BRK (hardware break input)", "the hardware's own over-current input acted: check for a short circuit"},
    {"resolver LOT", kEncoder},
    {"resolver DOS", kEncoder},
    {"resolver LOS", kEncoder},
    {"flash corruption of the app configuration", kFlash},
    {"flash corruption of the motor configuration", kFlash},
    {"encoder without magnet", kEncoder},
    {"encoder magnet too strong", kEncoder},
    {"phase filter", "the phase filter does not switch: switch it off in the settings"},
    {"encoder fault", kEncoder},
    {"low-voltage output fault", "overload at the board's low-voltage output"},
    {"encoder slip", kEncoder},
    {"overspeed", kSpeedLimit},
    {"underspeed", kSpeedLimit},
    {"absolute overspeed", kSpeedLimit},
}};

}  // namespace

std::string fault_name(int code) {
  const bool known = code >= 0 && code < static_cast<int>(kFaults.size());
  return known ? std::string(kFaults[static_cast<std::size_t>(code)].name) : "fault " + std::to_string(code);
}

std::string fault_hint(int code) {
  const bool known = code >= 0 && code < static_cast<int>(kFaults.size());
  return known ? std::string(kFaults[static_cast<std::size_t>(code)].hint)
               : "newer firmware than this program knows: look it up in VESC Tool";
}

}  // namespace pitwall::vesc
