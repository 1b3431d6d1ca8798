// SPDX-License-Identifier: Apache-2.0
#include "onboard/states.hpp"

#include <array>
#include <cstddef>

namespace pitwall::onboard {
namespace {

constexpr std::array<std::string_view, 7> kStateNames{"NO_DEVICE", "IDENTIFIED", "DISARMED", "ARMED", "STOPPING", "FAULT", "ESTOP"};

struct CauseText {
  std::string_view name;
  std::string_view hint;
};

constexpr std::array<CauseText, kCauses> kCauseTexts{{
    {"none", ""},
    {"found", ""},
    {"telemetry_fresh", ""},
    {"deadman_pressed", ""},
    {"stands", ""},
    {"acknowledged", ""},
    {"deadman_released", ""},
    {"deadman_not_seen_released", "let go of the deadman button, then press it"},
    {"joystick_gone", "plug the joystick or its receiver in again"},
    {"joystick_silent", "no event from a pad that streams: move closer, check its batteries"},
    {"estop_button", "release the emergency stop, let go of the deadman, then acknowledge"},
    {"estop_input", "release the emergency stop input, let go of the deadman, then acknowledge"},
    {"estop_lost", "an emergency stop input says nothing: see the line about it, let go of the deadman, then acknowledge"},
    {"kill_switch", "release the kill switch, let go of the deadman, then acknowledge"},
    {"shutdown", ""},
    {"telemetry_stale", "the motor controller does not answer: check USB cable and supply"},
    {"scan_stale", "no scan: check the LiDAR's supply and network"},
    {"odometry_stale", "no odometry: see the motor controller's telemetry"},
    {"pose_stale", "the localiser has no pose: is this the right map, does the car see its walls?"},
    {"command_stale", "the controller gave no new command in time"},
    {"command_not_finite", "the controller gave a number that is not finite: keep the recording, file a bug"},
    {"loop_late", "the control loop was held up: look for other load on this computer"},
    {"motor_controller_gone", "plug the motor controller in again"},
    {"motor_controller_replugged", "it was away: let go of the deadman and press it again"},
    {"other_motor_controller", "another motor controller than before: check the car, then acknowledge"},
    {"firmware_too_old", "update the motor controller's firmware to 3.33 or newer"},
    {"motor_fault", "see the fault's name; let go of the deadman, then acknowledge"},
    {"firmware_timeout", "the motor controller got no command for its own timeout: check USB cable and load"},
    {"speed_mismatch", "wheels do not do what they are told: blocked, slipping, unplugged motor, or a wrong gain (calibrate_odometry)"},
    {"speed_sign", "wheels turn against the command: check motor phases and gain (calibrate_odometry)"},
    {"imu_mismatch", "the car does not move as its wheels turn: lifted, slipping, or a wrong gain (calibrate_odometry)"},
    {"rolling", "the car rolls: hold it until it stands"},
    {"battery_absent", "supplied by USB alone: connect the battery"},
    {"battery_empty", "change the battery"},
    {"too_hot", "let motor and motor controller cool down"},
}};

constexpr std::array<std::string_view, kWarnings> kWarningNames{
    "steering_clipped", "speed_clamped", "battery_low", "speed_capped", "hot", "brake_limited", "pad_loss_invisible"};

}  // namespace

std::string_view name(State state) { return kStateNames[static_cast<std::size_t>(state)]; }
std::string_view name(Cause cause) { return kCauseTexts[static_cast<std::size_t>(cause)].name; }
std::string_view hint(Cause cause) { return kCauseTexts[static_cast<std::size_t>(cause)].hint; }

std::string_view name(EstopSays says) {
  constexpr std::array<std::string_view, 4> kNames{"go", "waited for", "stop", "lost"};
  return kNames[static_cast<std::size_t>(says)];
}

std::string_view name(Warning warning) {
  std::size_t bit = 0;
  while ((static_cast<std::uint32_t>(warning) >> bit) != 1U) ++bit;
  return kWarningNames[bit];
}

}  // namespace pitwall::onboard
