// SPDX-License-Identifier: Apache-2.0
#include "core/controller.hpp"

#include "core/check.hpp"

namespace pitwall {

Status Controller::change(std::span<const std::string> /*assignments*/) {
  return Error{std::string(name()) + " takes no changes of its parameters while it runs"};
}

std::string_view name(Reason reason) {
  switch (reason) {
    case Reason::kDrive:
      return "drive";
    case Reason::kWaitingForJoy:
      return "waiting_for_joy";
    case Reason::kJoyStale:
      return "joy_stale";
    case Reason::kDeadmanButtonMissing:
      return "deadman_button_missing";
    case Reason::kDeadmanReleased:
      return "deadman_released";
    case Reason::kScanMissing:
      return "scan_missing";
    case Reason::kScanStale:
      return "scan_stale";
    case Reason::kScanMalformed:
      return "scan_malformed";
    case Reason::kOdometryMissing:
      return "odometry_missing";
    case Reason::kOdometryStale:
      return "odometry_stale";
    case Reason::kOdometryInvalid:
      return "odometry_invalid";
    case Reason::kPoseMissing:
      return "pose_missing";
    case Reason::kPoseStale:
      return "pose_stale";
    case Reason::kPoseFrozen:
      return "pose_frozen";
    case Reason::kPoseInvalid:
      return "pose_invalid";
    case Reason::kEmergencyClearance:
      return "emergency_clearance";
    case Reason::kTtcBrake:
      return "ttc_brake";
    case Reason::kNoSafeGap:
      return "no_safe_gap";
    case Reason::kBodyContact:
      return "body_contact";
    case Reason::kForwardStop:
      return "forward_stop";
    case Reason::kEscapeCreep:
      return "escape_creep";
    case Reason::kAvoid:
      return "avoid";
    case Reason::kFollow:
      return "follow";
    case Reason::kOvertake:
      return "overtake";
    case Reason::kRecover:
      return "recover";
    case Reason::kOffLine:
      return "off_line";
    case Reason::kEndOfPath:
      return "end_of_path";
    case Reason::kSteeringFallback:
      return "steering_fallback";
    case Reason::kSteeringLawFailed:
      return "steering_law_failed";
  }
  PITWALL_CHECK(false, static_cast<int>(reason));
}

bool is_stop(Reason reason) {
  switch (reason) {
    case Reason::kDrive:
    case Reason::kEscapeCreep:
    case Reason::kAvoid:
    case Reason::kFollow:
    case Reason::kOvertake:
    case Reason::kRecover:
    case Reason::kSteeringFallback:
      return false;
    default:
      return true;
  }
}

std::string_view name(Layer layer) {
  switch (layer) {
    case Layer::kWatchdog:
      return "watchdog";
    case Layer::kSafety:
      return "safety";
    case Layer::kLaw:
      return "law";
    case Layer::kCommandStage:
      return "command_stage";
  }
  PITWALL_CHECK(false, static_cast<int>(layer));
}

}  // namespace pitwall
