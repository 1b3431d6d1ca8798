// SPDX-License-Identifier: Apache-2.0
// The words of the car's supervisor: in which state it is, why it went there, and what the operator should know meanwhile.
#pragma once

#include <cstdint>
#include <string_view>

namespace pitwall::onboard {

enum class State : std::uint8_t {
  kNoDevice,    ///< no motor controller, or not one that we may drive; nothing is sent
  kIdentified,  ///< its firmware is known; waits for telemetry
  kDisarmed,    ///< motor released, servo centred; waits for the deadman
  kArmed,       ///< the controller's commands go out
  kStopping,    ///< brakes, then holds; ends when the car stands
  kFault,       ///< brakes, and stays until acknowledged
  kEstop,       ///< likewise
};
std::string_view name(State state);

/// Why a state was entered, or why the car does not arm.
enum class Cause : std::uint8_t {
  kNone,
  // The way up.
  kFound,
  kTelemetryFresh,
  kDeadmanPressed,
  kStands,
  kAcknowledged,
  // Operator.
  kDeadmanReleased,
  kDeadmanNotSeenReleased,
  kJoystickGone,
  kJoystickSilent,
  kEstopButton,
  kEstopInput,
  kEstopLost,
  kKillSwitch,
  kShutdown,
  // Inputs.
  kTelemetryStale,
  kScanStale,
  kOdometryStale,
  kPoseStale,
  kCommandStale,
  kCommandNotFinite,
  kLoopLate,
  // Motor controller.
  kMotorControllerGone,
  kMotorControllerReplugged,
  kOtherMotorController,
  kFirmwareTooOld,
  kMotorFault,
  kFirmwareTimeout,
  // Plausibility.
  kSpeedMismatch,
  kSpeedSign,
  kImuMismatch,
  kRolling,
  // Battery and heat.
  kBatteryAbsent,
  kBatteryEmpty,
  kTooHot,
};
inline constexpr int kCauses = static_cast<int>(Cause::kTooHot) + 1;
std::string_view name(Cause cause);
/// What to do about it, one sentence for the operator; empty where there is nothing to do.
std::string_view hint(Cause cause);

/// What an emergency stop input says, the worst last.
enum class EstopSays : std::uint8_t {
  kGo,
  kWaits,  ///< it has never been heard of: the car does not arm
  kStop,
  kLost,  ///< it was there, and says nothing any more
};
std::string_view name(EstopSays says);

/// What does not stop the car but should be known; bits of Output::warnings.
enum class Warning : std::uint32_t {
  kSteeringClipped = 1U << 0U,   ///< the servo's range ends before the commanded angle
  kSpeedClamped = 1U << 1U,      ///< a command beyond what car, bench mode or battery allow
  kBatteryLow = 1U << 2U,        ///< go home
  kSpeedCapped = 1U << 3U,       ///< nearly empty or hot: slow from here on
  kHot = 1U << 4U,               ///< the firmware begins to derate
  kBrakeLimited = 1U << 5U,      ///< battery nearly full: regenerative braking is held back
  kPadLossInvisible = 1U << 6U,  ///< this joystick does not stream at rest: a lost radio looks like a held stick
};
inline constexpr int kWarnings = 7;
std::string_view name(Warning warning);

}  // namespace pitwall::onboard
